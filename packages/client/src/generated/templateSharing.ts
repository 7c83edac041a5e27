// Generated from the contract by `npm run generate`. Changes here are lost.
/** Access lists of templates. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { ACLAvailable, Message, TemplateACL } from "./types.js"

export interface ListAvailableForTemplateInput {
  /** A UUID. */
  readonly template: string
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
 * List candidates for sharing a template. Returns users and groups that a template can be shared with, filtered by `q`.
 *
 * `GET /api/v2/templates/{template}/acl/available`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listAvailableForTemplate = (client: Client, input: ListAvailableForTemplateInput, options?: CallOptions): Promise<readonly [ACLAvailable, ...ReadonlyArray<ACLAvailable>]> =>
  call(client, "GET", "/api/v2/templates/{template}/acl/available", json, input, options)

export interface GetTemplateAclInput {
  /** A UUID. */
  readonly template: string
}

/**
 * Get a template's access list. Returns the users and groups that a template is shared with, and their roles.
 *
 * `GET /api/v2/templates/{template}/acl`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateAcl = (client: Client, input: GetTemplateAclInput, options?: CallOptions): Promise<TemplateACL> =>
  call(client, "GET", "/api/v2/templates/{template}/acl", json, input, options)

export interface UpdateTemplateAclInput {
  /** A UUID. */
  readonly template: string
  readonly body: {
    readonly user_perms?: Readonly<Record<string, string>> | undefined
    readonly group_perms?: Readonly<Record<string, string>> | undefined
  }
}

/**
 * Update a template's access list. Sets roles of users and groups in a template; an empty role ends the share.
 *
 * `PATCH /api/v2/templates/{template}/acl`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateTemplateAcl = (client: Client, input: UpdateTemplateAclInput, options?: CallOptions): Promise<Message> =>
  call(client, "PATCH", "/api/v2/templates/{template}/acl", json, input, options)
