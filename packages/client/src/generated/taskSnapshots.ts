// Generated from the contract by `npm run generate`. Changes here are lost.
/** Conversations of tasks that agents store. */
import type { Client } from "../Client.js"
import { call, nothing, type CallOptions } from "../call.js"

export interface StoreTaskLogSnapshotInput {
  /** A UUID. */
  readonly task: string
  readonly format: "agentapi"
  readonly body: {
    /** At most 2000 items. */
    readonly messages: ReadonlyArray<{
      readonly id: number
      readonly role: "user" | "agent"
      readonly content: string
      /** A time as RFC 3339 writes it. */
      readonly time: string
    }>
  }
}

/**
 * Store a task's conversation. Replaces the stored conversation of the task that the calling agent's workspace works on.
 *
 * `POST /api/v2/workspaceagents/me/tasks/{task}/log-snapshot`
 *
 * @throws AtelierError 401 Unauthenticated, 404 NotFound, 414 UrlTooLong, 431 HeadTooLarge
 */
export const storeTaskLogSnapshot = (client: Client, input: StoreTaskLogSnapshotInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/workspaceagents/me/tasks/{task}/log-snapshot", nothing, input, options)
