// Generated from the contract by `npm run generate`. Changes here are lost.
/** The embedded relay, which forwards packets between peers that cannot reach each other. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { BytesSentRecv } from "./types.js"

/**
 * Get relay traffic. Returns what each connected peer has sent and received through the relay of the answering process.
 *
 * `GET /api/v2/debug/derp/traffic`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getRelayTraffic = (client: Client, options?: CallOptions): Promise<ReadonlyArray<BytesSentRecv>> =>
  call(client, "GET", "/api/v2/debug/derp/traffic", json, {}, options)
