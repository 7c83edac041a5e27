/**
 * Port: what turns a template's source into parameters, and a build's values into resources. The vocabulary is that of the
 * daemon protocol, so that an engine in this process and a remote daemon answer alike. templates-and-provisioning.md §8.3, §9, §10.
 */
import { Context, Data, type Effect, type Scope } from "effect"
import type { DisplayApp } from "../agents/WorkspaceAgent.js"
import type { AppOpenIn, SharingLevel } from "../agents/WorkspaceApp.js"
import type { LogLevel } from "../platform/LogLevel.js"
import type { Uuid } from "../platform/Uuid.js"

/** `provisioner_daemon` announces stages; `provisioner` is the engine's own output. */
export type LogSource = "provisioner_daemon" | "provisioner"

/** One line of a job's log. */
export interface ProvisionerLog {
  readonly source: LogSource
  readonly level: LogLevel
  readonly stage: string
  readonly output: string
}

export type WorkspaceTransition = "start" | "stop" | "delete"

/** The job's code that clients branch on. templates-and-provisioning.md §6.1. */
export type JobErrorCode = "REQUIRED_TEMPLATE_VARIABLES" | "INSUFFICIENT_QUOTA" | "MISSING_TEMPLATE_PARAMETER"

/** The engine could not do what was asked; `message` is shown to the user and names file, line and cause where they are known. */
export class ProvisionFailure extends Data.TaggedError("ProvisionFailure")<{
  readonly message: string
  readonly code?: JobErrorCode | undefined
  /** What exists now, when the failure left something behind; absent keeps the previous state. */
  readonly state?: Uint8Array | undefined
}> {}

export interface TemplateVariable {
  readonly name: string
  readonly description: string
  readonly type: "string" | "number" | "bool" | (string & {})
  /** Empty when `required`. */
  readonly default_value: string
  readonly required: boolean
  readonly sensitive: boolean
}

export interface VariableValue {
  readonly name: string
  readonly value: string
  readonly sensitive: boolean
}

export interface ParameterValue {
  readonly name: string
  readonly value: string
}

export type ParameterType = "string" | "number" | "bool" | "list(string)"

export type FormType =
  | "radio"
  | "dropdown"
  | "input"
  | "textarea"
  | "slider"
  | "checkbox"
  | "switch"
  | "tag-select"
  | "multi-select"
  | "error"

export interface ParameterOption {
  readonly name: string
  readonly description: string
  readonly value: string
  readonly icon: string
}

/** A parameter the template declares. templates-and-provisioning.md §4.2. */
export interface RichParameter {
  readonly name: string
  readonly display_name: string
  readonly description: string
  readonly type: ParameterType
  readonly form_type: FormType
  readonly mutable: boolean
  readonly ephemeral: boolean
  /** True when there is no default. */
  readonly required: boolean
  readonly default_value: string
  readonly icon: string
  readonly options: ReadonlyArray<ParameterOption>
  readonly validation_regex: string
  readonly validation_error: string
  readonly validation_min: number | null
  readonly validation_max: number | null
  readonly validation_monotonic: "" | "increasing" | "decreasing"
  readonly order: number
}

export interface Preset {
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly default: boolean
  readonly parameters: ReadonlyArray<ParameterValue>
  /** Workspaces to keep ready; null when the template says nothing about it. */
  readonly desired_prebuild_instances: number | null
}

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
  readonly api_key_scope: "all" | "no_user_data"
  readonly order: number
  readonly apps: ReadonlyArray<ProvisionedApp>
  readonly scripts: ReadonlyArray<ProvisionedScript>
  readonly metadata: ReadonlyArray<AgentMetadataDescription>
}

export interface ProvisionedResource {
  readonly name: string
  readonly type: string
  readonly icon: string
  readonly hide: boolean
  readonly daily_cost: number
  readonly instance_type: string
  readonly module_path: string
  readonly metadata: ReadonlyArray<{ readonly key: string; readonly value: string; readonly sensitive: boolean }>
  readonly agents: ReadonlyArray<ProvisionedAgent>
}

