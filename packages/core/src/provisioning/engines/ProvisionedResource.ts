/** The output of engines: resources, their agents, and the agents' apps and scripts. templates-and-provisioning.md §10.2. */
import { Schema } from "effect"
import type { Uuid } from "../../platform/texts/Uuid.js"

/** The users who may open an app. agents-and-apps.md §6. */
export const SharingLevel = Schema.Literal("owner", "authenticated", "organization", "public")
export type SharingLevel = typeof SharingLevel.Type

/** From the strictest to the most open. */
const levels: ReadonlyArray<SharingLevel> = ["owner", "organization", "authenticated", "public"]

export const isWithinLevel = (level: SharingLevel, maximum: SharingLevel): boolean => levels.indexOf(level) <= levels.indexOf(maximum)

export const AppOpenIn = Schema.Literal("slim-window", "tab")
export type AppOpenIn = typeof AppOpenIn.Type

/** The buttons of the dashboard for an agent. agents-and-apps.md §3. */
export const DisplayApp = Schema.Literal("vscode", "vscode_insiders", "ssh_helper", "port_forwarding_helper", "web_terminal")
export type DisplayApp = typeof DisplayApp.Type

/** Whether an agent may use its owner's own data, such as the SSH key. */
export const ApiKeyScope = Schema.Literal("all", "no_user_data")
export type ApiKeyScope = typeof ApiKeyScope.Type

/** A value shown with a resource; a sensitive one is shown on request. */
export const ResourceMetadata = Schema.Struct({ key: Schema.String, value: Schema.String, sensitive: Schema.Boolean })
export interface ResourceMetadata extends Schema.Schema.Type<typeof ResourceMetadata> {}

export interface ProvisionedApp {
  /** Kept over the builds of a workspace when the engine answers one; without it every build makes a new app. */
  readonly id?: Uuid | undefined
  readonly slug: string
  readonly display_name: string
  readonly command: string
  readonly url: string
  readonly icon: string
  readonly subdomain: boolean
  readonly external: boolean
  readonly sharing_level: SharingLevel
  /** `interval` in seconds, `threshold` in consecutive failures; null when the app has no health check. */
  readonly healthcheck: { readonly url: string; readonly interval: number; readonly threshold: number } | null
  readonly order: number
  readonly group: string
  readonly hidden: boolean
  readonly open_in: AppOpenIn
  readonly tooltip: string
}

export interface ProvisionedScript {
  readonly display_name: string
  readonly icon: string
  readonly script: string
  /** Six fields, seconds first; empty when it is not scheduled. */
  readonly cron: string
  readonly start_blocks_login: boolean
  readonly run_on_start: boolean
  readonly run_on_stop: boolean
  /** Seconds; 0 has no limit. */
  readonly timeout_seconds: number
  readonly log_path: string
}

export interface AgentMetadataDescription {
  readonly key: string
  readonly display_name: string
  readonly script: string
  /** Seconds. */
  readonly interval: number
  /** Seconds. */
  readonly timeout: number
  readonly order: number
}

/** When the owner of a workspace is told that an agent's machine has little left. */
export interface ProvisionedMonitor {
  /** The mount point of a volume; empty for memory. */
  readonly path: string
  readonly enabled: boolean
  /** Percent of use. */
  readonly threshold: number
}

/** A dev container that an agent starts. With apps, scripts or variables of its own it has an agent from the beginning. */
export interface ProvisionedDevcontainer {
  readonly name: string
  readonly workspace_folder: string
  /** Empty for the one that the folder has. */
  readonly config_path: string
  readonly environment_variables: Readonly<Record<string, string>>
  readonly apps: ReadonlyArray<ProvisionedApp>
  readonly scripts: ReadonlyArray<ProvisionedScript>
}

export interface ProvisionedAgent {
  readonly name: string
  readonly operating_system: "linux" | "darwin" | "windows" | (string & {})
  readonly architecture: "amd64" | "arm64" | "armv7" | (string & {})
  readonly directory: string
  readonly environment_variables: Readonly<Record<string, string>>
  /** How the agent proves who it is: by a token it was given, or by a cloud's instance identity. */
  readonly auth: { readonly _tag: "Token"; readonly token: Uuid } | { readonly _tag: "InstanceIdentity"; readonly instance_id: string }
  /** Seconds; 0 never times out. */
  readonly connection_timeout_seconds: number
  readonly troubleshooting_url: string
  readonly motd_file: string
  readonly display_apps: ReadonlyArray<DisplayApp>
  readonly api_key_scope: ApiKeyScope
  readonly order: number
  readonly apps: ReadonlyArray<ProvisionedApp>
  readonly scripts: ReadonlyArray<ProvisionedScript>
  readonly metadata: ReadonlyArray<AgentMetadataDescription>
  /** At most one for a path; absent without any. */
  readonly monitors?: ReadonlyArray<ProvisionedMonitor>
  /** Absent without any. */
  readonly devcontainers?: ReadonlyArray<ProvisionedDevcontainer>
}

export interface ProvisionedResource {
  readonly name: string
  readonly type: string
  readonly icon: string
  readonly hide: boolean
  readonly daily_cost: number
  readonly instance_type: string
  readonly module_path: string
  readonly metadata: ReadonlyArray<ResourceMetadata>
  readonly agents: ReadonlyArray<ProvisionedAgent>
}
