import { Context, type Duration, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { AgentConnectionTimes, AgentStatus } from "../agents/AgentStatus.js"
import type { AppStatus } from "../agents/apps/WorkspaceApp.js"
import type { Duplicate } from "../platform/Errors.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { ParameterValue } from "../provisioning/engines/SourceDefinitions.js"
import type { Template } from "../templates/Template.js"
import type { Workspace, WorkspaceId } from "./Workspace.js"
import type { WorkspaceStatus } from "./builds/WorkspaceBuild.js"
import type { BuildDetails } from "./builds/WorkspaceBuildRepository.js"
import type { StoredOutline } from "./views/WorkspaceOutline.js"

/** The filter of a list of workspaces. Absent fields do not restrict it. Texts compare without regard to case. */
export interface WorkspaceFilter {
  readonly owner_id?: Uuid | undefined
  /** Exactly. */
  readonly owner_username?: string | undefined
  /** A part of it. */
  readonly name?: string | undefined
  readonly template_ids?: ReadonlyArray<Uuid> | undefined
  readonly organization_id?: Uuid | undefined
  readonly ids?: ReadonlyArray<WorkspaceId> | undefined
  readonly status?: WorkspaceStatus | undefined
  /** Started last, with an agent in one of these states. */
  readonly agent_status?: ReadonlyArray<AgentStatus> | undefined
  readonly is_dormant?: boolean | undefined
  readonly last_used_after?: Timestamp | undefined
  readonly last_used_before?: Timestamp | undefined
  readonly is_outdated?: boolean | undefined
  readonly has_task?: boolean | undefined
  readonly has_external_agent?: boolean | undefined
  readonly is_shared?: boolean | undefined
  readonly shared_with_user?: Uuid | undefined
  readonly shared_with_group?: Uuid | undefined
  /** The latest build has one of these parameters. */
  readonly parameter_names?: ReadonlyArray<string> | undefined
  /** The latest build has one of these values. */
  readonly parameter_values?: ReadonlyArray<ParameterValue> | undefined
}

export interface WorkspaceQuery {
  /** Of type `workspace` and action `read`. */
  readonly readable: AccessPredicate
  /** The user whose favorites come first. */
  readonly requester: Uuid
  readonly filter: WorkspaceFilter
  /** 0 has no limit. */
  readonly limit: number
  readonly offset: number
  /** The time for which the states of agents are derived. */
  readonly now: Timestamp
  readonly inactive: Duration.Duration
}

/** A user or group with access to a shared workspace, by the ACL's ids. */
export interface SharedActor {
  readonly actor_type: "user" | "group"
  readonly id: Uuid
  /** A user's full name, or a group's name. */
  readonly name: string
  readonly avatar_url: string
}

/** A workspace with everything that is shown of it but the latest build's resources. */
export interface WorkspaceDetails extends Workspace {
  readonly owner_username: string
  readonly owner_avatar_url: string
  readonly organization_name: string
  readonly template: WorkspaceTemplate
  readonly latest_build: BuildDetails
  /** Of all its builds and apps. */
  readonly latest_app_status: AppStatus | null
  /** Users, then groups. */
  readonly shared_with: ReadonlyArray<SharedActor>
}

/** The fields of their template that workspaces show, as stored now. */
export type WorkspaceTemplate = Pick<
  Template,
  | "id"
  | "organization_id"
  | "user_acl"
  | "group_acl"
  | "name"
  | "display_name"
  | "icon"
  | "active_version_id"
  | "allow_user_cancel_workspace_jobs"
  | "require_active_version"
  | "use_classic_parameter_flow"
  | "allow_user_autostop"
  | "default_ttl_ms"
  | "max_port_share_level"
  | "cors_behavior"
>

export interface WorkspacePage {
  /** All that match, whatever the page. */
  readonly count: number
  readonly workspaces: ReadonlyArray<WorkspaceDetails>
}

/** What a view of a workspace is made of, to be compared. */
export interface WorkspaceState {
  readonly id: WorkspaceId
  /**
   * All that is stored of the workspace, its latest build, and what that has made, but for when its agents were last heard of. Equal texts stand for equal content. Null while
   * the build's job waits: what is shown of it depends on other jobs.
   */
  readonly state: string | null
  /** The times of its agents' connections. */
  readonly agents: ReadonlyArray<AgentConnectionTimes>
}

export class WorkspaceRepository extends Context.Tag("@atelier/core/WorkspaceRepository")<
  WorkspaceRepository,
  {
    /** Deleted ones are found too. */
    readonly byId: (id: WorkspaceId) => Effect.Effect<Option.Option<Workspace>>
    /** As `byId`, of many, in no order. */
    readonly byIds: (ids: ReadonlyArray<WorkspaceId>) => Effect.Effect<ReadonlyArray<Workspace>>
    /** Deleted ones are found too. */
    readonly details: (id: WorkspaceId) => Effect.Effect<Option.Option<WorkspaceDetails>>
    /** As `details`, of many, in no order. */
    readonly detailsOf: (ids: ReadonlyArray<WorkspaceId>) => Effect.Effect<ReadonlyArray<WorkspaceDetails>>
    /** The states of many, in no order. */
    readonly statesOf: (ids: ReadonlyArray<WorkspaceId>) => Effect.Effect<ReadonlyArray<WorkspaceState>>
    /** By name without regard to case: the live one, or else the one created last of those deleted, if they are asked for. */
    readonly idByName: (ownerId: Uuid, name: string, includeDeleted: boolean) => Effect.Effect<Option.Option<WorkspaceId>>
    /**
     * Those not deleted that the predicate admits and the filter matches: the requester's favorites first, then running ones, then by
     * owner and name. Two statements at most; the cost of a page does not grow with the number of workspaces before it, but with that
     * to the nearer end of the list. workspaces.md §3.3.
     */
    readonly page: (query: WorkspaceQuery) => Effect.Effect<WorkspacePage>
    /** All workspaces of an owner that are not deleted, by id, with the agents of their latest builds. */
    readonly outlines: (ownerId: Uuid) => Effect.Effect<ReadonlyArray<StoredOutline>>
    /** False when the owner is deleted. Fails with the index `workspaces_owner_id_name_key`. */
    readonly insert: (workspace: Workspace) => Effect.Effect<boolean, Duplicate>
    /** Fails with the index `workspaces_owner_id_name_key`. */
    readonly rename: (id: WorkspaceId, name: string, at: Timestamp) => Effect.Effect<void, Duplicate>
    /** Keeps it from being changed by others until the transaction ends. Deleted ones are found too. */
    readonly lock: (id: WorkspaceId) => Effect.Effect<Option.Option<Workspace>>
    /** As `lock`, of many, in no order. One that another transaction has locked is left out: nothing waits. */
    readonly lockFree: (ids: ReadonlyArray<WorkspaceId>) => Effect.Effect<ReadonlyArray<Workspace>>
    /** Writes schedules, dormancy, the end of its life and what users choose. */
    readonly updateSettings: (workspace: Workspace) => Effect.Effect<void>
    /** False when it was deleted already. */
    readonly markDeleted: (id: WorkspaceId, at: Timestamp) => Effect.Effect<boolean>
    /** Workspaces of a template that start by schedule and are not dormant, by id after another one. At most `limit`. */
    readonly scheduledOf: (
      templateId: Uuid,
      after: WorkspaceId | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<{ readonly id: WorkspaceId; readonly autostart_schedule: string }>>
    /** Dormant workspaces of a template that will be deleted, by id after another one. At most `limit`. */
    readonly doomedOf: (
      templateId: Uuid,
      after: WorkspaceId | undefined,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Pick<Workspace, "id" | "name" | "owner_id" | "organization_id" | "template_id" | "deleting_at">>>
    /** The owners of a template's workspaces, each once. */
    readonly ownersOf: (templateId: Uuid) => Effect.Effect<ReadonlyArray<Uuid>>
    /** Writes when many workspaces start next. */
    readonly setNextStarts: (
      workspaces: ReadonlyArray<{ readonly id: WorkspaceId; readonly next_start_at: Timestamp | null }>
    ) => Effect.Effect<void>
    readonly setNextStart: (id: WorkspaceId, next: Timestamp | null) => Effect.Effect<void>
    /** Notes that they were used; moves no time backwards. */
    readonly markUsed: (ids: ReadonlyArray<WorkspaceId>, at: Timestamp) => Effect.Effect<void>
  }
>() {}
