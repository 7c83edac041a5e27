// Generated from the contract by `npm run generate`. Changes here are lost.
/** Templates. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { Message, Template, TemplateExample } from "./types.js"

export interface CreateTemplateInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  readonly body: {
    readonly display_name?: string | undefined
    readonly description?: string | undefined
    readonly icon?: string | undefined
    /** Milliseconds. */
    readonly default_ttl_ms?: number | undefined
    /** Milliseconds. */
    readonly activity_bump_ms?: number | undefined
    /** Milliseconds. */
    readonly time_til_autostop_notify_ms?: number | undefined
    readonly autostop_requirement?: {
      /** At most 1000 items. */
      readonly days_of_week?: ReadonlyArray<string> | undefined
      readonly weeks?: number | undefined
    } | undefined
    readonly autostart_requirement?: {
      /** At most 1000 items. */
      readonly days_of_week?: ReadonlyArray<string> | undefined
    } | undefined
    readonly allow_user_autostart?: boolean | undefined
    readonly allow_user_autostop?: boolean | undefined
    readonly allow_user_cancel_workspace_jobs?: boolean | undefined
    /** Milliseconds. */
    readonly failure_ttl_ms?: number | undefined
    readonly require_active_version?: boolean | undefined
    readonly disable_everyone_group_access?: boolean | undefined
    readonly agents_allowed?: boolean | undefined
    readonly name: string
    /** A UUID. */
    readonly template_version_id: string
    /** Milliseconds. */
    readonly dormant_ttl_ms?: number | undefined
    /** Milliseconds. */
    readonly delete_ttl_ms?: number | undefined
    readonly template_use_classic_parameter_flow?: boolean | undefined
    readonly max_port_share_level?: "owner" | "organization" | "authenticated" | "public" | undefined
    readonly cors_behavior?: "" | "simple" | "passthru" | undefined
  }
}

/**
 * Create a template. Creates a template from a template version that has been imported.
 *
 * `POST /api/v2/organizations/{organization}/templates`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createTemplate = (client: Client, input: CreateTemplateInput, options?: CallOptions): Promise<Template> =>
  call(client, "POST", "/api/v2/organizations/{organization}/templates", json, input, options)

export interface ListOrganizationTemplatesInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 4096 characters. */
  readonly q?: string | undefined
}

/**
 * List an organization's templates. Returns the templates of an organization that the caller may see, filtered by `q`.
 *
 * `GET /api/v2/organizations/{organization}/templates`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOrganizationTemplates = (client: Client, input: ListOrganizationTemplatesInput, options?: CallOptions): Promise<ReadonlyArray<Template>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/templates", json, input, options)

export interface ListOrganizationTemplateExamplesInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
}

/**
 * List an organization's template examples. Returns the starter templates that templates of an organization can be made from.
 *
 * `GET /api/v2/organizations/{organization}/templates/examples`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listOrganizationTemplateExamples = (client: Client, input: ListOrganizationTemplateExamplesInput, options?: CallOptions): Promise<ReadonlyArray<TemplateExample>> =>
  call(client, "GET", "/api/v2/organizations/{organization}/templates/examples", json, input, options)

export interface GetTemplateByNameInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 1024 characters. */
  readonly templatename: string
}

/**
 * Get a template by name. Returns a template of an organization by its name.
 *
 * `GET /api/v2/organizations/{organization}/templates/{templatename}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplateByName = (client: Client, input: GetTemplateByNameInput, options?: CallOptions): Promise<Template> =>
  call(client, "GET", "/api/v2/organizations/{organization}/templates/{templatename}", json, input, options)

export interface ListTemplatesInput {
  /** At most 4096 characters. */
  readonly q?: string | undefined
}

/**
 * List templates. Returns the templates that the caller may see, filtered by `q`.
 *
 * `GET /api/v2/templates`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listTemplates = (client: Client, input: ListTemplatesInput = {}, options?: CallOptions): Promise<ReadonlyArray<Template>> =>
  call(client, "GET", "/api/v2/templates", json, input, options)

/**
 * List template examples. Returns the starter templates that come with the service.
 *
 * `GET /api/v2/templates/examples`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listTemplateExamples = (client: Client, options?: CallOptions): Promise<ReadonlyArray<TemplateExample>> =>
  call(client, "GET", "/api/v2/templates/examples", json, {}, options)

export interface GetTemplateInput {
  /** A UUID. */
  readonly template: string
}

/**
 * Get a template. Returns a template by id.
 *
 * `GET /api/v2/templates/{template}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getTemplate = (client: Client, input: GetTemplateInput, options?: CallOptions): Promise<Template> =>
  call(client, "GET", "/api/v2/templates/{template}", json, input, options)

export interface UpdateTemplateInput {
  /** A UUID. */
  readonly template: string
  readonly body: {
    readonly display_name?: string | undefined
    readonly description?: string | undefined
    readonly icon?: string | undefined
    /** Milliseconds. */
    readonly default_ttl_ms?: number | undefined
    /** Milliseconds. */
    readonly activity_bump_ms?: number | undefined
    /** Milliseconds. */
    readonly time_til_autostop_notify_ms?: number | undefined
    readonly autostop_requirement?: {
      /** At most 1000 items. */
      readonly days_of_week?: ReadonlyArray<string> | undefined
      readonly weeks?: number | undefined
    } | undefined
    readonly autostart_requirement?: {
      /** At most 1000 items. */
      readonly days_of_week?: ReadonlyArray<string> | undefined
    } | undefined
    readonly allow_user_autostart?: boolean | undefined
    readonly allow_user_autostop?: boolean | undefined
    readonly allow_user_cancel_workspace_jobs?: boolean | undefined
    /** Milliseconds. */
    readonly failure_ttl_ms?: number | undefined
    readonly require_active_version?: boolean | undefined
    readonly disable_everyone_group_access?: boolean | undefined
    readonly agents_allowed?: boolean | undefined
    readonly name?: string | undefined
    /** Milliseconds. */
    readonly time_til_dormant_ms?: number | undefined
    /** Milliseconds. */
    readonly time_til_dormant_autodelete_ms?: number | undefined
    readonly deprecation_message?: string | undefined
    readonly use_classic_parameter_flow?: boolean | undefined
    readonly disable_module_cache?: boolean | undefined
    readonly update_workspace_last_used_at?: boolean | undefined
    readonly update_workspace_dormant_at?: boolean | undefined
    readonly max_port_share_level?: "owner" | "organization" | "authenticated" | "public" | undefined
    readonly cors_behavior?: "" | "simple" | "passthru" | undefined
  }
}

/**
 * Update a template. Changes the given settings of a template and keeps the others.
 *
 * `PATCH /api/v2/templates/{template}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateTemplate = (client: Client, input: UpdateTemplateInput, options?: CallOptions): Promise<Template> =>
  call(client, "PATCH", "/api/v2/templates/{template}", json, input, options)

export interface DeleteTemplateInput {
  /** A UUID. */
  readonly template: string
}

/**
 * Delete a template. Deletes a template that no workspace uses.
 *
 * `DELETE /api/v2/templates/{template}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteTemplate = (client: Client, input: DeleteTemplateInput, options?: CallOptions): Promise<Message> =>
  call(client, "DELETE", "/api/v2/templates/{template}", json, input, options)
