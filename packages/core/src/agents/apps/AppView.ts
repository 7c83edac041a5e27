/** Apps as readers see them. agents-and-apps.md §6. */
import { Schema } from "effect"
import { present } from "../../platform/lists/Present.js"
import * as Numbers from "../../platform/Numbers.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { AppOpenIn, SharingLevel } from "../../provisioning/engines/ProvisionedResource.js"
import type { BuildApp } from "../resources/BuildResource.js"
import { AppHealth, AppState, type AppStatus } from "./WorkspaceApp.js"

/** The parts of the host names of a workspace's apps. */
export interface WorkspaceNames {
  readonly workspace_name: string
  readonly owner_name: string
}

/** A text that is left out when it is empty. */
const omitted = Schema.optional(Schema.String)

export const AppStatusView = Schema.Struct({
  id: Uuid,
  created_at: Timestamp,
  workspace_id: Uuid,
  agent_id: Uuid,
  app_id: Uuid,
  state: AppState,
  message: Schema.String,
  uri: Schema.String,
  /** Always empty. */
  icon: Schema.String,
  /** Always false. */
  needs_user_attention: Schema.Boolean
})
export interface AppStatusView extends Schema.Schema.Type<typeof AppStatusView> {}

export const Healthcheck = Schema.Struct({
  url: Schema.String,
  interval: Numbers.described(Numbers.Count, "Seconds between two checks."),
  threshold: Numbers.described(Numbers.Count, "Failed checks in succession after which the app is unhealthy.")
})

export const AppView = Schema.Struct({
  id: Uuid,
  url: omitted,
  external: Schema.Boolean,
  slug: Schema.String,
  display_name: omitted,
  command: omitted,
  icon: omitted,
  subdomain: Schema.Boolean,
  subdomain_name: omitted,
  sharing_level: SharingLevel,
  /** Empty and zero without a check. */
  healthcheck: Healthcheck,
  health: AppHealth,
  group: omitted,
  hidden: Schema.Boolean,
  open_in: AppOpenIn,
  tooltip: omitted,
  /** Newest first. */
  statuses: Schema.Array(AppStatusView)
})
export interface AppView extends Schema.Schema.Type<typeof AppView> {}

export const appStatusView = (status: AppStatus): AppStatusView => ({ ...status, icon: "", needs_user_attention: false })

/** A slug that reads as a port: the name of its host says which agent is meant. */
const portSlug = /^\d{4,5}s?$/

/** The first label of the app's host; empty for an app that has none. agents-and-apps.md §6. */
const subdomainName = (
  app: { readonly slug: string; readonly subdomain: boolean },
  agentName: string,
  names: WorkspaceNames | null
): string => {
  if (!app.subdomain || names === null) return ""
  const target = portSlug.test(app.slug) ? `${app.slug}--${agentName}` : app.slug
  return `${target}--${names.workspace_name}--${names.owner_name}`
}

export const appView = (app: BuildApp, agentName: string, names: WorkspaceNames | null): AppView => ({
  id: app.id,
  ...present("url", app.url),
  external: app.external,
  slug: app.slug,
  ...present("display_name", app.display_name),
  ...present("command", app.command),
  ...present("icon", app.icon),
  subdomain: app.subdomain,
  ...present("subdomain_name", subdomainName(app, agentName, names)),
  sharing_level: app.sharing_level,
  healthcheck: { url: app.healthcheck_url, interval: app.healthcheck_interval, threshold: app.healthcheck_threshold },
  health: app.health,
  ...present("group", app.display_group),
  hidden: app.hidden,
  open_in: app.open_in,
  ...present("tooltip", app.tooltip),
  statuses: app.statuses.map(appStatusView)
})
