export { Health, HealthProbes } from "./Health.js"
export { HealthReport, HealthSection } from "./HealthReport.js"
