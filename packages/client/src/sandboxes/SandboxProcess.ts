/** Processes that stay, and their output as web streams that survive a lost connection. */
import { AtelierError } from "../AtelierError.js"
import { call, type CallOptions, type Input, json, nothing } from "../call.js"
import type { Client } from "../Client.js"
import type { Process } from "../generated/types.js"
import { openSocket, type Socket, socketsOf } from "../sockets.js"
import { sleep, usualDelay } from "../stream.js"
import { absenceOf, isTransient } from "./agentAbsence.js"

/** A line of the shell, or a program and its arguments. */
export type Command = string | readonly [program: string, ...args: ReadonlyArray<string>]

export const programOf = (command: Command) => {
  if (typeof command === "string") return { command }
  const [program, ...args] = command
  return { program, args }
}

export interface SpawnOptions extends CallOptions {
  /** Relative paths begin at the agent's directory, which is the default. */
  readonly cwd?: string | undefined
  /** Variables in addition to those of a login. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Runs in a terminal of this size, whose output is `stdout` alone. */
  readonly pty?: { readonly cols: number; readonly rows: number } | undefined
  /** Whether the process has an input; default true. */
  readonly stdin?: boolean | undefined
  /** Milliseconds after which the process is ended. */
  readonly timeout?: number | undefined
}

export interface ProcessEnd {
  /** Null if a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A process that stays. Its output is read from the first use of a stream on, and connected again after an interruption. */
export interface SandboxProcess {
  readonly id: string
  readonly pid: number
  /** Closing it closes the input of the process. */
  readonly stdin: WritableStream<Uint8Array | string>
  /** A stream that is not read lets the other one wait, as pipes do. */
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  /** The offset behind the output that was received, to attach there again. */
  readonly offset: number
  /** Waits for the end of the process. */
  readonly wait: (options?: CallOptions) => Promise<ProcessEnd>
  /** Sends a signal to the process and its children; default `SIGTERM`. */
  readonly kill: (signal?: string, options?: CallOptions) => Promise<void>
  readonly resize: (size: { readonly cols: number; readonly rows: number }, options?: CallOptions) => Promise<void>
  readonly info: (options?: CallOptions) => Promise<Process>
  /** Ends the process and forgets its output. */
  readonly delete: (options?: CallOptions) => Promise<void>
  /** Leaves the process to itself: its streams end here. */
  readonly detach: () => void
}

const root = "/api/v2/workspaceagents/{workspaceagent}/processes"

/** Milliseconds that one request for the end of a process takes at most. */
const waitTime = 30_000

const stdinChannel = 0
const stderrChannel = 2

/** Bytes before the data of a frame: a channel and an offset. */
const headLength = 9

/** Bytes of one stream that wait for the program before the connection waits. */
const comfortable = 1024 * 1024

const frameOf = (data: Uint8Array): Uint8Array => {
  const frame = new Uint8Array(data.length + 1)
  frame[0] = stdinChannel
  frame.set(data, 1)
  return frame
}

/** One of the outputs: `push` resolves once the program has read enough to go on. */
const outputOf = (begin: () => void) => {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let resume = (): void => {}
  let isOpen = true
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given
      },
      pull: () => {
        begin()
        resume()
      },
      cancel: () => {
        isOpen = false
        resume()
      }
    },
    new ByteLengthQueuingStrategy({ highWaterMark: comfortable })
  )
  return {
    stream,
    push: async (bytes: Uint8Array): Promise<void> => {
      if (!isOpen) return
      controller?.enqueue(bytes)
      if ((controller?.desiredSize ?? 1) <= 0) {
        await new Promise<void>((resolve) => {
          resume = resolve
        })
      }
    },
    end: (error?: unknown): void => {
      if (!isOpen) return
      isOpen = false
      if (error === undefined) controller?.close()
      else controller?.error(error)
    }
  }
}

