/** Requests that ask for another protocol, and what is left of them when their endpoint takes it up. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/** The raw connection behind a request that may be upgraded. */
export interface Upgradeable {
  readonly socket: Duplex
  /** What the client sent behind the request's head already. */
  readonly head: Buffer
  readonly response: ServerResponse
}

const upgradeables = new WeakMap<IncomingMessage, Upgradeable>()

/** Remembers the connection of a request for its endpoint. */
export const offer = (message: IncomingMessage, upgradeable: Upgradeable): void => {
  upgradeables.set(message, upgradeable)
}

/**
 * Takes the connection out of HTTP: nothing else will be written to it by the response. Undefined for a request that did not ask, or
 * whose connection is taken or gone.
 */
export const take = (message: IncomingMessage): Upgradeable | undefined => {
  const upgradeable = upgradeables.get(message)
  if (upgradeable === undefined || upgradeable.socket.destroyed || upgradeable.response.headersSent) return undefined
  upgradeables.delete(message)
  return upgradeable
}
