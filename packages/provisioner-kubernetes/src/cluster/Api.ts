/** Calls of the cluster's API: each has a bound, can be interrupted, and goes slower when the cluster asks for it. */
import { Clock, Duration, Effect, Option, Ref, Schedule, Stream } from "effect"
import * as http from "node:http"
import * as https from "node:https"
import { ClusterError, refusalOf, silence } from "./ClusterError.js"
import type { Connection } from "./Connection.js"

export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json | undefined }

export interface Call {
  /** What the call is for, in words that continue "the cluster refused to". */
  readonly doing: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  /** The form of a body that is a patch. */
  readonly contentType?: string
}

export interface Api {
  /** Returns the answer. Fails after 30 seconds without one, or when the cluster has been too busy for 20 seconds. */
  readonly call: (call: Call) => Effect.Effect<unknown, ClusterError>
  /** The lines of an answer that goes on, such as a watch or a followed log. `within` bounds its length in time. */
  readonly lines: (call: Omit<Call, "method" | "body">, within: Duration.DurationInput) => Stream.Stream<string, ClusterError>
}

/** How long the cluster may take for an answer, and for the beginning of one that goes on. */
const longestAnswer = Duration.seconds(30)

/** How long a call is tried again when the cluster is busy, or cannot be reached. */
const patience = Duration.seconds(20)

/** Bytes of an answer, and of a line of one that goes on. An object has at most 1.5 MB in the store of a cluster. */
const maximumAnswer = 64 * 1024 * 1024
const maximumLine = 4 * 1024 * 1024
const maximumRefusal = 64 * 1024

/** Seconds after which the cluster asks to be called again; undefined if it does not ask. */
const retryAfter = ({ headers, statusCode }: http.IncomingMessage): number | undefined => {
  if (statusCode !== 429 && statusCode !== 503) return undefined
  const seconds = Number(headers["retry-after"] ?? 1)
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0.2), 10) : 1
}

type Outcome = { readonly _tag: "Answer"; readonly response: http.IncomingMessage } | { readonly _tag: "Busy"; readonly seconds: number }

/** Reads an answer whole. Destroys it at the bound. */
const textOf = (doing: string, response: http.IncomingMessage, maximum: number): Effect.Effect<string, ClusterError> =>
  Effect.async<string, ClusterError>((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    response.on("data", (chunk: Buffer) => {
      size += chunk.byteLength
      if (size <= maximum) chunks.push(chunk)
      else response.destroy(new Error(`its answer has more than ${maximum} bytes`))
    })
    response.on("end", () => resume(Effect.succeed(Buffer.concat(chunks).toString())))
    response.on("error", (error) => resume(silence(doing, error.message)))
    response.on("close", () => resume(silence(doing, "the connection was lost")))
    return Effect.sync(() => response.destroy())
  })

/** The next bytes of an answer; fails with None at its end. */
const pull = (doing: string, response: http.IncomingMessage): Effect.Effect<Buffer, Option.Option<ClusterError>> =>
  Effect.async<Buffer, Option.Option<ClusterError>>((resume) => {
    const done = (result: Effect.Effect<Buffer, Option.Option<ClusterError>>) => {
      forget()
      resume(result)
    }
    const read = () => {
      const chunk: Buffer | null = response.read()
      if (chunk !== null) done(Effect.succeed(chunk))
      else if (response.readableEnded) done(Effect.fail(Option.none()))
      else if (response.destroyed) done(Effect.fail(Option.some(silence(doing, response.errored?.message ?? "the connection was lost"))))
    }
    const events = ["readable", "end", "error", "close"]
    const forget = () => {
      for (const event of events) response.off(event, read)
    }
    for (const event of events) response.on(event, read)
    read()
    return Effect.sync(forget)
  })

/** Cuts a text that comes in pieces into lines. The rest without an end is a line too. */
const linesOf = (doing: string, response: http.IncomingMessage): Stream.Stream<string, ClusterError> =>
  Stream.suspend(() => {
    const decoder = new TextDecoder()
    let rest = ""
    // An answer that is given up ends with an error that has no reader
    response.on("error", () => {})
    return Stream.repeatEffectOption(pull(doing, response)).pipe(
      Stream.mapEffect((chunk) => {
        const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n")
        rest = parts.pop() ?? ""
        return rest.length > maximumLine ? silence(doing, `a line has more than ${maximumLine} characters`) : Effect.succeed(parts)
      }),
      Stream.flattenIterables,
      Stream.concat(Stream.suspend(() => (rest === "" ? Stream.empty : Stream.make(rest))))
    )
  })

