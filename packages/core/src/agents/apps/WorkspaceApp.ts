import { Schema } from "effect"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { AppOpenIn, SharingLevel } from "../../provisioning/engines/ProvisionedResource.js"
import { WorkspaceAgentId } from "../WorkspaceAgent.js"

/** The result of the agent's checks of the app; `disabled` without a check. Any may follow any other. */
export const AppHealth = Schema.Literal("disabled", "initializing", "healthy", "unhealthy")
export type AppHealth = typeof AppHealth.Type

/** Something an agent offers at a URL, or a command it runs in a terminal. agents-and-apps.md §6. */
export const WorkspaceApp = Schema.Struct({
  /** Kept over the builds of a workspace when the template names it. */
  id: Uuid,
  created_at: Timestamp,
  agent_id: WorkspaceAgentId,
  /** Unique over all apps of a resource. */
  slug: Schema.String,
  /** At most 64 characters. */
  display_name: Schema.String,
  icon: Schema.String,
  command: Schema.String,
  url: Schema.String,
  /** Empty without a check. */
  healthcheck_url: Schema.String,
  /** Seconds. */
  healthcheck_interval: Schema.Number,
  /** Consecutive failures that make the app unhealthy. */
  healthcheck_threshold: Schema.Number,
  health: AppHealth,
  /** Served at a host of its own. */
  subdomain: Schema.Boolean,
  sharing_level: SharingLevel,
  /** The client opens the URL itself. */
  external: Schema.Boolean,
  display_order: Schema.Number,
  display_group: Schema.String,
  hidden: Schema.Boolean,
  open_in: AppOpenIn,
  tooltip: Schema.String
})
export interface WorkspaceApp extends Schema.Schema.Type<typeof WorkspaceApp> {}

/** The health of an app that is new. */
export const initialHealth = (healthcheckUrl: string): AppHealth => (healthcheckUrl === "" ? "disabled" : "initializing")

export const AppState = Schema.Literal("working", "idle", "complete", "failure")
export type AppState = typeof AppState.Type

/** The state a text names, without regard to case. */
export const appState = (text: string): AppState | undefined => AppState.literals.find((state) => state === text.toLowerCase())

/** A program's report of its status; every report is kept. */
export const AppStatus = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  workspace_id: Uuid,
  agent_id: WorkspaceAgentId,
  app_id: Uuid,
  state: AppState,
  message: Schema.String,
  /** Empty if the status has no link. */
  uri: Schema.String
})
export interface AppStatus extends Schema.Schema.Type<typeof AppStatus> {}
