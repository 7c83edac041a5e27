import { Duration, Effect } from "effect"
import type { WebSocket } from "ws"
import { SocketClosed } from "./closing.js"

const tooSlow = "The client takes too long to receive."

/** Returns what sends a message, and completes when the client has taken so much that more may follow. A client that takes too long is let go. */
export const sender = (webSocket: WebSocket, sendWithin: Duration.DurationInput = "10 seconds") => {
  const timeout = Duration.toMillis(sendWithin)
  return (message: string | Uint8Array): Effect.Effect<void, SocketClosed> =>
    Effect.async<void, SocketClosed>((resume) => {
      const timer = setTimeout(() => {
        webSocket.close(1011, tooSlow)
        resume(new SocketClosed({ code: 1011, reason: tooSlow }))
      }, timeout)
      webSocket.send(message, (error) => {
        clearTimeout(timer)
        resume(error ? new SocketClosed({ code: 1006, reason: error.message }) : Effect.void)
      })
    })
}
