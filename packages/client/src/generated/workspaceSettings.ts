// Generated from the contract by `npm run generate`. Changes here are lost.
/** Schedules, dormancy, favorites and use of workspaces. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { ExternalAgentCredentials, Message, MinimalUser, ResolveAutostartResponse, Workspace, WorkspaceBuildTimings } from "./types.js"

export interface SetWorkspaceBuildStateInput {
  /** A UUID. */
  readonly workspacebuild: string
  readonly body: {
    /** Base64. At most 4194304 characters. */
    readonly state?: string | undefined
  }
}

/**
 * Replace a build's state. Replaces the provisioner's state after a build; the state is in base64.
 *
 * `PUT /api/v2/workspacebuilds/{workspacebuild}/state`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setWorkspaceBuildState = (client: Client, input: SetWorkspaceBuildStateInput, options?: CallOptions): Promise<void> =>
  call(client, "PUT", "/api/v2/workspacebuilds/{workspacebuild}/state", nothing, input, options)

export interface ListAvailableOwnersInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** An id, a username, or `me`. At most 1024 characters. */
  readonly user: string
  /** At most 4096 characters. */
  readonly q?: string | undefined
  /** From 0 to 2147483647. */
  readonly limit?: number | undefined
  /** From 0 to 2147483647. */
  readonly offset?: number | undefined
}

/**
 * List users to create workspaces for. Returns the users for whom the caller can create workspaces in an organization, filtered by `q`, in pages.
 *
 * `GET /api/v2/organizations/{organization}/members/{user}/workspaces/available-users`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listAvailableOwners = (client: Client, input: ListAvailableOwnersInput, options?: CallOptions): Promise<ReadonlyArray<MinimalUser>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/members/{user}/workspaces/available-users", json, input, options)

export interface SetWorkspaceAutostartInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    readonly schedule?: string | undefined
  }
}

/**
 * Set a workspace's autostart schedule. Sets when a workspace starts by itself; an empty schedule means never.
 *
 * `PUT /api/v2/workspaces/{workspace}/autostart`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setWorkspaceAutostart = (client: Client, input: SetWorkspaceAutostartInput, options?: CallOptions): Promise<void> =>
  call(client, "PUT", "/api/v2/workspaces/{workspace}/autostart", nothing, input, options)

export interface SetWorkspaceTtlInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    /** Milliseconds. */
    readonly ttl_ms?: number | undefined
  }
}

/**
 * Set a workspace's time to live. Sets for how many milliseconds a started workspace runs; 0 lets it run until it is stopped.
 *
 * `PUT /api/v2/workspaces/{workspace}/ttl`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setWorkspaceTtl = (client: Client, input: SetWorkspaceTtlInput, options?: CallOptions): Promise<void> =>
  call(client, "PUT", "/api/v2/workspaces/{workspace}/ttl", nothing, input, options)

export interface ExtendWorkspaceInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    /** A time as RFC 3339 writes it. */
    readonly deadline: string
  }
}

/**
 * Extend a running workspace. Moves the deadline of a running workspace. Agents can move that of their own workspace.
 *
 * `PUT /api/v2/workspaces/{workspace}/extend`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const extendWorkspace = (client: Client, input: ExtendWorkspaceInput, options?: CallOptions): Promise<Message> =>
  call(client, "PUT", "/api/v2/workspaces/{workspace}/extend", json, input, options)

export interface SetWorkspaceTimeoutInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    /** Milliseconds. */
    readonly timeout_ms?: number | null | undefined
  }
}

