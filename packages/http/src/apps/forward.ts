/** Sends a request on to an app beside an agent, and brings its answer back as it comes. agents-and-apps.md §19. */
import { AgentDialer } from "@atelier/core/network"
import { Clock, Context, Data, Effect, Scope } from "effect"
import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http"
import { type Duplex, finished, type Readable } from "node:stream"
import type { AppConnections, Kept } from "./AppConnections.js"
import { AppFailed, connection, failed, failureOf, opening, openingPlain, placeKey, type Reached } from "./appReach.js"
import type { PlainConnections } from "./PlainConnections.js"
import { plainExchange } from "./plainExchange.js"
import * as Continue from "../server/connection/Continue.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"

/** The client sends more than may be sent at once. */
export class TooLarge extends Data.TaggedError("TooLarge")<{ readonly message: string }> {}

/** Bytes of a request's body. */
const maximumBody = 4 * 1024 * 1024 * 1024

/** Bytes of the head of an answer. */
const maximumHead = 64 * 1024

export interface Exchange extends Reached {
  readonly method: string
  /** The path and the query as they are sent. */
  readonly path: string
  /** Names and values in turn, without those that frame the body. */
  readonly headers: ReadonlyArray<string>
  /** The client's request, whose body is sent on. */
  readonly body: NodeJS.ReadableStream & { readonly source?: IncomingMessage }
  /** Empty without a body. */
  readonly framing: { readonly length: number } | "chunked" | undefined
  /** The protocol that the client asks for. */
  readonly upgrade: string | undefined
  /** Aborted when the right to the app or the service ends: the exchange is interrupted, and its answer broken off. */
  readonly signal: AbortSignal
}

/** An app's answer, whose body comes as it is read. */
export interface AppResponse {
  readonly status: number
  /** Names and values in turn. */
  readonly rawHeaders: ReadonlyArray<string>
  readonly body: Readable
}

export type Answer =
  | { readonly _tag: "Response"; readonly response: AppResponse }
  | { readonly _tag: "Upgraded"; readonly response: AppResponse; readonly protocol: string; readonly socket: Duplex; readonly head: Buffer }

const responseOf = (body: IncomingMessage): AppResponse => ({ status: body.statusCode ?? 502, rawHeaders: body.rawHeaders, body })

/** Connections that are kept, to apps without TLS and with it. */
export interface KeptConnections {
  readonly plain: PlainConnections
  readonly secured: AppConnections
}

/** Methods of requests that have no body unless their head says otherwise. */
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE", "CONNECT"])

/** The lines of a head that say how its body ends. Node would frame the body of a POST that says nothing. */
export const framingLines = (method: string, framing: Exchange["framing"]): ReadonlyArray<string> => {
  if (framing === "chunked") return ["Transfer-Encoding", "chunked"]
  const length = framing?.length ?? (bodiless.has(method) ? undefined : 0)
  return length === undefined ? [] : ["Content-Length", String(length)]
}

/** Sends the client's body on, no faster than the app takes it. More than its length would be read as another request. */
const sendBody = ({ body, framing }: Exchange, to: ClientRequest, tooLarge: () => void): void => {
  const most = typeof framing === "object" ? framing.length : maximumBody
  let size = 0
  body.on("data", (chunk: Uint8Array) => {
    size += chunk.length
    if (size > most) tooLarge()
  })
  // A body that breaks off is no whole one, and its error has to have a listener
  finished(body, { writable: false }, (error) => {
    if (error) to.destroy(cutOff)
  })
  if (body.source !== undefined) Continue.send(body.source)
  body.pipe(to)
}

const cutOff = failed("The request ended before its body did.")

const tooLarge = new TooLarge({ message: `A request may have at most ${maximumBody / 1024 ** 3} GiB.` })

/** Interrupts once a signal is aborted. */
const untilAborted = (signal: AbortSignal): Effect.Effect<never> =>
  Effect.async<void>((resume) => {
    const over = (): void => resume(Effect.void)
    if (signal.aborted) return over()
    signal.addEventListener("abort", over)
    return Effect.sync(() => signal.removeEventListener("abort", over))
  }).pipe(Effect.zipRight(Effect.interrupt))

/** Methods of requests that may be sent twice (RFC 9110 §9.2.1). */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/** How often a request is sent again after a kept connection has ended under it. */
const maximumRepeats = 2

/**
 * Sends a request to an app and waits for the head of its answer. A request that may be sent twice, and has no body, may use the
 * connection of an earlier one; the connection of another ends with the scope. Fails with `AppFailed` if there is no answer, and with `TooLarge` for a body that may not be sent.
 */