export const makeApi = (connection: Connection): Api => {
  const send = ({ body, contentType, doing, method, path, query = {} }: Call): Effect.Effect<Outcome, ClusterError> =>
    Effect.flatMap(connection.access, ({ agent, headers, server }) =>
      Effect.async<Outcome, ClusterError>((resume) => {
        const url = new URL(server)
        url.pathname = `${server.pathname.replace(/\/$/, "")}${path}`
        for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
        const text = body === undefined ? undefined : JSON.stringify(body)
        const given =
          text === undefined ? {} : { "content-type": contentType ?? "application/json", "content-length": Buffer.byteLength(text) }
        const request = (server.protocol === "http:" ? http : https).request(url, {
          method,
          agent,
          headers: { accept: "application/json", ...headers, ...given }
        })
        request.on("response", (response) => {
          const seconds = retryAfter(response)
          if (seconds === undefined) return resume(Effect.succeed({ _tag: "Answer", response }))
          response.resume()
          resume(Effect.succeed({ _tag: "Busy", seconds }))
        })
        request.on("socket", (socket) => socket.setKeepAlive(true, 30_000))
        request.on("error", (error) => resume(silence(doing, error.message)))
        request.end(text)
        return Effect.sync(() => request.destroy())
      })
    )

  /** Opens an answer, again while the cluster is busy or away. */
  const open = (call: Call): Effect.Effect<http.IncomingMessage, ClusterError> =>
    Effect.gen(function* () {
      const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(patience)
      const hasRenewed = yield* Ref.make(false)
      const once: Effect.Effect<Option.Option<http.IncomingMessage>, ClusterError> = Effect.gen(function* () {
        const outcome = yield* send(call)
        if (outcome._tag === "Busy") {
          if ((yield* Clock.currentTimeMillis) + outcome.seconds * 1000 > until)
            return yield* new ClusterError({ message: `the cluster was too busy to ${call.doing}`, status: 429, reason: "TooManyRequests" })
          yield* Effect.sleep(Duration.seconds(outcome.seconds))
          return Option.none()
        }
        const { statusCode = 0 } = outcome.response
        if (statusCode < 300) return Option.some(outcome.response)
        const refusal = refusalOf(call.doing, statusCode, yield* textOf(call.doing, outcome.response, maximumRefusal))
        if (statusCode !== 401 || (yield* Ref.getAndSet(hasRenewed, true))) return yield* refusal
        yield* connection.renew
        return Option.none()
      })
      const away = Schedule.exponential("100 millis", 2).pipe(
        Schedule.union(Schedule.spaced("3 seconds")),
        Schedule.whileInput((error: ClusterError) => error.status === 0),
        Schedule.upTo(patience)
      )
      for (;;) {
        const answer = yield* Effect.retry(once, away)
        if (Option.isSome(answer)) return answer.value
      }
    })

  const bounded = <A>(doing: string, effect: Effect.Effect<A, ClusterError>) =>
    // A bound waits for what it interrupts, and the caller may be in a region that cannot be
    Effect.timeoutFail(Effect.interruptible(effect), {
      duration: longestAnswer,
      onTimeout: () => silence(doing, `no answer within ${Duration.toSeconds(longestAnswer)} seconds`)
    })

  return {
    call: (call) =>
      bounded(
        call.doing,
        Effect.flatMap(open(call), (response) => textOf(call.doing, response, maximumAnswer))
      ).pipe(
        Effect.flatMap((text) =>
          Effect.try({ try: (): unknown => JSON.parse(text), catch: () => silence(call.doing, "its answer is not JSON") })
        )
      ),
    lines: (call, within) =>
      Stream.unwrapScoped(
        Effect.map(
          Effect.acquireRelease(Effect.interruptible(bounded(call.doing, open({ ...call, method: "GET" }))), (response) =>
            Effect.sync(() => response.destroy())
          ),
          (response) => linesOf(call.doing, response)
        )
      ).pipe(Stream.interruptAfter(within))
  }
}