/**
 * Set when a workspace is deleted. Has a workspace deleted after a number of milliseconds from now, or never for null, and returns it.
 *
 * `PUT /api/v2/workspaces/{workspace}/timeout`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setWorkspaceTimeout = (client: Client, input: SetWorkspaceTimeoutInput, options?: CallOptions): Promise<Workspace> =>
  call(client, "PUT", "/api/v2/workspaces/{workspace}/timeout", json, input, options)

export interface SetWorkspaceDormantInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    readonly dormant?: boolean | undefined
  }
}

/**
 * Set a workspace's dormancy. Makes a workspace dormant or wakes it, and returns it.
 *
 * `PUT /api/v2/workspaces/{workspace}/dormant`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setWorkspaceDormant = (client: Client, input: SetWorkspaceDormantInput, options?: CallOptions): Promise<Workspace> =>
  call(client, "PUT", "/api/v2/workspaces/{workspace}/dormant", json, input, options)

export interface SetWorkspaceAutoupdatesInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    readonly automatic_updates: string
  }
}

/**
 * Set a workspace's automatic updates. Sets whether scheduled starts move a workspace to its template's active version.
 *
 * `PUT /api/v2/workspaces/{workspace}/autoupdates`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const setWorkspaceAutoupdates = (client: Client, input: SetWorkspaceAutoupdatesInput, options?: CallOptions): Promise<void> =>
  call(client, "PUT", "/api/v2/workspaces/{workspace}/autoupdates", nothing, input, options)

export interface AddFavoriteWorkspaceInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * Make a workspace a favorite. Puts a workspace first in its owner's lists.
 *
 * `PUT /api/v2/workspaces/{workspace}/favorite`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const addFavoriteWorkspace = (client: Client, input: AddFavoriteWorkspaceInput, options?: CallOptions): Promise<void> =>
  call(client, "PUT", "/api/v2/workspaces/{workspace}/favorite", nothing, input, options)

export interface RemoveFavoriteWorkspaceInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * Remove a workspace from the favorites. Puts a workspace back among its owner's others.
 *
 * `DELETE /api/v2/workspaces/{workspace}/favorite`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const removeFavoriteWorkspace = (client: Client, input: RemoveFavoriteWorkspaceInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/workspaces/{workspace}/favorite", nothing, input, options)

export interface ReportWorkspaceUsageInput {
  /** A UUID. */
  readonly workspace: string
  readonly body: {
    /** A UUID. */
    readonly agent_id?: string | undefined
    readonly app_name?: string | undefined
  }
}

/**
 * Report the use of a workspace. Notes that a workspace is in use, and by which app.
 *
 * `POST /api/v2/workspaces/{workspace}/usage`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const reportWorkspaceUsage = (client: Client, input: ReportWorkspaceUsageInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/workspaces/{workspace}/usage", nothing, input, options)

export interface ResolveWorkspaceAutostartInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * Check a scheduled start. Says whether a scheduled start would need a parameter that has no value in the active version.
 *
 * `GET /api/v2/workspaces/{workspace}/resolve-autostart`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const resolveWorkspaceAutostart = (client: Client, input: ResolveWorkspaceAutostartInput, options?: CallOptions): Promise<ResolveAutostartResponse> =>
  call(client, "GET", "/api/v2/workspaces/{workspace}/resolve-autostart", json, input, options)

export interface GetWorkspaceTimingsInput {
  /** A UUID. */
  readonly workspace: string
}

/**
 * Get a workspace's timings. Returns how long the parts of a workspace's latest build took.
 *
 * `GET /api/v2/workspaces/{workspace}/timings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceTimings = (client: Client, input: GetWorkspaceTimingsInput, options?: CallOptions): Promise<WorkspaceBuildTimings> =>
  call(client, "GET", "/api/v2/workspaces/{workspace}/timings", json, input, options)

export interface GetWorkspaceBuildTimingsInput {
  /** A UUID. */
  readonly workspacebuild: string
}

/**
 * Get a build's timings. Returns how long the parts of a build took.
 *
 * `GET /api/v2/workspacebuilds/{workspacebuild}/timings`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getWorkspaceBuildTimings = (client: Client, input: GetWorkspaceBuildTimingsInput, options?: CallOptions): Promise<WorkspaceBuildTimings> =>
  call(client, "GET", "/api/v2/workspacebuilds/{workspacebuild}/timings", json, input, options)

export interface GetExternalAgentCredentialsInput {
  /** A UUID. */
  readonly workspace: string
  /** At most 1024 characters. */
  readonly agent: string
}

/**
 * Get an external agent's credentials. Returns the token of an agent that runs outside the template's machines, and a shell command that starts it. A scoped token needs the scope `workspace:ssh`.
 *
 * `GET /api/v2/workspaces/{workspace}/external-agent/{agent}/credentials`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getExternalAgentCredentials = (client: Client, input: GetExternalAgentCredentialsInput, options?: CallOptions): Promise<ExternalAgentCredentials> =>
  call(client, "GET", "/api/v2/workspaces/{workspace}/external-agent/{agent}/credentials", json, input, options)
