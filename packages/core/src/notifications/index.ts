export * from "./EmailMessage.js"
export * from "./Mailer.js"
export { layer, type Stored, workers } from "./layer.js"
