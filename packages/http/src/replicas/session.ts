/** The session by which a process has streams to an agent of another process. agents-and-apps.md §17. */
import { Session } from "@atelier/agent-protocol"
import { maximumStreams } from "@atelier/core/network"
import type { Effect, Scope } from "effect"
import { byteSocketOf } from "../sockets/byteStream.js"
import type { Connection } from "../sockets/Connection.js"

/** Bytes that a stream may bring before any are read. */
const windowBytes = 256 * 1024

/**
 * Streams of a process to an agent: those that the agent may have, and as many whose refusal is on its way. Unread bytes are those of the windows of all that the agent may
 * have, and as many of windows that have become wider.
 */
const bounds = { maxStreams: 2 * maximumStreams, maxUnreadBytes: 2 * maximumStreams * windowBytes } as const

/**
 * Returns how a connection waits before it sends: not with the first bytes of a turn of the event loop, with which the other process can begin. Those of the rest of the turn
 * need one write together.
 */
const firstAtOnce = (): ((run: () => void) => void) => {
  let isFirst = true
  const turned = (): void => {
    isFirst = true
  }
  return (run) => {
    if (!isFirst) return void setImmediate(run)
    isFirst = false
    setImmediate(turned)
    process.nextTick(run)
  }
}

/** The session over a connection. The process that asks for streams is the client. */
export const sessionOver = (connection: Connection, role: "client" | "server"): Effect.Effect<Session.Session, never, Scope.Scope> =>
  Session.make({ ...byteSocketOf(connection), soon: firstAtOnce() }, { ...bounds, role })
