// Generated from the contract by `npm run generate`. Changes here are lost.
/** Workspaces. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import { serverSentEvents } from "../events.js"
import { socketEvents } from "../sockets.js"
import { again, type StreamOptions } from "../stream.js"
import type { Workspace, WorkspacesResponse } from "./types.js"

export interface CreateMemberWorkspaceInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly name: string
    /** A UUID. */
    readonly template_id?: string | undefined
    /** A UUID. */
    readonly template_version_id?: string | undefined
    /** A UUID. */
    readonly template_version_preset_id?: string | undefined
    readonly autostart_schedule?: string | undefined
    /** Milliseconds. */
    readonly ttl_ms?: number | undefined
    /** Milliseconds. */
    readonly timeout_ms?: number | null | undefined
    readonly automatic_updates?: string | undefined
    /** At most 1000 items. */
    readonly rich_parameter_values?: ReadonlyArray<{
      readonly name?: string | undefined
      readonly value?: string | undefined
    }> | undefined
  }
}

/**
 * Create a workspace of a member. Creates a workspace of a member of an organization and starts its first build.
 *
 * `POST /api/v2/organizations/{organization}/members/{user}/workspaces`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 406 Unacceptable, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure, 504 TimedOut
 */
export const createMemberWorkspace = (client: Client, input: CreateMemberWorkspaceInput, options?: CallOptions): Promise<Workspace> =>
  call(client, "POST", "/api/v2/organizations/{organization}/members/{user}/workspaces", json, input, options)

export interface CreateWorkspaceInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  readonly body: {
    readonly name: string
    /** A UUID. */
    readonly template_id?: string | undefined
    /** A UUID. */
    readonly template_version_id?: string | undefined
    /** A UUID. */
    readonly template_version_preset_id?: string | undefined
    readonly autostart_schedule?: string | undefined
    /** Milliseconds. */
    readonly ttl_ms?: number | undefined
    /** Milliseconds. */
    readonly timeout_ms?: number | null | undefined
    readonly automatic_updates?: string | undefined
    /** At most 1000 items. */
    readonly rich_parameter_values?: ReadonlyArray<{
      readonly name?: string | undefined
      readonly value?: string | undefined
    }> | undefined
  }
}

/**
 * Create a workspace. Creates a workspace of a user, in the organization of its template, and starts its first build.
 *
 * `POST /api/v2/users/{user}/workspaces`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 406 Unacceptable, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure, 504 TimedOut
 */
export const createWorkspace = (client: Client, input: CreateWorkspaceInput, options?: CallOptions): Promise<Workspace> =>
  call(client, "POST", "/api/v2/users/{user}/workspaces", json, input, options)

export interface ListWorkspacesInput {
  /** At most 4096 characters. */
  readonly q?: string | undefined
  /** A UUID. */
  readonly after_id?: string | undefined
  /** From 0 to 2147483647. */
  readonly limit?: number | undefined
  /** From 0 to 2147483647. */
  readonly offset?: number | undefined
}

/**
 * List workspaces. Returns the workspaces that the caller may see, filtered by `q`, in pages. `count` is the number of all matches.
 *
 * `GET /api/v2/workspaces`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listWorkspaces = (client: Client, input: ListWorkspacesInput = {}, options?: CallOptions): Promise<WorkspacesResponse> =>
  call(client, "GET", "/api/v2/workspaces", json, input, options)

export interface GetWorkspaceInput {
  /** A UUID. */
  readonly workspace: string
  readonly include_deleted?: boolean | undefined
}

/**
 * Get a workspace. Returns a workspace with its latest build.
 *
 * `GET /api/v2/workspaces/{workspace}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 410 Gone, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspace = (client: Client, input: GetWorkspaceInput, options?: CallOptions): Promise<Workspace> =>
  call(client, "GET", "/api/v2/workspaces/{workspace}", json, input, options)

export interface UpdateWorkspaceInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    readonly name: string
  }
}

/**
 * Rename a workspace. Changes a workspace's name if the deployment allows that.
 *
 * `PATCH /api/v2/workspaces/{workspace}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 405 NotAllowed, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateWorkspace = (client: Client, input: UpdateWorkspaceInput, options?: CallOptions): Promise<void> =>
  call(client, "PATCH", "/api/v2/workspaces/{workspace}", nothing, input, options)

export interface GetWorkspaceByNameInput {
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 1024 characters. */
  readonly workspacename: string
  readonly include_deleted?: boolean | undefined
}

/**
 * Get a workspace by name. Returns a workspace of a user by its name, with its latest build.
 *
 * `GET /api/v2/users/{user}/workspace/{workspacename}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceByName = (client: Client, input: GetWorkspaceByNameInput, options?: CallOptions): Promise<Workspace> =>
  call(client, "GET", "/api/v2/users/{user}/workspace/{workspacename}", json, input, options)

export interface WatchWorkspaceInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * Watch a workspace. Sends a workspace as a server-sent event at first and after each change.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/workspaces/{workspace}/watch`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const watchWorkspace = (client: Client, input: WatchWorkspaceInput, options?: StreamOptions): AsyncGenerator<Workspace, void, undefined> =>
  serverSentEvents(client, "/api/v2/workspaces/{workspace}/watch", input, again, options)

export interface WatchWorkspaceSocketInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * Watch a workspace over a WebSocket. Sends a workspace as a message at first and after each change.
 *
 * Reconnects after an interruption; the first value is then the whole again.
 *
 * `GET /api/v2/workspaces/{workspace}/watch-ws`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge
 */
export const watchWorkspaceSocket = (client: Client, input: WatchWorkspaceSocketInput, options?: StreamOptions): AsyncGenerator<Workspace, void, undefined> =>
  socketEvents(client, "/api/v2/workspaces/{workspace}/watch-ws", input, again, options)
