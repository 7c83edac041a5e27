export * from "./Retention.js"
export * from "./RetentionRepository.js"
export { layer, type Stored, workers } from "./layer.js"
