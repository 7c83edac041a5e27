/** Signs of life of the other side of a WebSocket. */
import type { Alarm, Alarms } from "@atelier/core/platform"
import { type Duration, Effect, type Scope } from "effect"
import { WebSocket } from "ws"
import type { Options } from "./WebSockets.js"

/** The event by which a WebSocket tells that a piece of a message has come past it. */
export const arrived = Symbol("arrived")

const nothing = (): void => undefined

/**
 * Asks the other side from time to time whether it is there, until the function that it returns is called. `lost` is called if nothing arrives then,
 * unless nothing is read here. While the other side reads nothing itself, it answers no ping, but sends its own pings.
 */
export const heartbeat = (
  alarms: Alarms,
  webSocket: WebSocket,
  { pingEvery = "15 seconds", pongWithin = "15 seconds" }: Options,
  lost: () => void
): (() => void) => (pingEvery === null ? nothing : beat(alarms, webSocket, { pingEvery, pongWithin }, lost))

const beat = (
  alarms: Alarms,
  webSocket: WebSocket,
  { pingEvery, pongWithin }: { readonly pingEvery: Duration.DurationInput; readonly pongWithin: Duration.DurationInput },
  lost: () => void
): (() => void) => {
  let pings = 0
  let isAsked = false
  const rest = (): Alarm => {
    isAsked = false
    return alarms.set(pingEvery, ask)
  }
  const ask = (): void => {
    isAsked = true
    alarm = alarms.set(pongWithin, () => {
      if (webSocket.isPaused) alarm = rest()
      else lost()
    })
    if (webSocket.readyState === WebSocket.OPEN) webSocket.ping(String(++pings))
  }
  const onSign = (): void => {
    if (!isAsked) return
    alarm.cancel()
    alarm = rest()
  }
  let alarm = rest()
  const signs = ["pong", "ping", "message", arrived] as const
  for (const sign of signs) webSocket.on(sign, onSign)
  return () => {
    alarm.cancel()
    for (const sign of signs) webSocket.off(sign, onSign)
  }
}

/** How processes of the deployment ask each other for signs of life: one whose network is gone is noticed within 15 seconds. */
export const betweenProcesses = { pingEvery: "5 seconds", pongWithin: "8 seconds" } as const satisfies Options

/** Ends a socket to another process that no longer says that it is there, as long as the scope is open. */
export const heartbeatScoped = (alarms: Alarms, webSocket: WebSocket): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.sync(() => heartbeat(alarms, webSocket, betweenProcesses, () => webSocket.terminate())),
      (rest) => Effect.sync(rest)
    )
  )