/** What the source says of itself, before any value is known. */
export interface ParsedTemplate {
  readonly variables: ReadonlyArray<TemplateVariable>
  /** Content of `README.md` at the root; empty when there is none. */
  readonly readme: string
  /** Tags the jobs of this template carry, as raw expressions. */
  readonly workspace_tags: Readonly<Record<string, string>>
}

/** Who and what a plan is for. */
export interface BuildMetadata {
  /** Where agents reach the service. */
  readonly access_url: string
  readonly transition: WorkspaceTransition
  readonly workspace_id: Uuid
  readonly workspace_name: string
  readonly workspace_build_id: Uuid
  readonly owner_id: Uuid
  readonly owner_username: string
  readonly owner_name: string
  readonly owner_email: string
  readonly owner_login_type: string
  readonly owner_groups: ReadonlyArray<string>
  readonly owner_ssh_public_key: string
  readonly template_id: Uuid
  readonly template_name: string
  readonly template_version: string
}

export interface PlanInput {
  readonly metadata: BuildMetadata
  readonly variables: ReadonlyArray<VariableValue>
  readonly parameters: ReadonlyArray<ParameterValue>
  readonly previous_parameters: ReadonlyArray<ParameterValue>
  /** What the engine stored after the workspace's previous build; empty at the first. */
  readonly state: Uint8Array
}

/** What a build would make. */
export interface Plan {
  readonly resources: ReadonlyArray<ProvisionedResource>
  readonly parameters: ReadonlyArray<RichParameter>
  readonly presets: ReadonlyArray<Preset>
  /** The template's tags with these values in them; absent where the engine cannot tell. */
  readonly workspace_tags?: Readonly<Record<string, string>>
  readonly daily_cost: number
  readonly has_ai_task: boolean
  readonly has_external_agent: boolean
}

/** What a build has made. */
export interface Applied {
  readonly resources: ReadonlyArray<ProvisionedResource>
  readonly state: Uint8Array
}

/** Writes a line of the job's log; lines appear in the order of the calls. */
export type LogSink = (log: ProvisionerLog) => Effect.Effect<void>

/** Work on one source, for one job. Interrupting an operation cancels it: the engine ends what it started in at most three minutes. */
export interface ProvisionerSession {
  readonly parse: Effect.Effect<ParsedTemplate, ProvisionFailure>
  readonly plan: (input: PlanInput) => Effect.Effect<Plan, ProvisionFailure>
  /** Makes the plan of the same input real. Running it again after a crash in the middle converges to the same result. */
  readonly apply: (input: PlanInput) => Effect.Effect<Applied, ProvisionFailure>
}

/** A workspace whose latest build is a successful start, with the state that build left. */
export interface RunningWorkspace {
  readonly workspace_id: Uuid
  readonly state: Uint8Array
}

export interface Engine {
  /** The wire's name of the engine's kind, as jobs and daemons carry it. */
  readonly type: "terraform" | "echo"
  /** Whether it understands a source with these file paths (relative, `/`-separated). */
  readonly understands: (paths: ReadonlyArray<string>) => boolean
  /** Unpacks a source (a tar) for one job; what it unpacked is removed with the scope. */
  readonly open: (source: Uint8Array, log: LogSink) => Effect.Effect<ProvisionerSession, ProvisionFailure, Scope.Scope>
  /**
   * Called once when the server starts, with every running workspace. An engine whose workspaces live on this machine finds them again,
   * restarts what has died and ends what is not in the list; it passes over states that are not its own. Absent where nothing is to do.
   */
  readonly recover?: (running: ReadonlyArray<RunningWorkspace>) => Effect.Effect<void>
}

/** The engines of this process; the one that understands a source is used, whatever the caller named. */
export class ProvisionerEngines extends Context.Tag("@atelier/core/ProvisionerEngines")<ProvisionerEngines, ReadonlyArray<Engine>>() {}
