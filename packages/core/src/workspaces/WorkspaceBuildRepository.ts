import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../platform/Errors.js"
import type { Timestamp } from "../platform/Timestamp.js"
import type { Uuid } from "../platform/Uuid.js"
import type { RunningWorkspace } from "../provisioning/ProvisionerEngine.js"
import type { ProvisionerJob } from "../provisioning/ProvisionerJob.js"
import type { ParameterValue } from "../provisioning/SourceDefinitions.js"
import type { Deadlines } from "./Deadline.js"
import type { WorkspaceBuild, WorkspaceBuildId } from "./WorkspaceBuild.js"

/** A build with its job and the names that readers see next to it. */
export interface BuildDetails extends WorkspaceBuild {
  readonly job: ProvisionerJob
  readonly template_version_name: string
  readonly initiator_username: string
}

export interface BuildPage {
  /** Created later than this instant. */
  readonly since?: Timestamp | undefined
  /** With a greater number. */
  readonly after_number?: number | undefined
  /** 0 has no limit. */
  readonly limit: number
  readonly offset: number
}

/** A running build, with what its deadlines follow from. */
export interface RunningBuild extends Deadlines {
  readonly id: WorkspaceBuildId
  readonly workspace_id: Uuid
  readonly owner_id: Uuid
  /** When its job completed. */
  readonly completed: Timestamp
  readonly ttl_ms: number | null
  readonly autostart_schedule: string | null
  /** The owner's own; empty where the deployment's counts. */
  readonly quiet_hours_schedule: string
}

export class WorkspaceBuildRepository extends Context.Tag("@atelier/core/WorkspaceBuildRepository")<
  WorkspaceBuildRepository,
  {
    readonly byId: (id: WorkspaceBuildId) => Effect.Effect<Option.Option<BuildDetails>>
    readonly byNumber: (workspaceId: Uuid, buildNumber: number) => Effect.Effect<Option.Option<BuildDetails>>
    /** The one with the highest number; None only before the first. */
    readonly latest: (workspaceId: Uuid) => Effect.Effect<Option.Option<BuildDetails>>
    /** Newest first. */
    readonly list: (workspaceId: Uuid, page: BuildPage) => Effect.Effect<ReadonlyArray<BuildDetails>>
    /** By name. */
    readonly parameters: (id: WorkspaceBuildId) => Effect.Effect<ReadonlyArray<ParameterValue>>
    /** What the engine keeps; empty when it keeps nothing. */
    readonly state: (id: WorkspaceBuildId) => Effect.Effect<Uint8Array>
    /** Fails with the index `workspace_builds_workspace_id_build_number`: another build was made meanwhile. */
    readonly insert: (
      build: WorkspaceBuild,
      made: { readonly parameters: ReadonlyArray<ParameterValue>; readonly state: Uint8Array }
    ) => Effect.Effect<void, Duplicate>
    /** What the job's success settles. */
    readonly complete: (
      id: WorkspaceBuildId,
      outcome: Deadlines & Pick<WorkspaceBuild, "has_ai_task" | "has_external_agent" | "updated_at"> & { readonly state: Uint8Array }
    ) => Effect.Effect<void>
    readonly setState: (id: WorkspaceBuildId, state: Uint8Array, at: Timestamp) => Effect.Effect<void>
    /** Puts a deadline off; false when it is no longer the one expected. */
    readonly moveDeadline: (id: WorkspaceBuildId, from: Timestamp, to: Timestamp, at: Timestamp) => Effect.Effect<boolean>
    /**
     * Running builds of a template whose required stop, if any, is at `stops_after` or later, by id after another one; without prebuilt
     * workspaces. They are locked until the transaction ends. At most `limit`.
     */
    readonly runningOf: (
      templateId: Uuid,
      page: { readonly stops_after: Timestamp; readonly after: WorkspaceBuildId | undefined; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<RunningBuild>>
    /** Writes the deadlines of many builds. */
    readonly setDeadlines: (builds: ReadonlyArray<Deadlines & { readonly id: WorkspaceBuildId }>, at: Timestamp) => Effect.Effect<void>
    /** Every workspace that runs: not deleted, and its latest build is a start that has succeeded. */
    readonly running: Effect.Effect<ReadonlyArray<RunningWorkspace>>
  }
>() {}
