// Generated from the contract by `npm run generate`. Changes here are lost.
/** Builds of workspaces. */
import type { Client } from "../Client.js"
import { bytes, call, json, text, type CallOptions } from "../call.js"
import { socketValues } from "../sockets.js"
import { behind, type StreamOptions } from "../stream.js"
import type { Message, ProvisionerJobLog, WorkspaceBuild, WorkspaceBuildParameter, WorkspaceResource } from "./types.js"

export interface CreateWorkspaceBuildInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    readonly transition: "start" | "stop" | "delete"
    /** A UUID. */
    readonly template_version_id?: string | undefined
    /** A UUID. */
    readonly template_version_preset_id?: string | undefined
    /** At most 1000 items. */
    readonly rich_parameter_values?: ReadonlyArray<{
      readonly name?: string | undefined
      readonly value?: string | undefined
    }> | undefined
    /** Base64. At most 4194304 characters. */
    readonly state?: string | undefined
    readonly orphan?: boolean | undefined
    readonly log_level?: "" | "debug" | undefined
    readonly reason?: "" | "dashboard" | "cli" | "ssh_connection" | "vscode_connection" | "jetbrains_connection" | "task_manual_pause" | undefined
    readonly dry_run?: boolean | undefined
    readonly on_success?: {
      readonly transition: string
      /** A UUID. */
      readonly template_version_id?: string | undefined
      /** A UUID. */
      readonly template_version_preset_id?: string | undefined
      /** At most 1000 items. */
      readonly rich_parameter_values?: ReadonlyArray<{
        readonly name?: string | undefined
        readonly value?: string | undefined
      }> | undefined
    } | undefined
  }
}

/**
 * Create a build. Queues a build that starts, stops or deletes a workspace.
 *
 * `POST /api/v2/workspaces/{workspace}/builds`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 406 Unacceptable, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 504 TimedOut
 */
export const createWorkspaceBuild = (client: Client, input: CreateWorkspaceBuildInput, options?: CallOptions): Promise<WorkspaceBuild> =>
  call(client, "POST", "/api/v2/workspaces/{workspace}/builds", json, input, options)

export interface ListWorkspaceBuildsInput {
  /** A UUID. */
  readonly workspace: string
  /** A UUID. */
  readonly after_id?: string | undefined
  /** From 0 to 2147483647. */
  readonly limit?: number | undefined
  /** From 0 to 2147483647. */
  readonly offset?: number | undefined
  /** A time as RFC 3339 writes it. */
  readonly since?: string | undefined
}

/**
 * List builds. Returns a workspace's builds, newest first, in pages.
 *
 * `GET /api/v2/workspaces/{workspace}/builds`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listWorkspaceBuilds = (client: Client, input: ListWorkspaceBuildsInput, options?: CallOptions): Promise<ReadonlyArray<WorkspaceBuild>> =>
  call(client, "GET", "/api/v2/workspaces/{workspace}/builds", json, input, options)

export interface GetWorkspaceBuildByNumberInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly workspacename: string
  /** At most 1024 characters. */
  readonly buildnumber: string
}

/**
 * Get a build by number. Returns a build of a workspace that is found by its owner and name.
 *
 * `GET /api/v2/users/{user}/workspace/{workspacename}/builds/{buildnumber}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceBuildByNumber = (client: Client, input: GetWorkspaceBuildByNumberInput, options?: CallOptions): Promise<WorkspaceBuild> =>
  call(client, "GET", "/api/v2/users/{user}/workspace/{workspacename}/builds/{buildnumber}", json, input, options)

export interface GetWorkspaceBuildInput {
  /** A UUID. */
  readonly workspacebuild: string
}

/**
 * Get a build. Returns a build with its job and resources.
 *
 * `GET /api/v2/workspacebuilds/{workspacebuild}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceBuild = (client: Client, input: GetWorkspaceBuildInput, options?: CallOptions): Promise<WorkspaceBuild> =>
  call(client, "GET", "/api/v2/workspacebuilds/{workspacebuild}", json, input, options)

export interface GetWorkspaceBuildParametersInput {
  /** A UUID. */
  readonly workspacebuild: string
}

