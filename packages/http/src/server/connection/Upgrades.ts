/** Requests that ask for another protocol, and what is left of them when their endpoint takes it up. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/** A connection on which HTTP may end. */
export interface Upgradeable {
  readonly socket: Duplex
  /** Bytes that the client sent behind the request's head. */
  readonly head: Buffer
  readonly response: ServerResponse
  /** Called when the connection is taken: the response no longer counts. Returns what tells that the connection is over. */
  readonly taken: () => () => void
}

const upgradeables = new WeakMap<IncomingMessage, Upgradeable>()

/** Remembers the connection of a request for its endpoint. */
export const offer = (message: IncomingMessage, upgradeable: Upgradeable): void => {
  upgradeables.set(message, upgradeable)
}

/** Whether the connection of a request can still be taken. */
export const isOffered = (message: IncomingMessage): boolean => upgradeables.has(message)

/**
 * Takes the connection out of HTTP: the response counts as ended, and the endpoint sends its own bytes. Undefined for a request without an
 * upgrade, or with a taken or closed connection. The endpoint calls `release` when it has finished.
 */
export const take = (
  message: IncomingMessage
): { readonly socket: Duplex; readonly head: Buffer; readonly release: () => void } | undefined => {
  const upgradeable = upgradeables.get(message)
  if (upgradeable === undefined) return undefined
  upgradeables.delete(message)
  const { head, response, socket, taken } = upgradeable
  if (socket.destroyed || response.headersSent) return undefined
  response.removeAllListeners("finish")
  if (response.socket !== null) response.detachSocket(response.socket)
  response.end()
  // A connection that is open for days keeps neither the response nor its request
  return { socket, head, release: taken() }
}
