// Generated from the contract by `npm run generate`. Changes here are lost.
/** Providers of language models: addresses, keys and settings. Secrets are never returned. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import type { AIProvider } from "./types.js"

/**
 * List AI providers. Returns all providers, the oldest first. Keys are masked.
 *
 * `GET /api/v2/ai/providers`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const listAiProviders = (client: Client, options?: CallOptions): Promise<ReadonlyArray<AIProvider>> =>
  call(client, "GET", "/api/v2/ai/providers", json, {}, options)

export interface CreateAiProviderInput {
  readonly body: {
    readonly type: string
    readonly name: string
    readonly display_name?: string | undefined
    readonly icon?: string | undefined
    readonly enabled?: boolean | undefined
    readonly base_url: string
    /** At most 100 items. */
    readonly api_keys?: ReadonlyArray<string> | undefined
    readonly settings?: {
      readonly _type: "bedrock"
      /** From 1 to 1. */
      readonly _version: 1
      readonly region?: string | undefined
      readonly model?: string | undefined
      readonly small_fast_model?: string | undefined
      readonly protocol?: string | undefined
      readonly role_arn?: string | undefined
      readonly external_id?: string | undefined
      /** At most 8192 characters. */
      readonly access_key?: string | undefined
      /** At most 8192 characters. */
      readonly access_key_secret?: string | undefined
    } | undefined
  }
}

/**
 * Create an AI provider. Stores a provider with its keys, which are encrypted.
 *
 * `POST /api/v2/ai/providers`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const createAiProvider = (client: Client, input: CreateAiProviderInput, options?: CallOptions): Promise<AIProvider> =>
  call(client, "POST", "/api/v2/ai/providers", json, input, options)

export interface GetAiProviderInput {
  /** At most 1024 characters. */
  readonly idOrName: string
}

/**
 * Get an AI provider. Returns a provider by its id or name. Keys are masked.
 *
 * `GET /api/v2/ai/providers/{idOrName}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAiProvider = (client: Client, input: GetAiProviderInput, options?: CallOptions): Promise<AIProvider> =>
  call(client, "GET", "/api/v2/ai/providers/{idOrName}", json, input, options)

export interface UpdateAiProviderInput {
  /** At most 1024 characters. */
  readonly idOrName: string
  readonly body: {
    /** At most 2048 characters. */
    readonly display_name?: string | undefined
    /** At most 2048 characters. */
    readonly icon?: string | undefined
    readonly enabled?: boolean | undefined
    /** At most 2048 characters. */
    readonly base_url?: string | undefined
    /** At most 100 items. */
    readonly api_keys?: ReadonlyArray<{
      /** A UUID. */
      readonly id?: string | undefined
      /** At most 8192 characters. */
      readonly api_key?: string | undefined
    }> | undefined
    readonly settings?: {
      readonly _type: "bedrock"
      /** From 1 to 1. */
      readonly _version: 1
      readonly region?: string | undefined
      readonly model?: string | undefined
      readonly small_fast_model?: string | undefined
      readonly protocol?: string | undefined
      readonly role_arn?: string | undefined
      readonly external_id?: string | undefined
      /** At most 8192 characters. */
      readonly access_key?: string | undefined
      /** At most 8192 characters. */
      readonly access_key_secret?: string | undefined
    } | undefined
  }
}

/**
 * Change an AI provider. Changes the given fields. A list of keys is the whole new list: keys by id stay, others are added.
 *
 * `PATCH /api/v2/ai/providers/{idOrName}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateAiProvider = (client: Client, input: UpdateAiProviderInput, options?: CallOptions): Promise<AIProvider> =>
  call(client, "PATCH", "/api/v2/ai/providers/{idOrName}", json, input, options)

export interface DeleteAiProviderInput {
  /** At most 1024 characters. */
  readonly idOrName: string
}

/**
 * Delete an AI provider. Deletes a provider with its keys. Its name becomes free.
 *
 * `DELETE /api/v2/ai/providers/{idOrName}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const deleteAiProvider = (client: Client, input: DeleteAiProviderInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/ai/providers/{idOrName}", nothing, input, options)
