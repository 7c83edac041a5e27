/** Apps of an agent, whether they answer, and what their programs say they do. agents-and-apps.md §14. */
import { Duration } from "../Duration.js"
import { bool, bytes, enumeration, field, int32, repeated, string, type TypeOf } from "../Protobuf.js"
import { agent } from "./agent.js"

export const SharingLevel = enumeration({ UNSPECIFIED: 0, OWNER: 1, AUTHENTICATED: 2, PUBLIC: 3, ORGANIZATION: 4 })
export type SharingLevel = TypeOf<typeof SharingLevel>

export const AppHealth = enumeration({ UNSPECIFIED: 0, DISABLED: 1, INITIALIZING: 2, HEALTHY: 3, UNHEALTHY: 4 })
export type AppHealth = TypeOf<typeof AppHealth>

export const Healthcheck = agent("WorkspaceApp.Healthcheck", {
  url: field(1, string),
  interval: field(2, Duration),
  /** Consecutive failures that make an app unhealthy. */
  threshold: field(3, int32)
})
export type Healthcheck = TypeOf<typeof Healthcheck>

export const WorkspaceApp = agent("WorkspaceApp", {
  id: field(1, bytes),
  url: field(2, string),
  external: field(3, bool),
  slug: field(4, string),
  display_name: field(5, string),
  command: field(6, string),
  icon: field(7, string),
  subdomain: field(8, bool),
  subdomain_name: field(9, string),
  sharing_level: field(10, SharingLevel),
  healthcheck: field(11, Healthcheck),
  health: field(12, AppHealth),
  hidden: field(13, bool)
})
export type WorkspaceApp = TypeOf<typeof WorkspaceApp>

export const HealthUpdate = agent("BatchUpdateAppHealthRequest.HealthUpdate", { id: field(1, bytes), health: field(2, AppHealth) })
export type HealthUpdate = TypeOf<typeof HealthUpdate>

export const BatchUpdateAppHealthRequest = agent("BatchUpdateAppHealthRequest", { updates: repeated(1, HealthUpdate) })
export type BatchUpdateAppHealthRequest = TypeOf<typeof BatchUpdateAppHealthRequest>

export const BatchUpdateAppHealthResponse = agent("BatchUpdateAppHealthResponse", {})

export const AppState = enumeration({ WORKING: 0, IDLE: 1, COMPLETE: 2, FAILURE: 3 })
export type AppState = TypeOf<typeof AppState>

export const UpdateAppStatusRequest = agent("UpdateAppStatusRequest", {
  slug: field(1, string),
  state: field(2, AppState),
  message: field(3, string),
  uri: field(4, string)
})
export type UpdateAppStatusRequest = TypeOf<typeof UpdateAppStatusRequest>

export const UpdateAppStatusResponse = agent("UpdateAppStatusResponse", {})
