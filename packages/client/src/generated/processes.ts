// Generated from the contract by `npm run generate`. Changes here are lost.
/** Processes that callers start in workspaces. */
import type { Client } from "../Client.js"
import { call, json, nothing, type CallOptions } from "../call.js"
import { openSocket, type Socket } from "../sockets.js"
import type { ExecResult, Process, ProcessList } from "./types.js"

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

export interface StartProcessInput {
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
    readonly pty?: {
      /** a number between 1 and 65535. */
      readonly cols: number
      /** a number between 1 and 65535. */
      readonly rows: number
    } | undefined
    readonly stdin?: boolean | undefined
  }
}

/**
 * Start a process. Starts a program, or a line of a shell, that goes on until it ends or the workspace does. Its latest output is kept.
 *
 * `POST /api/v2/workspaceagents/{workspaceagent}/processes`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const startProcess = (client: Client, input: StartProcessInput, options?: CallOptions): Promise<Process> =>
  call(client, "POST", "/api/v2/workspaceagents/{workspaceagent}/processes", json, input, options)

export interface ListProcessesInput {
  /** A UUID. */
  readonly workspaceagent: string
}

/**
 * List processes. Returns the processes that were started beside an agent, those that have ended lately too.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/processes`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const listProcesses = (client: Client, input: ListProcessesInput, options?: CallOptions): Promise<ProcessList> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/processes", json, input, options)

export interface GetProcessInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 1024 characters. */
  readonly process: string
}

/**
 * Get a process. Returns a process that was started beside an agent.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/processes/{process}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const getProcess = (client: Client, input: GetProcessInput, options?: CallOptions): Promise<Process> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/processes/{process}", json, input, options)

export interface DeleteProcessInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 1024 characters. */
  readonly process: string
}

/**
 * Delete a process. Ends a process and the others of its group, and forgets its output.
 *
 * `DELETE /api/v2/workspaceagents/{workspaceagent}/processes/{process}`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const deleteProcess = (client: Client, input: DeleteProcessInput, options?: CallOptions): Promise<void> =>
  call(client, "DELETE", "/api/v2/workspaceagents/{workspaceagent}/processes/{process}", nothing, input, options)

export interface WaitForProcessInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 1024 characters. */
  readonly process: string
  /** Milliseconds. */
  readonly timeout_ms?: number | undefined
}

/**
 * Wait for a process. Returns a process once it has ended, or as it is when the time is over.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/processes/{process}/wait`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const waitForProcess = (client: Client, input: WaitForProcessInput, options?: CallOptions): Promise<Process> =>
  call(client, "GET", "/api/v2/workspaceagents/{workspaceagent}/processes/{process}/wait", json, input, options)

export interface SignalProcessInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 1024 characters. */
  readonly process: string
  readonly body: {
    /** At most 32 characters. */
    readonly signal: string
  }
}

/**
 * Signal a process. Sends a signal to a process and the others of its group.
 *
 * `POST /api/v2/workspaceagents/{workspaceagent}/processes/{process}/signal`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const signalProcess = (client: Client, input: SignalProcessInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/workspaceagents/{workspaceagent}/processes/{process}/signal", nothing, input, options)

export interface ResizeProcessInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 1024 characters. */
  readonly process: string
  readonly body: {
    /** a number between 1 and 65535. */
    readonly cols: number
    /** a number between 1 and 65535. */
    readonly rows: number
  }
}

/**
 * Resize a process's terminal. Gives the terminal of a process another size.
 *
 * `POST /api/v2/workspaceagents/{workspaceagent}/processes/{process}/resize`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const resizeProcess = (client: Client, input: ResizeProcessInput, options?: CallOptions): Promise<void> =>
  call(client, "POST", "/api/v2/workspaceagents/{workspaceagent}/processes/{process}/resize", nothing, input, options)

export interface OpenProcessInput {
  /** A UUID. */
  readonly workspaceagent: string
  /** At most 1024 characters. */
  readonly process: string
  readonly offset?: number | undefined
}

/**
 * Open a process. Upgrades to a WebSocket with the output of a process from an offset on, its input, and its end. Binary messages carry a byte for the channel and, from the process, eight bytes for the offset before their data.
 *
 * Opens a WebSocket for both directions. Does not reconnect: the caller does, if that is right.
 *
 * `GET /api/v2/workspaceagents/{workspaceagent}/processes/{process}/stream`
 *
 * @throws AtelierError 401 Unauthenticated, 403 Forbidden, 404 NotFound, 409 Conflict, 414 UrlTooLong, 426 UpgradeRequired, 431 HeadTooLarge, 502 UpstreamFailure
 */
export const openProcess = (client: Client, input: OpenProcessInput, options?: CallOptions): Promise<Socket> =>
  openSocket(client, "/api/v2/workspaceagents/{workspaceagent}/processes/{process}/stream", input, options)
