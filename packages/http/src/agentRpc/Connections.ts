import { maximumStreams } from "@atelier/core/network"
import { acquired, type Uuid } from "@atelier/core/platform"
import type { Effect, Scope } from "effect"
import { CloseSocket } from "../sockets/closing.js"

/** Connections one agent may have at once: its own, and some of programs that use its token. */
export const maximumConnections = 8

/** The memory of one connection, in bytes: received but not read, and read but not handled. A call may have 4 MiB. agents-and-apps.md §13. */
export const connectionLimits = { maxUnreadBytes: 4 * 1024 * 1024, maxWaitingBytes: 12 * 1024 * 1024 } as const

/** What a stream to a port may hold that is received but not read: one window of yamux. */
const streamWindow = 256 * 1024

/** The memory of a connection that takes streams of the service: none of them may stall for want of memory that others hold. The agent's own streams have no part of it. */
export const linkLimits = {
  ...connectionLimits,
  maxUnreadOfPeer: connectionLimits.maxUnreadBytes,
  maxUnreadBytes: connectionLimits.maxUnreadBytes + maximumStreams * streamWindow
} as const

type End = (why: CloseSocket) => void

const displaced = new CloseSocket({ code: 1008, reason: "The agent has opened too many connections." })

/**
 * Counts connections of agents, each as long as its scope is open. One too many ends the agent's oldest: a connection that its network has lost must not keep it
 * out. `end` closes a connection, and `ended` is called when its scope has closed.
 */
export const makeConnections = () => {
  const open = new Map<Uuid.Uuid, Set<End>>()

  const begin = (agent: Uuid.Uuid, end: End): End => {
    // One of its own for each connection
    const own: End = (why) => end(why)
    const ends = open.get(agent) ?? new Set()
    open.set(agent, ends.add(own))
    const [oldest] = ends
    if (ends.size > maximumConnections && oldest !== undefined) {
      ends.delete(oldest)
      oldest(displaced)
    }
    return own
  }

  const over = (agent: Uuid.Uuid, end: End): void => {
    const ends = open.get(agent)
    ends?.delete(end)
    if (ends?.size === 0) open.delete(agent)
  }

  return (agent: Uuid.Uuid, end: End, ended: () => void): Effect.Effect<void, never, Scope.Scope> =>
    acquired(() => {
      const own = begin(agent, end)
      return () => {
        over(agent, own)
        ended()
      }
    })
}
