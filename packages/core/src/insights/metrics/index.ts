export { DeploymentMetrics, ProcessMetrics } from "./DeploymentMetrics.js"
export { contentType, gauges, type MetricFamily } from "./MetricFamily.js"
export * from "./MetricsRepository.js"
export { type Measured, type ProcessMember, ProcessGroup, type ProcessGroupService } from "./ProcessGroup.js"
