// Generated from the contract by `npm run generate`. Changes here are lost.
/** Tasks that programs in workspaces work on. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { Task, TaskLogsResponse, TasksListResponse, WorkspaceBuild } from "./types.js"

export interface ListTasksInput {
  /** At most 4096 characters. */
  readonly q?: string | undefined
}

/**
 * List tasks. Returns the tasks that the caller may see, filtered by `q`, newest first.
 *
 * `GET /api/v2/tasks`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listTasks = (client: Client, input: ListTasksInput = {}, options?: CallOptions): Promise<TasksListResponse> =>
  call(client, "GET", "/api/v2/tasks", json, input, options)

export interface CreateTaskInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    /** A UUID. */
    readonly template_version_id: string
    /** A UUID. */
    readonly template_version_preset_id?: string | undefined
    /** At most 32767 characters. */
    readonly input?: string | undefined
    readonly name?: string | undefined
    readonly display_name?: string | undefined
  }
}

/**
 * Create a task. Creates a task of a user with a workspace of its own, and starts the workspace's first build.
 *
 * `POST /api/v2/tasks/{user}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 406 Unacceptable, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure, 504 TimedOut
 */
export const createTask = (client: Client, input: CreateTaskInput, options?: CallOptions): Promise<Task> =>
  call(client, "POST", "/api/v2/tasks/{user}", json, input, options)

export interface GetTaskInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly task: string
}

/**
 * Get a task. Returns a task by its id, or by its name among the user's tasks.
 *
 * `GET /api/v2/tasks/{user}/{task}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTask = (client: Client, input: GetTaskInput, options?: CallOptions): Promise<Task> =>
  call(client, "GET", "/api/v2/tasks/{user}/{task}", json, input, options)

export interface DeleteTaskInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly task: string
}

/**
 * Delete a task. Deletes a task, and queues the deletion of its workspace.
 *
 * `DELETE /api/v2/tasks/{user}/{task}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 406 Unacceptable, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 504 TimedOut
 */
export const deleteTask = (client: Client, input: DeleteTaskInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/tasks/{user}/{task}", nothing, input, options)

export interface UpdateTaskInputInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly task: string
  readonly body: {
    /** At most 32767 characters. */
    readonly input: string
  }
}

/**
 * Change a task's prompt. Changes the prompt of a paused task.
 *
 * `PATCH /api/v2/tasks/{user}/{task}/input`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateTaskInput = (client: Client, input: UpdateTaskInputInput, options?: CallOptions): Promise<void> =>
  call(client, "PATCH", "/api/v2/tasks/{user}/{task}/input", nothing, input, options)

export interface GetTaskLogsInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly task: string
}

/**
 * Get a task's conversation. Returns what a user and the task's app said: from the app, or as it was stored last.
 *
 * `GET /api/v2/tasks/{user}/{task}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const getTaskLogs = (client: Client, input: GetTaskLogsInput, options?: CallOptions): Promise<TaskLogsResponse> =>
  call(client, "GET", "/api/v2/tasks/{user}/{task}/logs", json, input, options)

export interface PauseTaskResult {
  readonly workspace_build: WorkspaceBuild | null
}

export interface PauseTaskInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly task: string
}

/**
 * Pause a task. Queues a stop of the task's workspace.
 *
 * `POST /api/v2/tasks/{user}/{task}/pause`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 406 Unacceptable, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 504 TimedOut
 */
export const pauseTask = (client: Client, input: PauseTaskInput, options?: CallOptions): Promise<PauseTaskResult> =>
  call(client, "POST", "/api/v2/tasks/{user}/{task}/pause", json, input, options)

export interface ResumeTaskResult {
  readonly workspace_build: WorkspaceBuild | null
}

export interface ResumeTaskInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly task: string
}

/**
 * Resume a task. Queues a start of the task's workspace.
 *
 * `POST /api/v2/tasks/{user}/{task}/resume`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 406 Unacceptable, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 504 TimedOut
 */
export const resumeTask = (client: Client, input: ResumeTaskInput, options?: CallOptions): Promise<ResumeTaskResult> =>
  call(client, "POST", "/api/v2/tasks/{user}/{task}/resume", json, input, options)

export interface SendTaskMessageInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly task: string
  readonly body: {
    readonly input: string
  }
}

/**
 * Send a message to a task. Sends a message to the app of an active task.
 *
 * `POST /api/v2/tasks/{user}/{task}/send`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const sendTaskMessage = (client: Client, input: SendTaskMessageInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/tasks/{user}/{task}/send", nothing, input, options)
