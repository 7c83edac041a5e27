/** Signs of life of the other side of a WebSocket. */
import type { Alarm, Alarms } from "@atelier/core/platform"
import { type Duration, Effect, type Scope } from "effect"
import { WebSocket } from "ws"
import { PromptWebSocket, signs } from "./PromptWebSocket.js"
import type { Options } from "./WebSockets.js"

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
): (() => void) => {
  if (pingEvery === null) return nothing
  const beat = new Beat(alarms, webSocket, pingEvery, pongWithin, lost)
  const onSign = (): void => beat.onSign()
  if (webSocket instanceof PromptWebSocket) webSocket.onSign = onSign
  else for (const sign of signs) webSocket.on(sign, onSign)
  return () => {
    beat.end()
    if (webSocket instanceof PromptWebSocket) webSocket.onSign = undefined
    else for (const sign of signs) webSocket.off(sign, onSign)
  }
}

/** Asks at whole parts of its period, together with others: to wake for each of a thousand sockets takes more than to ask it. */
class Beat {
  private pings = 0
  private readonly asks: Alarm
  /** There while the other side is asked. */
  private losing: Alarm | undefined = undefined

  constructor(
    private readonly alarms: Alarms,
    private readonly webSocket: WebSocket,
    pingEvery: Duration.DurationInput,
    private readonly pongWithin: Duration.DurationInput,
    private readonly lost: () => void
  ) {
    this.asks = alarms.repeat(pingEvery, () => this.ask())
  }

  private ask(): void {
    const { webSocket } = this
    if (this.losing !== undefined) return
    this.losing = this.alarms.set(this.pongWithin, () => {
      this.losing = undefined
      if (!webSocket.isPaused) this.lost()
    })
    if (webSocket.readyState === WebSocket.OPEN) webSocket.ping(String(++this.pings))
  }

  onSign(): void {
    this.losing?.cancel()
    this.losing = undefined
  }

  end(): void {
    this.asks.cancel()
    this.losing?.cancel()
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
