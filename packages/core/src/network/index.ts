export * from "./AgentDialer.js"
