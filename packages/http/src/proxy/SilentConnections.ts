/** Connections of a proxy to the service that lead nowhere any more, though neither side has closed them. */
import type { Socket } from "node:net"

/** What had arrived on a connection at an instant, in milliseconds of a clock that only goes forward. */
interface Noted {
  bytesRead: number
  at: number
}

/**
 * Watches connections. Another part finds out whether the service answers at all: one silent connection may be that of an app with nothing to say.
 */
export class SilentConnections {
  readonly #open = new Set<Socket>()
  /** The connections that carry a request, with what had arrived on them when that or the last question began. */
  readonly #used = new Map<Socket, Noted>()

  /** `silentFor` is the time in milliseconds without a byte after which a connection may count as silent. */
  constructor(readonly silentFor: number) {}

  /** A connection carries a request, until the function that this returns is called. */
  use(socket: Socket): () => void {
    const noted = { bytesRead: socket.bytesRead, at: performance.now() }
    this.#used.set(socket, noted)
    if (!this.#open.has(socket)) {
      this.#open.add(socket)
      socket.once("close", () => {
        this.#open.delete(socket)
        this.#used.delete(socket)
      })
    }
    return () => {
      // It may carry the next one
      if (this.#used.get(socket) === noted) this.#used.delete(socket)
    }
  }

  /** The service is asked. */
  asked(): void {
    const at = performance.now()
    for (const [socket, noted] of this.#used) Object.assign(noted, { bytesRead: socket.bytesRead, at })
  }

  /** The service has not answered in time. A connection that waits for a request is closed, so that the next request does not wait on it. */
  suspect(): void {
    for (const socket of this.#open) if (!this.#used.has(socket)) socket.destroy()
  }

  /**
   * The connections lead nowhere. Those that carried a request before an instant are given up as soon as nothing has arrived on them for as long as
   * `silentFor` says.
   */
  giveUp(before: number): void {
    const now = performance.now()
    for (const [socket, { at, bytesRead }] of this.#used) {
      if (at > before) continue
      const judge = (): void => {
        if (socket.bytesRead === bytesRead) socket.destroy()
      }
      const left = at + this.silentFor - now
      if (left <= 0) judge()
      else setTimeout(judge, left).unref()
    }
  }
}
