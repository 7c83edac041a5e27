export * as Daemon from "./Daemon.js"
export { type Credential, type DaemonConfig } from "./DaemonConfig.js"
export * as DaemonEngine from "./DaemonEngine.js"
