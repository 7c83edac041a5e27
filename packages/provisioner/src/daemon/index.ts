export { type Credential, type DaemonConfig, type EngineName } from "./DaemonConfig.js"
export * as Daemon from "./Daemon.js"
