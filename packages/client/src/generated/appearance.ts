// Generated from the contract by `npm run generate`. Changes here are lost.
/** The name, logo, banners and links of the deployment. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { AppearanceConfig, UpdateAppearanceConfig } from "./types.js"

/**
 * Get the appearance. Returns the name, logo, banners and links that pages and agents show.
 *
 * `GET /api/v2/appearance`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getAppearance = (client: Client, options?: CallOptions): Promise<AppearanceConfig> =>
  call(client, "GET", "/api/v2/appearance", json, {}, options)

export interface UpdateAppearanceInput {
  readonly body: {
    readonly application_name?: string | undefined
    readonly logo_url?: string | undefined
    /** At most 100 items. */
    readonly announcement_banners?: ReadonlyArray<{
      readonly enabled?: boolean | undefined
      readonly message?: string | undefined
      readonly background_color?: string | undefined
    }> | undefined
    readonly service_banner?: {
      readonly enabled?: boolean | undefined
      readonly message?: string | undefined
      readonly background_color?: string | undefined
    } | undefined
  }
}

/**
 * Change the appearance. Replaces the name, the logo and the announcement banners.
 *
 * `PUT /api/v2/appearance`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const updateAppearance = (client: Client, input: UpdateAppearanceInput, options?: CallOptions): Promise<UpdateAppearanceConfig> =>
  call(client, "PUT", "/api/v2/appearance", json, input, options)
