/** What several listeners of a Node server's `upgrade` event have to agree on: Node calls each of them for each request. */
import { EventEmitter } from "node:events"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"

/**
 * Listener of a Node server's `upgrade` event. A request that is not for the service goes to `otherwise`. Without it, the request is left to the other
 * listeners of the server, and answered with 404 if there are none.
 */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer, otherwise?: () => void) => void

/** Milliseconds that other listeners have for the first byte of their answer. */
const patience = 30_000

/** The server of a connection, which Node's types do not describe. */
const serverOf = (socket: Duplex): EventEmitter | undefined => {
  const server: unknown = Reflect.get(socket, "server")
  return server instanceof EventEmitter ? server : undefined
}

/** Whether the connection's server has another listener of upgrades. */
export const areOn = (socket: Duplex): boolean => (serverOf(socket)?.listenerCount("upgrade") ?? 0) > 1

const writtenTo = (socket: Duplex): unknown => Reflect.get(socket, "bytesWritten")

/** It is no closure: one would keep the request for as long as the connection is open. */
function destroyFailed(this: Duplex): void {
  this.destroy()
}

/** Ends a connection when it fails. Node has taken its own listener away: without another one, a client that resets the connection would end the process. */
export const endFailed = (socket: Duplex): void => void socket.on("error", destroyFailed)

/**
 * Leaves a request to the other listeners. Its connection ends if none of them answers: Node closes only those of a server without listeners. A connection
 * that has been read from is another listener's, which may have answered before.
 */
export const leave = (socket: Duplex): void => {
  endFailed(socket)
  const before = writtenTo(socket)
  const isTaken = (): boolean => socket.readableFlowing !== null || writtenTo(socket) !== before
  const timer = setTimeout(() => void (isTaken() || socket.destroy()), patience)
  timer.unref()
  socket.once("close", () => clearTimeout(timer))
}

const taken = new WeakSet<IncomingMessage>()

/** Makes a listener of one that takes each request: `owns` says which of them are the service's. */
export const sharing =
  (owns: (request: IncomingMessage) => boolean, take: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): UpgradeHandler =>
  (request, socket, head, otherwise) => {
    if ((otherwise !== undefined || areOn(socket)) && !owns(request)) {
      if (otherwise === undefined) leave(socket)
      else otherwise()
      return
    }
    // Another service of this process, which listens too, may know the same path
    if (taken.has(request)) return
    taken.add(request)
    take(request, socket, head)
  }
