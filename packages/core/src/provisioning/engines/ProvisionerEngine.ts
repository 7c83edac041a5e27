/**
 * Port: what turns a template's source into parameters, and a build's values into resources. The vocabulary is that of the
 * daemon protocol, so that an engine in this process and a remote daemon answer alike. templates-and-provisioning.md §8.3, §9, §10.
 */
import type { Validation } from "../../platform/Errors.js"
import { Context, Data, Effect, Layer, type Option, type Redacted, type Scope, type Stream } from "effect"
import type { LogLevel } from "../../platform/texts/LogLevel.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { BuildTransition } from "../jobs/BuildTransition.js"
import type { JobLogSource } from "../logs/JobLog.js"
import type { JobTiming } from "../jobs/JobTiming.js"
import type { ParameterForm } from "./ParameterForm.js"
import type { ProvisionedResource } from "./ProvisionedResource.js"
import type { ExternalAuthRequirement, ParameterValue, ParsedTemplate, Preset, RichParameter, VariableValue } from "./SourceDefinitions.js"
import { joining } from "../../platform/wiring/Standing.js"

/** One line of a job's log. */
export interface ProvisionerLog {
  readonly source: JobLogSource
  readonly level: LogLevel
  readonly stage: string
  readonly output: string
}

/** The job's code that clients branch on. templates-and-provisioning.md §6.1. */
export type JobErrorCode = "REQUIRED_TEMPLATE_VARIABLES" | "INSUFFICIENT_QUOTA" | "MISSING_TEMPLATE_PARAMETER"

/** The engine could not do what was asked; `message` is shown to the user and names file, line and cause where they are known. */
export class ProvisionFailure extends Data.TaggedError("ProvisionFailure")<{
  readonly message: string
  readonly code?: JobErrorCode | undefined
  /** The state after a failure that left something behind; absent keeps the previous state. */
  readonly state?: Uint8Array | undefined
  /** What no version can be made with, by name. Absent where an import has to tell. */
  readonly validations?: ReadonlyArray<Validation> | undefined
}> {}

/** The workspace, owner and template of a plan. */
export interface BuildMetadata {
  /** Where agents reach the service. */
  readonly access_url: string
  readonly transition: BuildTransition
  readonly workspace_id: Uuid
  readonly workspace_name: string
  readonly workspace_build_id: Uuid
  /** Of the workspace. Absent without a workspace, and for a daemon in another process, which works for one organization. */
  readonly organization_id?: Uuid | undefined
  readonly owner_id: Uuid
  readonly owner_username: string
  readonly owner_name: string
  readonly owner_email: string
  readonly owner_login_type: string
  readonly owner_groups: ReadonlyArray<string>
  /** The roles of the owner; `org_id` is empty for those of the whole site. Absent where no engine has to know them. */
  readonly owner_rbac_roles?: ReadonlyArray<OwnerRole> | undefined
  readonly owner_ssh_public_key: string
  /** The other half, in PEM; absent if the owner has none, and where no workspace is built. */
  readonly owner_ssh_private_key?: Redacted.Redacted<string> | undefined
  /** The owner's access token at the OpenID Connect provider; absent without a valid one. */
  readonly owner_oidc_access_token?: Redacted.Redacted<string> | undefined
  readonly template_id: Uuid
  readonly template_name: string
  readonly template_version: string
  /** The task that the workspace works on; absent if it works on none. */
  readonly task?: TaskPrompt | undefined
  /** The token of the owner's programs in the workspace until the next stop; absent if no start is applied. */
  readonly owner_session_token?: Redacted.Redacted<string> | undefined
  /**
   * `create` makes a workspace that waits for an owner; `claim` gives it to one: what exists stays as it is, and so do the tokens of its agents.
   * Absent for other builds.
   */
  readonly prebuilt_workspace_stage?: "create" | "claim" | undefined
}

/** A role as templates see it. */
export interface OwnerRole {
  readonly name: string
  readonly org_id: string
}

/** A task as templates see it. */
export interface TaskPrompt {
  readonly id: Uuid
  readonly prompt: string
}

/** The owner's access token at an external provider. */
export interface ExternalAuthToken {
  readonly id: string
  readonly access_token: Redacted.Redacted<string>
}

export interface PlanInput {
  readonly metadata: BuildMetadata
  /** Of the providers that the template names and the owner is signed in to; absent where no workspace is built. */
  readonly external_auth?: ReadonlyArray<ExternalAuthToken>
  readonly variables: ReadonlyArray<VariableValue>
  readonly parameters: ReadonlyArray<ParameterValue>
  readonly previous_parameters: ReadonlyArray<ParameterValue>
  /** The engine's state after the workspace's previous build; empty at the first. */
  readonly state: Uint8Array
  /**
   * Whether the build deletes a workspace that has no successful build and no state. An engine then deletes what it finds of the workspace, unless the
   * workspace is orphaned.
   */
  readonly unfinished?: boolean
}

/** For whom a form is shown, and what was given so far. The metadata names no real workspace. */
export interface PreviewInput extends Pick<PlanInput, "metadata" | "variables" | "parameters"> {}

