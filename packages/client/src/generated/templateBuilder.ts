// Generated from the contract by `npm run generate`. Changes here are lost.
/** Templates that are composed of a base and modules. */
import type { Client } from "../Client.js"
import { bytes, call, json, nothing, type CallOptions } from "../call.js"
import type { Template, TemplateBuilderBasesResponse, TemplateBuilderModulesResponse } from "./types.js"

/**
 * List bases of the template builder. Returns the templates to begin with, by name.
 *
 * `GET /api/v2/templatebuilder/bases`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listTemplateBuilderBases = (client: Client, options?: CallOptions): Promise<TemplateBuilderBasesResponse> =>
  call(client, "GET", "/api/v2/templatebuilder/bases", json, {}, options)

export interface ListTemplateBuilderModulesInput {
  /** At most 4096 characters. */
  readonly base?: string | undefined
}

/**
 * List modules of the template builder. Returns the modules, of those that work with a base if one is named.
 *
 * `GET /api/v2/templatebuilder/modules`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listTemplateBuilderModules = (client: Client, input: ListTemplateBuilderModulesInput = {}, options?: CallOptions): Promise<TemplateBuilderModulesResponse> =>
  call(client, "GET", "/api/v2/templatebuilder/modules", json, input, options)

export interface ComposeTemplateInput {
  readonly body: {
    readonly base_template_id: string
    readonly base_variable_values?: Readonly<Record<string, string>> | undefined
    /** At most 1000 items. */
    readonly modules?: ReadonlyArray<{
      readonly id?: string | undefined
      readonly variables?: Readonly<Record<string, string>> | undefined
    }> | undefined
  }
}

/**
 * Compose a template. Returns the archive of a template. The same request gives the same bytes.
 *
 * `POST /api/v2/templatebuilder/compose`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const composeTemplate = (client: Client, input: ComposeTemplateInput, options?: CallOptions): Promise<Uint8Array> =>
  call(client, "POST", "/api/v2/templatebuilder/compose", bytes, input, options)

export interface CreateComposedTemplateResult {
  readonly template: Template
}

export interface CreateComposedTemplateInput {
  readonly body: {
    readonly base_template_id: string
    readonly base_variable_values?: Readonly<Record<string, string>> | undefined
    /** At most 1000 items. */
    readonly modules?: ReadonlyArray<{
      readonly id?: string | undefined
      readonly variables?: Readonly<Record<string, string>> | undefined
    }> | undefined
    /** A UUID. */
    readonly organization_id: string
    readonly name: string
    readonly display_name?: string | undefined
    readonly description?: string | undefined
    readonly icon?: string | undefined
    readonly provisioner_tags?: Readonly<Record<string, string>> | undefined
  }
}

/**
 * Compose and create a template. Composes a template, imports it, which may take two minutes, and creates it.
 *
 * `POST /api/v2/templatebuilder/compose/template`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 504 TimedOut
 */
export const createComposedTemplate = (client: Client, input: CreateComposedTemplateInput, options?: CallOptions): Promise<CreateComposedTemplateResult> =>
  call(client, "POST", "/api/v2/templatebuilder/compose/template", json, input, options)

export interface RecordTemplateBuilderSessionInput {
  readonly body: {
    /** A UUID. */
    readonly session_id: string
    readonly event_type: string
    readonly base_template_id?: string | undefined
    /** At most 1000 items. */
    readonly module_ids?: ReadonlyArray<string> | undefined
    /** a number between 0 and 1000000000. Seconds. */
    readonly duration_seconds?: number | undefined
    readonly success?: boolean | undefined
  }
}

/**
 * Record a use of the template builder. Accepts usage events of the wizard. Nothing is stored.
 *
 * `POST /api/v2/templatebuilder/sessions`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const recordTemplateBuilderSession = (client: Client, input: RecordTemplateBuilderSessionInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/templatebuilder/sessions", nothing, input, options)
