/** An agent's version and its lifecycle. agents-and-apps.md §14. */
import { enumeration, field, repeated, string, type TypeOf } from "../Protobuf.js"
import { Timestamp } from "../Timestamp.js"
import { agent } from "./agent.js"

export const LifecycleState = enumeration({
  UNSPECIFIED: 0,
  CREATED: 1,
  STARTING: 2,
  START_TIMEOUT: 3,
  START_ERROR: 4,
  READY: 5,
  SHUTTING_DOWN: 6,
  SHUTDOWN_TIMEOUT: 7,
  SHUTDOWN_ERROR: 8,
  OFF: 9
})
export type LifecycleState = TypeOf<typeof LifecycleState>

export const Lifecycle = agent("Lifecycle", { state: field(1, LifecycleState), changed_at: field(2, Timestamp) })
export type Lifecycle = TypeOf<typeof Lifecycle>

export const UpdateLifecycleRequest = agent("UpdateLifecycleRequest", { lifecycle: field(1, Lifecycle) })
export type UpdateLifecycleRequest = TypeOf<typeof UpdateLifecycleRequest>

export const Subsystem = enumeration({ UNSPECIFIED: 0, ENVBOX: 1, ENVBUILDER: 2, EXECTRACE: 3 })
export type Subsystem = TypeOf<typeof Subsystem>

export const Startup = agent("Startup", {
  version: field(1, string),
  expanded_directory: field(2, string),
  subsystems: repeated(3, Subsystem)
})
export type Startup = TypeOf<typeof Startup>

export const UpdateStartupRequest = agent("UpdateStartupRequest", { startup: field(1, Startup) })
export type UpdateStartupRequest = TypeOf<typeof UpdateStartupRequest>