/**
 * List a build's parameters. Returns the parameter values that a build was made with.
 *
 * `GET /api/v2/workspacebuilds/{workspacebuild}/parameters`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceBuildParameters = (client: Client, input: GetWorkspaceBuildParametersInput, options?: CallOptions): Promise<ReadonlyArray<WorkspaceBuildParameter>> =>
  call(client, "GET", "/api/v2/workspacebuilds/{workspacebuild}/parameters", json, input, options)

export interface GetWorkspaceBuildResourcesInput {
  /** A UUID. */
  readonly workspacebuild: string
}

/**
 * List a build's resources. Returns the resources of a build with their agents.
 *
 * `GET /api/v2/workspacebuilds/{workspacebuild}/resources`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceBuildResources = (client: Client, input: GetWorkspaceBuildResourcesInput, options?: CallOptions): Promise<ReadonlyArray<WorkspaceResource>> =>
  call(client, "GET", "/api/v2/workspacebuilds/{workspacebuild}/resources", json, input, options)

export interface GetWorkspaceBuildStateInput {
  /** A UUID. */
  readonly workspacebuild: string
}

/**
 * Get a build's state. Returns the provisioner's state after a build, as the provisioner wrote it.
 *
 * `GET /api/v2/workspacebuilds/{workspacebuild}/state`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceBuildState = (client: Client, input: GetWorkspaceBuildStateInput, options?: CallOptions): Promise<Uint8Array> =>
  call(client, "GET", "/api/v2/workspacebuilds/{workspacebuild}/state", bytes, input, options)

export interface GetWorkspaceBuildLogsInput {
  /** A UUID. */
  readonly workspacebuild: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get a build's logs. Returns the log lines of a build as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * `GET /api/v2/workspacebuilds/{workspacebuild}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getWorkspaceBuildLogs = (client: Client, input: GetWorkspaceBuildLogsInput, options?: CallOptions): Promise<ReadonlyArray<ProvisionerJobLog>> =>
  call(client, "GET", "/api/v2/workspacebuilds/{workspacebuild}/logs", json, input, options)

export interface GetWorkspaceBuildLogsTextInput {
  /** A UUID. */
  readonly workspacebuild: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get a build's logs. Returns the log lines of a build as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * Returns lines of text.
 *
 * `GET /api/v2/workspacebuilds/{workspacebuild}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const getWorkspaceBuildLogsText = (client: Client, input: GetWorkspaceBuildLogsTextInput, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/workspacebuilds/{workspacebuild}/logs", text, { ...input, format: "text" }, options)

export interface FollowWorkspaceBuildLogsInput {
  /** A UUID. */
  readonly workspacebuild: string
  /** Returns rows with greater ids. */
  readonly after?: number | undefined
}

/**
 * Get a build's logs. Returns the log lines of a build as JSON or text, or sends them over a WebSocket until the job ends.
 *
 * Reconnects after an interruption and goes on behind the last value.
 *
 * `GET /api/v2/workspacebuilds/{workspacebuild}/logs`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const followWorkspaceBuildLogs = (client: Client, input: FollowWorkspaceBuildLogsInput, options?: StreamOptions): AsyncGenerator<ProvisionerJobLog, void, undefined> =>
  socketValues(client, "/api/v2/workspacebuilds/{workspacebuild}/logs", { ...input, follow: "" }, behind, options)

export interface CancelWorkspaceBuildInput {
  /** A UUID. */
  readonly workspacebuild: string
  readonly expect_status?: "running" | "pending" | undefined
}

/**
 * Cancel a build. Cancels a build that waits or runs, optionally only if it is in the expected state.
 *
 * `PATCH /api/v2/workspacebuilds/{workspacebuild}/cancel`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 412 ExpectationMismatch, 414 UrlTooLong, 431 HeadTooLarge
 */
export const cancelWorkspaceBuild = (client: Client, input: CancelWorkspaceBuildInput, options?: CallOptions): Promise<Message> =>
  call(client, "PATCH", "/api/v2/workspacebuilds/{workspacebuild}/cancel", json, input, options)
