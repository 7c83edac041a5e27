import { Context, type Effect, type Option } from "effect"
import type { Sealed } from "../../platform/secrets/Encryption.js"
import type { Duplicate } from "../../platform/Errors.js"
import type { SealedColumn, SealedRow } from "../../platform/store/Resealing.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ProvisionerJob } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import type { Deadlines } from "../schedule/Deadline.js"
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

/** An engine's state of a build, stored before states were encrypted, or empty. */
export interface PlainState {
  readonly id: WorkspaceBuildId
  readonly state: Uint8Array
}

/** An engine's state of a build, as stored. An encrypted one names the build's initiator as its user. */
export type StoredState = SealedRow | PlainState

/** A build to store, with the values of its parameters and the engine's state. */
export interface StoredBuild {
  readonly build: WorkspaceBuild
  readonly parameters: ReadonlyArray<ParameterValue>
  readonly state: Sealed | null
}

/** A workspace that runs, and the state of its latest build. */
export interface StoredRunningWorkspace {
  readonly workspace_id: Uuid
  readonly state: StoredState
}

export class WorkspaceBuildRepository extends Context.Tag("@atelier/core/WorkspaceBuildRepository")<
  WorkspaceBuildRepository,
  {
    readonly byId: (id: WorkspaceBuildId) => Effect.Effect<Option.Option<BuildDetails>>
    readonly byNumber: (workspaceId: Uuid, buildNumber: number) => Effect.Effect<Option.Option<BuildDetails>>
    /** The one with the highest number; None only before the first. */
    readonly latest: (workspaceId: Uuid) => Effect.Effect<Option.Option<BuildDetails>>
    /** As `latest`, kept from being changed by others until the transaction ends. */
    readonly lockLatest: (workspaceId: Uuid) => Effect.Effect<Option.Option<BuildDetails>>
    /** As `lockLatest`, of many workspaces, in no order. One that another transaction has locked is left out: nothing waits. */
    readonly lockFreeLatest: (workspaceIds: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlyArray<BuildDetails>>
    /** The given builds, those that have not ended, and those with greater ids. */
    readonly progressOf: (
      ids: ReadonlyArray<WorkspaceBuildId>,
      after: WorkspaceBuildId
    ) => Effect.Effect<ReadonlyArray<{ readonly id: WorkspaceBuildId; readonly has_ended: boolean }>>
    /** Newest first. */
    readonly list: (workspaceId: Uuid, page: BuildPage) => Effect.Effect<ReadonlyArray<BuildDetails>>
    /** By name. */
    readonly parameters: (id: WorkspaceBuildId) => Effect.Effect<ReadonlyArray<ParameterValue>>
    /** Of many builds, by name. */
    readonly parametersOf: (
      ids: ReadonlyArray<WorkspaceBuildId>
    ) => Effect.Effect<ReadonlyArray<ParameterValue & { readonly workspace_build_id: WorkspaceBuildId }>>
    /** The engine's state. None if there is no such build. */
    readonly state: (id: WorkspaceBuildId) => Effect.Effect<Option.Option<StoredState>>
    /** The engine's states of many builds, in no order. */
    readonly statesOf: (ids: ReadonlyArray<WorkspaceBuildId>) => Effect.Effect<ReadonlyArray<StoredState>>
    /** Whether a build of a workspace has succeeded or has given a state. */
    readonly hasOutcome: (workspaceId: Uuid) => Effect.Effect<boolean>
    /** Fails with the index `workspace_builds_workspace_id_build_number` if a concurrent transaction inserted one of the build numbers. */
    readonly insert: (builds: ReadonlyArray<StoredBuild>) => Effect.Effect<void, Duplicate>
    /** Stores the effects of the job's success on the build. */
    readonly complete: (
      id: WorkspaceBuildId,
      outcome: Deadlines & Pick<WorkspaceBuild, "has_ai_task" | "has_external_agent" | "updated_at"> & { readonly state: Sealed | null }
    ) => Effect.Effect<void>
    readonly setState: (id: WorkspaceBuildId, state: Sealed | null, at: Timestamp) => Effect.Effect<void>
    /** At most `limit` states behind a build's id, in the order of ids, that are not encrypted. */
    readonly plainStates: (after: Uuid, limit: number) => Effect.Effect<ReadonlyArray<PlainState>>
    /** Encrypts one of them. Returns false if another value was stored since. */
    readonly sealState: (plain: PlainState, sealed: Sealed) => Effect.Effect<boolean>
    readonly statesSealedOtherwise: SealedColumn["sealedOtherwise"]
    readonly resealState: SealedColumn["reseal"]
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
    /**
     * Workspaces that run: not deleted, and their latest build is a start that has succeeded. By id after another one; at most `limit`.
     */
    readonly running: (after: Uuid, limit: number) => Effect.Effect<ReadonlyArray<StoredRunningWorkspace>>
    /** The workspaces among these that are deleted, and whose builds have all ended. */
    readonly gone: (workspaceIds: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlyArray<Uuid>>
    /** The builds among these that have ended without success. */
    readonly unsuccessful: (buildIds: ReadonlyArray<Uuid>) => Effect.Effect<ReadonlyArray<Uuid>>
  }
>() {}
