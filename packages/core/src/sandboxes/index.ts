export * from "./MachineAccess.js"
export * from "./MachineSessions.js"
export * from "./SshLogins.js"
export { layer, type Stored, workers } from "./layer.js"
