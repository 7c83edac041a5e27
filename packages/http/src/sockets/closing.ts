/** How WebSockets are closed. */
import { Cause, Data, Effect, Exit } from "effect"
import { WebSocket } from "ws"
import { isRefusal } from "../wire/errors.js"
import type { StoreFaults } from "../server/operate/StoreFaults.js"

/** The client has gone, or was told to go. */
export class SocketClosed extends Data.TaggedError("SocketClosed")<{ readonly code: number; readonly reason: string }> {
  override get message(): string {
    return `The WebSocket was closed with ${this.code}${this.reason === "" ? "" : `: ${this.reason}`}`
  }
}

/** Ends a socket from within its handler with a code of the protocol (RFC 6455 §7.4). */
export class CloseSocket extends Data.TaggedError("CloseSocket")<{ readonly code: number; readonly reason: string }> {}

/** How long a client may take to answer a close, in milliseconds. */
const closeTimeout = 3_000

/** Characters of a close's reason: at most 123 bytes (RFC 6455 §5.5). */
const truncated = (reason: string): string => {
  const bytes = Buffer.from(reason, "utf8").subarray(0, 123)
  // A character that was cut in two decodes to U+FFFD, which is longer than what is left of it
  return bytes.toString("utf8").replace(/\uFFFD+$/u, "")
}

/** Closes the socket as its handler ended, and waits until the client has answered. */
export const closeWith = (webSocket: WebSocket, exit: Exit.Exit<void, unknown>, faults: StoreFaults["Type"]): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (webSocket.readyState === WebSocket.CLOSED) return
    const { code, reason } = yield* closeOf(exit, faults)
    yield* Effect.async<void>((resume) => {
      const timer = setTimeout(() => webSocket.terminate(), closeTimeout)
      webSocket.resume()
      webSocket.once("close", () => {
        clearTimeout(timer)
        resume(Effect.void)
      })
      webSocket.close(code, truncated(reason))
    })
  })

/** A client whose socket the store's absence has closed may try again later (1013). */
const closeOf = (
  exit: Exit.Exit<void, unknown>,
  faults: StoreFaults["Type"]
): Effect.Effect<{ readonly code: number; readonly reason: string }> => {
  if (Exit.isSuccess(exit)) return Effect.succeed({ code: 1000, reason: "" })
  const error = Cause.squash(exit.cause)
  if (error instanceof CloseSocket) return Effect.succeed({ code: error.code, reason: error.reason })
  // Codes below 1000 and 1005 ff. are never sent; the client that caused one is gone
  if (error instanceof SocketClosed) return Effect.succeed({ code: 1011, reason: "" })
  if (isRefusal(error)) return Effect.succeed({ code: 1011, reason: error.message })
  return Effect.map(faults.refusalOf(exit.cause, "a WebSocket's handler failed"), ({ _tag, message }) => ({
    code: _tag === "InternalError" ? 1011 : 1013,
    reason: message
  }))
}
