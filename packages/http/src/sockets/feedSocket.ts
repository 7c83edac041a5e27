/** WebSockets that only tell: they send the values of a feed, and take no fiber while it waits. */
import type { Alarms } from "@atelier/core/platform"
import { Feed } from "@atelier/core/platform"
import { type Duration, Effect, Exit, Runtime, type Stream } from "effect"
import type { WebSocket } from "ws"
import type { Draining } from "../server/operate/Draining.js"
import type { StoreFaults } from "../server/operate/StoreFaults.js"
import { CloseSocket, closeWith, SocketClosed } from "./closing.js"
import { heartbeat } from "./heartbeat.js"
import type { BegunStream } from "./openStream.js"
import { sender } from "./sender.js"
import { closing } from "./upgrade.js"

/** What may end every socket, and tell why. */
export interface House {
  readonly draining: Draining["Type"]
  readonly faults: StoreFaults["Type"]
  readonly heartbeats: Alarms
}

/** What a socket tells. */
export interface Telling<A, E> {
  readonly values: Stream.Stream<A, E>
  readonly messageOf: (value: A) => string
  /** How the socket is closed when there are no more values; with 1000 otherwise. */
  readonly last?: CloseSocket
  /** How a client that sends anything is closed. */
  readonly oneWay: { readonly code: 1002 | 1008; readonly reason: string }
}

/** How a socket lives. */
export interface Options {
  readonly pingEvery?: Duration.DurationInput | null
  readonly pongWithin?: Duration.DurationInput
  readonly sendWithin?: Duration.DurationInput
}

/** Sends the values until there are no more, the right ends, the client goes or sends anything, or the service ends. Then closes the socket and calls `release`. */
export const tell = <A, E>(
  { release, webSocket }: { readonly webSocket: WebSocket; readonly release: () => void },
  begun: BegunStream,
  { last, messageOf, oneWay, values }: Telling<A, E>,
  { draining, faults, heartbeats }: House,
  runtime: Runtime.Runtime<never>,
  options: Options
): void => {
  let isOver = false
  let leave = (): void => undefined
  let rest = leave
  let stop = leave
  const finish = (exit: Exit.Exit<void, unknown>): void => {
    if (isOver) return
    isOver = true
    stop()
    leave()
    rest()
    begun.leave()
    Runtime.runFork(runtime)(Effect.ensuring(closeWith(webSocket, exit, faults), Effect.sync(release)))
  }
  const close = (code: number, reason: string) => (): void => finish(Exit.fail(new CloseSocket({ code, reason })))
  const closed = (code: number, reason: Buffer): void => finish(Exit.fail(new SocketClosed({ code, reason: reason.toString("utf8") })))
  webSocket.on("message", close(oneWay.code, oneWay.reason))
  // A broken frame: the socket is closed with the code that fits, and its close is reported below
  webSocket.on("error", () => {})
  webSocket.on(closing, closed)
  webSocket.on("close", closed)
  if (webSocket.isPaused) webSocket.resume()
  const send = sender(webSocket, options.sendWithin)
  stop = Feed.attend(
    values,
    runtime,
    (value) => send(messageOf(value)),
    (exit) => finish(Exit.isSuccess(exit) && last !== undefined ? Exit.fail(last) : exit)
  )
  rest = heartbeat(heartbeats, webSocket, options, close(1001, "liveness probe failed"))
  begun.take(({ message }) => close(1008, message)())
  if (!isOver) leave = draining.onBegin(close(1012, "The service is restarting."))
}
