// Generated from the contract by `npm run generate`. Changes here are lost.
/** The metrics and the health of the deployment, for its operators. */
import type { Client } from "../Client.js"
import { call, text, type CallOptions } from "../call.js"

/**
 * Get metrics. Returns the metrics of the answering process and of the deployment, in the text format of Prometheus.
 *
 * `GET /api/v2/debug/metrics`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 414 UrlTooLong, 431 HeadTooLarge
 */
export const getMetrics = (client: Client, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/debug/metrics", text, {}, options)