export const exchange = (
  asked: Exchange,
  connections: KeptConnections
): Effect.Effect<Answer, AppFailed | TooLarge, AgentDialer | Heartbeat | Scope.Scope> =>
  Effect.suspend(() => {
    const { framing, method, signal, target, upgrade, url } = asked
    if (typeof framing === "object" && framing.length > maximumBody) return tooLarge
    // A kept connection is opened by a fiber of its own, in a scope of its own
    if (framing === undefined && upgrade === undefined && safeMethods.has(method)) {
      return Effect.flatMap(Heartbeat, (heartbeat) =>
        Effect.withFiberRuntime<Answer, AppFailed | TooLarge, Scope.Scope>(({ currentContext, currentDefaultServices }) => {
          const surroundings = {
            dialer: Context.get(currentContext, AgentDialer),
            heartbeat,
            info: Context.get(currentContext, CurrentRequest),
            clock: Context.get(currentDefaultServices, Clock.Clock)
          }
          const [agent_id, key] = [target.agent_id, placeKey(asked)]
          if (url.protocol === "http:")
            return plainExchange(asked, connections.plain, { agentId: agent_id, key, open: openingPlain(asked, surroundings) })
          const way = { agent: connections.secured, agent_id, key, open: opening(asked, surroundings) }
          return sent(asked, way, ["Connection", "keep-alive"])
        })
      )
    }
    const connectionLines = upgrade !== undefined ? ["Connection", "Upgrade", "Upgrade", upgrade] : ["Connection", "close"]
    return Effect.flatMap(Effect.raceFirst(connection(asked), untilAborted(signal)), (socket) =>
      sent(asked, { createConnection: () => socket }, connectionLines)
    )
  })

/** Sends the request on its way, and again where a kept connection has ended under it. */
const sent = (asked: Exchange, way: RequestOptions | Kept, connectionLines: ReadonlyArray<string>) => {
  const { framing, headers, method, path, signal } = asked
  const framed = framingLines(method, framing)
  const attempt = (repeats: number): Effect.Effect<Answer, AppFailed | TooLarge, Scope.Scope> =>
    Effect.async<Effect.Effect<Answer, AppFailed | TooLarge, Scope.Scope>>((resume) => {
      if (signal.aborted) return resume(Effect.succeed(Effect.interrupt))
      const leaving = new AbortController()
      const request = httpRequest({
        ...("open" in way ? { ...way, open: Effect.raceFirst(way.open, untilAborted(leaving.signal)) } : way),
        method,
        path,
        headers: [...headers, ...framed, ...connectionLines],
        setHost: false,
        maxHeaderSize: maximumHead
      })
      let delivered: IncomingMessage | undefined
      const abort = (): void => {
        // First: a request that is destroyed lets its response end as if it were whole
        delivered?.destroy(new Error("The exchange has been ended."))
        leaving.abort()
        request.destroy()
        // A request that waits for its connection says nothing when it is destroyed
        resume(Effect.succeed(Effect.interrupt))
      }
      signal.addEventListener("abort", abort)
      // A response gives its connection back once it has been read to its end, even where it has no body, as one to HEAD
      const over = (response: IncomingMessage): void => {
        signal.removeEventListener("abort", abort)
        if (!response.complete) request.destroy()
        else if (!response.readableEnded) response.resume()
      }
      const answered = (answer: Answer, response: IncomingMessage): void =>
        resume(
          Effect.succeed(
            Effect.flatMap(Effect.scope, (scope) => {
              const ending = Effect.sync(() => over(response))
              return Effect.as(Scope.addFinalizer(scope, ending), answer)
            })
          )
        )
      // The listener stays: what happens after the answer ends the answer
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (signal.aborted) return resume(Effect.succeed(Effect.interrupt))
        const isStale = request.reusedSocket && error.code === "ECONNRESET" && repeats < maximumRepeats
        resume(Effect.succeed(isStale ? attempt(repeats + 1) : Effect.fail(error instanceof AppFailed ? error : failureOf(error))))
      })
      request.on("response", (response) => {
        delivered = response
        answered({ _tag: "Response", response: responseOf(response) }, response)
      })
      request.on("upgrade", (response, socket: Duplex, head) => {
        // Node has taken its own listener off, and an error before the bridge would end the process. One of TLS leaves the connection open
        socket.on("error", () => void socket.destroy())
        // An open connection keeps nothing of the exchange. It ends with its scope, and its bridge with the signal
        signal.removeEventListener("abort", abort)
        const protocol = response.headers.upgrade ?? ""
        const answer: Answer = { _tag: "Upgraded", response: responseOf(response), protocol, socket, head }
        resume(Effect.succeed(Effect.succeed(answer)))
      })
      if (framing === undefined) request.end()
      else sendBody(asked, request, () => void (resume(Effect.succeed(tooLarge)), request.destroy()))
      return Effect.sync(abort)
    }).pipe(Effect.flatten)
  return attempt(0)
}
