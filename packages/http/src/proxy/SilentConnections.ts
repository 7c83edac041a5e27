/** Connections of a proxy to the service that lead nowhere any more, though neither side has closed them. */
import type { Socket } from "node:net"

/**
 * Watches connections. Whether the service answers at all is found out elsewhere: what is silent on one connection may be an app that has nothing to say.
 */
export class SilentConnections {
  readonly #open = new Set<Socket>()
  /** The connections that carry a request, and which: its end may be told after the next one has begun. */
  readonly #used = new Map<Socket, symbol>()
  /** How many bytes had arrived on a connection when the service did not answer. */
  #suspects: ReadonlyMap<Socket, number> = new Map()

  /** A connection carries a request, until the function that it returns is called. */
  use(socket: Socket): () => void {
    const request = Symbol()
    this.#used.set(socket, request)
    if (!this.#open.has(socket)) {
      this.#open.add(socket)
      socket.once("close", () => {
        this.#open.delete(socket)
        this.#used.delete(socket)
      })
    }
    return () => {
      if (this.#used.get(socket) === request) this.#used.delete(socket)
    }
  }

  /** The service did not answer. A connection that waits for a request is closed, so that the next request does not wait on it. */
  suspect(): void {
    for (const socket of this.#open) if (!this.#used.has(socket)) socket.destroy()
    if (this.#suspects.size === 0) this.#suspects = new Map([...this.#used.keys()].map((socket) => [socket, socket.bytesRead]))
  }

  /** The service answers again, or was asked twice in vain. A connection on which nothing has arrived since `suspect` is given up. */
  settle(): void {
    for (const [socket, bytesRead] of this.#suspects) if (socket.bytesRead === bytesRead) socket.destroy()
    this.#suspects = new Map()
  }
}