const makeProcess = (client: Client, workspaceagent: string, { id, pid }: Process, from: number): SandboxProcess => {
  const place = { workspaceagent, process: id }
  const one = `${root}/{process}`
  const detached = new AbortController()
  const absence = absenceOf(client, workspaceagent)
  let offset = from
  let socket: Socket | undefined
  /** Writers that wait for a connection. */
  const waiting: Array<{ readonly resolve: (socket: Socket) => void; readonly reject: (reason: unknown) => void }> = []
  let begun = false
  let over: AtelierError | undefined

  /** Reads frames until the end of the process or of the connection; answers whether it was the process's. */
  const readAll = async (open: Socket): Promise<boolean> => {
    for await (const message of open) {
      if (typeof message === "string") {
        const { offset: start, type }: { readonly type: string; readonly offset?: number } = JSON.parse(message)
        if (type === "exit") return true
        // Output that the agent no longer keeps is lost
        if (type === "start" && start !== undefined) offset = Math.max(offset, start)
        continue
      }
      const at = Number(new DataView(message.buffer, message.byteOffset).getBigUint64(1))
      const fresh = message.subarray(headLength + Math.max(0, offset - at))
      offset = Math.max(offset, at + message.length - headLength)
      if (fresh.length > 0) await (message[0] === stderrChannel ? stderr : stdout).push(fresh)
    }
    return false
  }

  /** Fails if the agent does not know the process any more: a WebSocket that is refused does not say why. */
  const known = async (signal: AbortSignal): Promise<void> => {
    try {
      await call(client, "GET", one, json, place, { signal })
    } catch (error) {
      if (!signal.aborted && !(await absence.isPassing(error, signal))) throw error
    }
  }

  const pump = async (): Promise<void> => {
    const { signal } = detached
    for (let attempt = 0; ;) {
      const before = offset
      try {
        socket = await openSocket(client, `${one}/stream`, { ...place, offset }, { signal })
        absence.end()
        for (const { resolve } of waiting.splice(0)) resolve(socket)
        if (await readAll(socket)) return
      } catch (error) {
        if (signal.aborted) return
        if (!isTransient(error)) throw error
        await known(signal)
      } finally {
        socket = undefined
      }
      if (offset > before) attempt = 0
      await sleep(usualDelay(attempt++), signal)
    }
  }

  const begin = (): void => {
    if (begun) return
    begun = true
    pump().then(
      () => finish(),
      (error: unknown) => finish(detached.signal.aborted ? undefined : error)
    )
  }
  const finish = (error?: unknown): void => {
    over ??= new AtelierError({ status: 0, message: "The process takes no more input.", cause: error })
    for (const { reject } of waiting.splice(0)) reject(over)
    stdout.end(error)
    stderr.end(error)
  }
  const stdout = outputOf(begin)
  const stderr = outputOf(begin)

  /** The connection that is open, or the next one. */
  const connected = async (): Promise<Socket> => {
    begin()
    if (over !== undefined) throw over
    if (socket !== undefined) return socket
    return new Promise<Socket>((resolve, reject) => void waiting.push({ resolve, reject }))
  }

  const stdin = new WritableStream<Uint8Array | string>({
    write: async (data) => {
      const open = await connected()
      open.send(frameOf(typeof data === "string" ? new TextEncoder().encode(data) : data))
      await open.flushed()
    },
    close: async () => (await connected()).send(JSON.stringify({ type: "close_stdin" }))
  })

  const command = (suffix: string, body: Input, options?: CallOptions): Promise<void> =>
    call(client, "POST", `${one}/${suffix}`, nothing, { ...place, body }, options)

  return {
    id,
    pid,
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    get offset() {
      return offset
    },
    wait: async (options) => {
      for (;;) {
        try {
          const input = { ...place, timeout_ms: waitTime }
          const { exit_code, signal, status } = await call<Process>(client, "GET", `${one}/wait`, json, input, options)
          absence.end()
          if (status === "exited") return { exitCode: exit_code, signal }
        } catch (error) {
          options?.signal?.throwIfAborted()
          if (!(await absence.isPassing(error, options?.signal))) throw error
          if (!(error instanceof AtelierError) || error.status !== 408) await sleep(usualDelay(0), options?.signal)
        }
      }
    },
    kill: (signal = "SIGTERM", options) => command("signal", { signal }, options),
    resize: (size, options) => command("resize", size, options),
    info: (options) => call(client, "GET", one, json, place, options),
    delete: async (options) => {
      await call(client, "DELETE", one, nothing, place, options)
      detached.abort()
    },
    detach: () => {
      detached.abort()
      finish()
    }
  }
}

export const spawn = async (
  client: Client,
  workspaceagent: string,
  command: Command,
  { cwd, env, pty, signal, stdin, timeout }: SpawnOptions = {}
): Promise<SandboxProcess> => {
  // Before the process begins: its caller could not reach its streams
  socketsOf(client)
  const body = { ...programOf(command), cwd, env, pty, stdin, timeout_ms: timeout }
  const process = await call<Process>(client, "POST", root, json, { workspaceagent, body }, { signal })
  return makeProcess(client, workspaceagent, process, process.output_start)
}

export const attach = async (
  client: Client,
  workspaceagent: string,
  id: string,
  { offset, ...options }: { readonly offset?: number } & CallOptions = {}
): Promise<SandboxProcess> => {
  const process = await call<Process>(client, "GET", `${root}/{process}`, json, { workspaceagent, process: id }, options)
  return makeProcess(client, workspaceagent, process, offset ?? process.output_start)
}