/** How long a part of an operation took. */
export interface EngineTiming extends Pick<JobTiming, "stage" | "source" | "action" | "resource"> {
  /** Milliseconds since the epoch. */
  readonly started_at: number
  readonly ended_at: number
}

/** The resources that a build would make. */
export interface Plan {
  readonly resources: ReadonlyArray<ProvisionedResource>
  readonly parameters: ReadonlyArray<RichParameter>
  readonly presets: ReadonlyArray<Preset>
  /** The template's tags with these values in them; absent where the engine cannot tell. */
  readonly workspace_tags?: Readonly<Record<string, string>>
  readonly daily_cost: number
  readonly has_ai_task: boolean
  readonly has_external_agent: boolean
  /** The external providers that workspaces need; absent where they need none. */
  readonly external_auth_providers?: ReadonlyArray<ExternalAuthRequirement>
  /** Of the parts of the plan; absent where the engine does not measure them. */
  readonly timings?: ReadonlyArray<EngineTiming>
}

/** A resource that a build made anew instead of changing it, by its address, and the attributes that could not be changed. */
export interface ResourceReplacement {
  readonly resource: string
  readonly paths: ReadonlyArray<string>
}

/** The resources that a build has made. */
export interface Applied {
  readonly resources: ReadonlyArray<ProvisionedResource>
  /** Resources that existed before; absent where the engine cannot tell. */
  readonly replacements?: ReadonlyArray<ResourceReplacement>
  /** The id of the app that works on the workspace's task; absent if the template has none. */
  readonly task_app_id?: Uuid | undefined
  readonly state: Uint8Array
  /** Of the parts of the apply; absent where the engine does not measure them. */
  readonly timings?: ReadonlyArray<EngineTiming>
}

/** A running workspace that its engine can hand over, as it runs. */
export interface HandOver {
  /** As `plan` answers it for the new owner. */
  readonly plan: Plan
  /** As `apply` would answer it, with a new token for each agent. Nothing of it has happened yet. */
  readonly applied: Applied
  /**
   * Called once the workspace is the new owner's: the engine works with the new state from now on. After a crash before this call, `recover` is
   * given the new state.
   */
  readonly settle: Effect.Effect<void>
}

/** Writes a line of the job's log; lines appear in the order of the calls. */
export type LogSink = (log: ProvisionerLog) => Effect.Effect<void>

/** Work on one source, for one job. Interrupting an operation cancels it: the engine ends what it started in at most three minutes. */
export interface ProvisionerSession {
  readonly parse: Effect.Effect<ParsedTemplate, ProvisionFailure>
  /**
   * Evaluates the form for values that a user has given so far, without a log. A wrong value is a diagnostic; a failure means that there is no
   * form for any values. It runs while a user types, so it must be fast and must not keep the event loop. Absent where the engine cannot
   * evaluate forms: the form then shows the parameters that the import found.
   */
  readonly preview?: (input: PreviewInput) => Effect.Effect<ParameterForm, ProvisionFailure>
  /**
   * Evaluates the tags of the template with these values, as fast as `preview`. Fails with `validations` where a tag is not known or no text.
   * Absent where the engine cannot: the tags are then what `parse` has found.
   */
  readonly workspaceTags?: (input: PreviewInput) => Effect.Effect<Readonly<Record<string, string>>, ProvisionFailure>
  /**
   * What no version can be made with in the template's presets, each violation under the name of its preset; as fast as `preview`. Absent where the
   * engine cannot tell before an import.
   */
  readonly presetViolations?: (input: PreviewInput) => Effect.Effect<ReadonlyArray<Validation>, ProvisionFailure>
  /**
   * Makes the source ready for its plans, such as by an installation of what they need, with lines in the log. `input` is that of a build's plan.
   * A plan does it by itself; where it is asked for before, its lines come before those of the plan. Absent if nothing needs to be made ready.
   */
  readonly prepare?: (input?: PlanInput) => Effect.Effect<void, ProvisionFailure>
  readonly plan: (input: PlanInput) => Effect.Effect<Plan, ProvisionFailure>
  /**
   * The modules that plans have downloaded, as a tar for `open` of a later job; None where the source has all its modules itself, or they are
   * too large to keep. Absent where the engine downloads nothing.
   */
  readonly modules?: Effect.Effect<Option.Option<Uint8Array>, ProvisionFailure>
  /**
   * Prepares a running workspace of a pool to be handed over to its owner, without a change of what runs: the input is that of the build that claims
   * it. It may be called for a workspace that another caller gets, so it must have no effect. The agents are given their new tokens by the service,
   * over their connections. Fails where the workspace has to be built instead, such as when files of it depend on its owner. Absent where the engine
   * hands nothing over.
   */
  readonly handOver?: (input: PlanInput) => Effect.Effect<HandOver, ProvisionFailure>
  /** Makes the plan of the same input real. Running it again after a crash in the middle converges to the same result. */
  readonly apply: (input: PlanInput) => Effect.Effect<Applied, ProvisionFailure>
}

