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
    /** Every workspace that runs: not deleted, and its latest build is a start that has succeeded. */
    readonly running: Effect.Effect<ReadonlyArray<RunningWorkspace>>
  }
>() {}
