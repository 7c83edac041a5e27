import { Context, type Effect, type Option } from "effect"
import type { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import type { AppStatus, WorkspaceAgent, WorkspaceApp } from "../agents/index.js"
import type { Duplicate } from "../platform/Errors.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { BuildTransition } from "../provisioning/jobs/BuildTransition.js"
import type { ProvisionerJob } from "../provisioning/jobs/ProvisionerJob.js"
import type { Workspace } from "../workspaces/Workspace.js"
import type { WorkspaceTemplate } from "../workspaces/WorkspaceRepository.js"
import type { Task, TaskId } from "./Task.js"

/** The agent of a task's app, as far as tasks show it. */
export type TaskAgent = Pick<
  WorkspaceAgent,
  "id" | "created_at" | "connection_timeout_seconds" | "first_connected_at" | "last_connected_at" | "disconnected_at" | "lifecycle_state"
>

/** The app that works on a task. */
export type TaskApp = Pick<WorkspaceApp, "id" | "slug" | "url" | "health">

/** A task with everything that is shown of it. */
export interface TaskDetails extends Task {
  readonly owner_username: string
  readonly owner_avatar_url: string
  readonly workspace: Workspace
  readonly template: WorkspaceTemplate
  readonly build: {
    readonly build_number: number
    readonly created_at: Timestamp
    readonly transition: BuildTransition
    readonly job: ProvisionerJob
  }
  /** Those of the latest build; null if it has none. */
  readonly agent: TaskAgent | null
  readonly app: TaskApp | null
  /** The newest one of the workspace. */
  readonly latest_app_status: AppStatus | null
}

/** One message of a conversation with a task's app. */
export interface TaskMessage {
  readonly id: number
  readonly role: "user" | "agent"
  readonly content: string
  readonly time: Timestamp
}

/** The conversation as an agent stored it last. */
export interface TaskSnapshot {
  readonly messages: ReadonlyArray<TaskMessage>
  readonly stored_at: Timestamp
}

/** The filter of a list of tasks. Absent fields do not restrict it. */
export interface TaskFilter {
  readonly owner_id?: Uuid | undefined
  readonly organization_id?: Uuid | undefined
}

export class TaskRepository extends Context.Tag("@atelier/core/TaskRepository")<
  TaskRepository,
  {
    /** One that is not deleted. */
    readonly byId: (id: TaskId) => Effect.Effect<Option.Option<TaskDetails>>
    /** One that is not deleted, by its name without regard to case. */
    readonly byName: (ownerId: Uuid, name: string) => Effect.Effect<Option.Option<TaskDetails>>
    /** Those not deleted that the predicate admits and the filter matches, newest first. One statement. */
    readonly list: (readable: AccessPredicate, filter: TaskFilter) => Effect.Effect<ReadonlyArray<TaskDetails>>
    /** Fails with the index `tasks_owner_id_name_key` if the owner has a task of that name. */
    readonly insert: (task: Task) => Effect.Effect<void, Duplicate>
    /** Changes the prompt of a task whose workspace is stopped or deleted, and locks it against a start; false for others. */
    readonly setPrompt: (id: TaskId, prompt: string) => Effect.Effect<boolean>
    /** Marks a task as deleted and drops its snapshot; false when it was deleted already. */
    readonly delete: (id: TaskId, at: Timestamp) => Effect.Effect<boolean>
    readonly snapshot: (id: TaskId) => Effect.Effect<Option.Option<TaskSnapshot>>
    /** Replaces the snapshot of a workspace's task; false when the workspace has no such task. */
    readonly putSnapshot: (id: TaskId, workspaceId: Uuid, snapshot: TaskSnapshot) => Effect.Effect<boolean>
  }
>() {}