/** A workspace whose latest build is a successful start, with the state that build left. */
export interface RunningWorkspace {
  readonly workspace_id: Uuid
  /** None if no encryption key opens the state: the workspace runs, and is left as it is. */
  readonly state: Option.Option<Uint8Array>
}

/** An agent of this machine does not reach the service, so it cannot say so itself. */
export interface AgentOutage {
  /** By which the service knows the agent. */
  readonly token: Redacted.Redacted<string>
  /** What the agent could not reach and why, without secrets: one line for the workspace's users. */
  readonly message: string
}

/** Shows an outage to the workspace's users. */
export type TellOutage = (outage: AgentOutage) => Effect.Effect<void>

/** The engine's work on a source. */
export type Phase = "parse" | "plan" | "apply"

/** The files of a source, by which its engine is chosen. */
export interface SourceFiles {
  /** Relative and `/`-separated. */
  readonly paths: ReadonlyArray<string>
  /** The first 64 KiB of a file at the root, as text; undefined where there is no such file. */
  readonly text: (path: string) => string | undefined
}

/**
 * The port that an engine implements: one value for the life of its process, which opens each source that a job works on. Cancelling is
 * interruption: an operation of a session that is interrupted ends what it started. `docs/extending.md` shows how to write an engine.
 */
export interface Engine {
  /** Tells it from the other engines of a process, such as `local`: lower-case letters, digits and hyphens. */
  readonly name: string
  /**
   * Phases whose result is the same when they run again after their process died in the middle. A job that is lost in one of these is
   * taken again; a job that is lost in another phase fails.
   */
  readonly repeatable: ReadonlySet<Phase>
  /**
   * Whether it runs a source with these files. Where several engines of a process do, the first one runs it. It is asked for each source that the
   * process reads, so it must be fast.
   */
  readonly understands: (source: SourceFiles) => boolean
  /**
   * The names of the engines that can run a source in this engine's language; empty for another language. It is asked where no engine of the process
   * understands the source: daemons with one of these engines take its jobs. Where there is no such daemon, `open` of this engine is called, which
   * fails and says what is missing. Absent if all engines of the language are one.
   */
  readonly enginesFor?: (source: SourceFiles) => ReadonlyArray<string>
  /**
   * Unpacks a source (a tar) for one job; what it unpacked is removed with the scope. `modules` are those that the source's import has
   * downloaded: they are not downloaded again.
   */
  readonly open: (
    source: Uint8Array,
    log: LogSink,
    modules?: Uint8Array
  ) => Effect.Effect<ProvisionerSession, ProvisionFailure, Scope.Scope>
  /**
   * Called once when the server starts, with a stream of every running workspace, read in batches. An engine whose workspaces live on this
   * machine takes them up again, restarts those that died and ends those not in the list; it skips states of other engines. Absent if the
   * engine has nothing to recover.
   */
  readonly recover?: (running: Stream.Stream<RunningWorkspace>) => Effect.Effect<void>
  /**
   * Called when the server starts, and then every ten minutes, in each process that has the engine. Removes what a crash or a delete has left of
   * workspaces that are gone, if it is old enough that no build of theirs can be at work on it. `exists` tells which workspaces may not be touched:
   * all but those that are deleted and have no build left to run. A workspace that this service does not know is one of another service. Files that a
   * workspace keeps over its stops stay, because an orphaned workspace leaves them behind on purpose. `unsuccessful` tells which builds have ended without
   * success: what runs by such a build is ended, as the processes that should have ended it were lost. Absent if the engine leaves nothing.
   */
  readonly sweep?: (
    exists: (workspaceIds: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlySet<Uuid>>,
    unsuccessful: (buildIds: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlySet<Uuid>>
  ) => Effect.Effect<void>
  /**
   * Called every few seconds. Tells which agents of this process do not reach the service, each outage once. Absent if the engine cannot
   * know it.
   */
  readonly tellOutages?: (tell: TellOutage) => Effect.Effect<void>
}

/** The engines of this process; the first one that understands a source is used, whatever the caller named. */
export class ProvisionerEngines extends Context.Tag("@atelier/core/ProvisionerEngines")<ProvisionerEngines, ReadonlyArray<Engine>>() {
  /**
   * Makes one layer of the layers of engines, whose engines are asked in this order. What a layer provides beside its engines stays. `joined` decides
   * what counts where several layers provide the same service; unless given, the last one's does.
   */
  static readonly inOrder = <S, E, R>(
    layers: ReadonlyArray<Layer.Layer<ProvisionerEngines | S, E, R>>,
    joined: (built: ReadonlyArray<Context.Context<ProvisionerEngines | S>>) => Context.Context<ProvisionerEngines | S> = (built) =>
      Context.mergeAll(...built)
  ): Layer.Layer<ProvisionerEngines | S, E, R> =>
    joining(layers, (built) =>
      Context.add(
        joined(built),
        ProvisionerEngines,
        built.flatMap((context) => Context.get(context, ProvisionerEngines))
      )
    )
}
