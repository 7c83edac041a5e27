/** The responses of a server that are under way, by the connections they are sent on. */
import type { ServerResponse } from "node:http"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"

interface Sending {
  readonly response: ServerResponse
  /** Whether the connection may leave HTTP with it. */
  readonly isUpgrade: boolean
  /** When the client was last seen to read, in milliseconds. */
  since: number
}

interface Connection {
  /** Replaced as a whole: an array that grows has room for 16 more, and most connections send one response at a time. */
  sent: ReadonlyArray<Sending>
  readonly forget: () => void
}

const none: ReadonlyArray<Sending> = []

export interface UnderWay {
  /** Follows a response to its end, or to that of its connection, and calls `closed` then. */
  readonly add: (socket: Duplex, response: ServerResponse, isUpgrade: boolean, closed: () => void) => void
  /** Follows a response no longer: its connection has left HTTP. */
  readonly leave: (socket: Duplex, response: ServerResponse) => void
  /** Calls a function for each response. */
  readonly forEach: (use: (response: ServerResponse) => void) => void
  /** Ends the responses that their clients have left unread for so many milliseconds. */
  readonly endStalled: (timeout: number) => void
}

/** Lets a response finish that its connection ended before. `isOfServer` tells that a server of Node's made it. */
const finishWithConnection = (response: ServerResponse, isOfServer: boolean): void => {
  if (!response.writableEnded || response.writableFinished) return
  // Node's own is the first, and would look for the connection
  const [own] = isOfServer ? response.listeners("finish") : []
  if (own !== undefined) response.off("finish", own as () => void)
  response.emit("finish")
}

/**
 * An empty list of responses. They are kept in one short array for each connection: a Map or Set that gains and loses a member with each request
 * makes V8 keep much of the requests until its next full collection, which took a tenth of the processor's time.
 */
export const make = (): UnderWay => {
  const connections = new Map<Duplex, Connection>()
  const of = (socket: Duplex): Connection => {
    const known = connections.get(socket)
    if (known !== undefined) return known
    const closed = (): void => {
      connections.delete(socket)
      // Node drops responses that wait behind another one (pipelining, RFC 9112 §9.3.2) without an event: their fibers would wait for ever
      const dropped = made.sent.filter(({ isUpgrade, response }) => !isUpgrade && response.socket === null && !response.writableFinished)
      for (const { response } of dropped) response.emit("close")
    }
    // `once` would keep a state of its own for each connection that is open for long
    socket.on("close", closed)
    const made: Connection = { sent: none, forget: () => void (connections.delete(socket), socket.off("close", closed)) }
    connections.set(socket, made)
    return made
  }
  return {
    add: (socket, response, isUpgrade, closed) => {
      const connection = of(socket)
      const sending = { response, isUpgrade, since: performance.now() }
      connection.sent = connection.sent.length === 0 ? [sending] : [...connection.sent, sending]
      // A host that made the response itself may listen to its end later
      const isOfServer = response.listenerCount("finish") > 0
      // One listener for all of it: each takes a share of every small request
      response.on("close", () => {
        // It has left HTTP, or closed before
        if (!connection.sent.includes(sending)) return
        connection.sent = connection.sent.length === 1 ? none : connection.sent.filter((other) => other !== sending)
        // A host may make up a socket for each request, and never close it
        if (connection.sent.length === 0 && !(socket instanceof Socket)) connection.forget()
        if (!isUpgrade) finishWithConnection(response, isOfServer)
        closed()
      })
    },
    leave: (socket, response) => {
      const known = connections.get(socket)
      if (known === undefined) return
      known.sent = known.sent.filter((sending) => sending.response !== response)
      if (known.sent.length === 0) known.forget()
    },
    forEach: (use) => {
      for (const { sent } of connections.values()) for (const { response } of sent) use(response)
    },
    endStalled: (timeout) => {
      const now = performance.now()
      for (const sending of [...connections.values()].flatMap(({ sent }) => sent)) {
        const { response, since } = sending
        const waits = response.socket !== null && (response.writableNeedDrain || (response.writableEnded && !response.writableFinished))
        if (!waits) sending.since = now
        else if (now - since > timeout) response.destroy()
      }
    }
  }
}
