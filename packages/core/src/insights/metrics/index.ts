export { DeploymentMetrics, ProcessMetrics } from "./DeploymentMetrics.js"
export { contentType, gauges, type MetricFamily } from "./MetricFamily.js"
export * from "./MetricsRepository.js"
