/** The Docker daemon of Terraform's containers, as it is asked: each call has a bound. Docker Engine API 1.41. */
import { Duration, Effect } from "effect"
import { request, type IncomingMessage } from "node:http"
import { CommandError } from "./Command.js"

/** How long the daemon may take to answer a call. */
export const callTime = Duration.seconds(30)

/** Bytes of an answer that are kept. */
const maximumAnswer = 1024 * 1024

/** What is at a path of an answer. */
export const field = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, name) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, name) : undefined), value)

export const numberAt = (value: unknown, ...path: ReadonlyArray<string>): number => Number(field(value, ...path) ?? 0)

export interface Ask {
  readonly method: "GET" | "POST" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export const textOf = async (response: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of response) {
    size += (chunk as Buffer).length
    if (size > maximumAnswer) throw new Error("its answer is too long")
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString()
}

export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends a request to the daemon, and answers once it begins to answer. */
export const opened = (socketPath: string, { body, method, path, query = {} }: Ask, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((answer, fail) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const search = new URLSearchParams(query).toString()
    const sent = request(
      {
        socketPath,
        method,
        path: `/v1.41${path}${search === "" ? "" : `?${search}`}`,
        headers: { Host: "docker", ...(bytes === undefined ? {} : { "Content-Type": "application/json", "Content-Length": bytes.length }) },
        agent: false,
        signal
      },
      answer
    )
    sent.once("error", fail)
    sent.end(bytes)
  })

/** Calls of the daemon at a socket. */
export const callsOf = (socketPath: string) => {
  const tried = <A>(what: string, run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, CommandError> =>
    Effect.tryPromise({
      try: run,
      catch: (cause) => new CommandError({ message: `${what}: ${cause instanceof Error ? cause.message : String(cause)}` })
    })

  /** Gives up what the daemon does not answer in time, also where the caller cannot be interrupted. */
  const bounded = <A>(what: string, run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, CommandError> =>
    tried(what, run).pipe(
      // A bound waits for what it interrupts
      Effect.interruptible,
      Effect.timeoutFail({
        duration: callTime,
        onTimeout: () => new CommandError({ message: `${what}: the Docker daemon has not answered within ${Duration.format(callTime)}` })
      })
    )

  /** Calls the daemon, and returns its answer. */
  const called = (what: string, ask: Ask): Effect.Effect<unknown, CommandError> =>
    bounded(what, async (signal) => {
      const response = await opened(socketPath, ask, signal)
      const text = await textOf(response)
      const status = response.statusCode ?? 0
      if (status >= 300 && status !== 304) throw new Error(String(field(jsonIn(text), "message") ?? `the Docker daemon answers ${status}`))
      return jsonIn(text)
    })

  return { bounded, called }
}

export type Calls = ReturnType<typeof callsOf>
