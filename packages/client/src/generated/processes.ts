// Generated from the contract by `npm run generate`. Changes here are lost.
/** Processes that callers start in workspaces. */
import type { Client } from "../Client.js"
import { call, json, type CallOptions } from "../call.js"
import type { ExecResult } from "./types.js"

export interface ExecInput {
  /** A UUID. */
  readonly workspaceagent: string
  readonly body: {
    /** At most 4096 characters. */
    readonly program?: string | undefined
    /** At most 10000 items. */
    readonly args?: ReadonlyArray<string> | undefined
    /** At most 1048576 characters. */
    readonly command?: string | undefined
    /** At most 4096 characters. */
    readonly cwd?: string | undefined
    readonly env?: Readonly<Record<string, string>> | undefined
    /** a positive number. Milliseconds. */
    readonly timeout_ms?: number | undefined
    /** At most 16777216 characters. */
    readonly stdin?: string | undefined
    readonly encoding?: "utf8" | "base64" | undefined
    /** a number between 0 and 16777216. */
    readonly max_output_bytes?: number | undefined
  }
}

/**
 * Run a command. Runs a program, or a line of a shell, beside an agent, and returns how it ended and what it wrote. The program ends if the client goes away.
 *
 * `POST /api/v2/workspaceagents/{workspaceagent}/exec`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const exec = (client: Client, input: ExecInput, options?: CallOptions): Promise<ExecResult> =>
  call(client, "POST", "/api/v2/workspaceagents/{workspaceagent}/exec", json, input, options)
