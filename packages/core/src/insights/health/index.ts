export { Health } from "./Health.js"
export { HealthProbes } from "./HealthProbes.js"
export { HealthReport, HealthSection } from "./HealthReport.js"
