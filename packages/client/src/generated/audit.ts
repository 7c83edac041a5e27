// Generated from the contract by `npm run generate`. Changes here are lost.
/** Records of what users did and of who connected to workspaces. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { AuditAction, AuditLogResponse, ConnectionLogResponse, ResourceType } from "./types.js"

export interface ListAuditLogsInput {
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
 * List audit entries. Returns the entries that the caller may see, filtered by `q`, newest first, in pages.
 *
 * `GET /api/v2/audit`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listAuditLogs = (client: Client, input: ListAuditLogsInput = {}, options?: CallOptions): Promise<AuditLogResponse> =>
  call(client, "GET", "/api/v2/audit", json, input, options)

export interface GenerateTestAuditLogInput {
  readonly body: {
    readonly action?: AuditAction | undefined
    readonly resource_type?: ResourceType | undefined
    /** A UUID. */
    readonly resource_id?: string | undefined
    /** A time as RFC 3339 writes it. */
    readonly time?: string | undefined
    readonly additional_fields?: Readonly<Record<string, unknown>> | undefined
    /** A UUID. */
    readonly organization_id?: string | undefined
    /** A UUID. */
    readonly request_id?: string | undefined
    readonly build_reason?: string | undefined
  }
}

/**
 * Create a test audit entry. Stores an entry of the caller with an example of a change.
 *
 * `POST /api/v2/audit/testgenerate`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const generateTestAuditLog = (client: Client, input: GenerateTestAuditLogInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/audit/testgenerate", nothing, input, options)

export interface ListConnectionLogsInput {
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
 * List connections. Returns the connections to workspaces that the caller may see, filtered by `q`, newest first, in pages.
 *
 * `GET /api/v2/connectionlog`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listConnectionLogs = (client: Client, input: ListConnectionLogsInput = {}, options?: CallOptions): Promise<ConnectionLogResponse> =>
  call(client, "GET", "/api/v2/connectionlog", json, input, options)
