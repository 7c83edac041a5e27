// Generated from the contract by `npm run generate`. Changes here are lost.
/** AI spend for spreadsheets. */
import type { Client } from "../Client.js"
import { call, text, type CallOptions } from "../call.js"

export interface ExportAiSpendInput {
  /** An id, a name, or `default`. At most 1024 characters. */
  readonly organization: string
  /** At most 4096 characters. */
  readonly period_start?: string | undefined
  /** At most 4096 characters. */
  readonly period_end?: string | undefined
}

/**
 * Export AI spend. Returns an organization's AI spend of a period as comma-separated values.
 *
 * `GET /api/v2/organizations/{organization}/ai/spend/export`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const exportAiSpend = (client: Client, input: ExportAiSpendInput, options?: CallOptions): Promise<string> =>
  call(client, "GET", "/api/v2/organizations/{organization}/ai/spend/export", text, input, options)
