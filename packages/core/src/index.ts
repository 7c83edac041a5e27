export * from "./platform/Errors.js"
export * as EventBus from "./platform/EventBus.js"
export * as Timestamp from "./platform/Timestamp.js"
export * as Uuid from "./platform/Uuid.js"
