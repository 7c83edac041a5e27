export * from "./AgentDialer.js"
export * from "./AgentLinks.js"
export { layer, type Stored, workers } from "./layer.js"
