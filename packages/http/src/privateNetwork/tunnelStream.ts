/** Streams to the ports of an agent, through the tunnel to it. */
import type { Tcp } from "@atelier/agent-protocol"
import { type AgentStream, AgentUnreachable } from "@atelier/core/network"
import { Effect, type Scope } from "effect"
import type { Surroundings, Tunnel } from "./Tunnel.js"
import { until, type Waiters, wake } from "./waiters.js"

export const unreachable = (message: string) => new AgentUnreachable({ message })

export const silent = unreachable("The workspace's agent did not answer through the private network within 15 seconds.")
const keyless = unreachable("The workspace's agent has told the private network no key by which it could be reached.")

const reasons = {
  refused: "No program listens on this port of the workspace.",
  reset: "The connection was broken off.",
  unanswered: "The workspace's agent does not answer through the private network any more.",
  aborted: "The workspace's agent has left the private network."
} as const satisfies Record<Tcp.EndReason, string>

type Means = Pick<Surroundings, "flushRelay" | "guard" | "now">

const streamOf = ({ peer }: Tunnel, connection: Tcp.Connection, waiters: Waiters, { flushRelay, now }: Means): AgentStream => {
  /** Does something with the connection, and sends what that has given. */
  const doing = <A>(step: () => A): A => {
    const result = step()
    peer.flush()
    flushRelay()
    return result
  }
  const ended = (): Effect.Effect<never, AgentUnreachable> | undefined =>
    connection.endReason === undefined ? undefined : unreachable(reasons[connection.endReason])
  return {
    read: until(waiters, () => {
      const bytes = doing(() => connection.read())
      if (bytes !== undefined) return Effect.succeedSome(bytes)
      return connection.isRead ? Effect.succeedNone : ended()
    }),
    write: (bytes) =>
      Effect.suspend(() => {
        let written = 0
        return until(waiters, () => {
          // The memory of the bytes is the caller's again afterwards
          const some = bytes.slice(written, written + connection.room)
          if (some.length > 0) doing(() => connection.write(some, now()))
          written += some.length
          return written === bytes.length ? Effect.void : ended()
        })
      }),
    finish: Effect.sync(() => doing(() => connection.finish(now())))
  }
}

/** Opens a stream to a port once the agent has told its key. It is broken off when the scope closes. */
export const openStream = (tunnel: Tunnel, port: number, means: Means): Effect.Effect<AgentStream, AgentUnreachable, Scope.Scope> =>
  Effect.gen(function* () {
    const { flushRelay, guard } = means
    const { peer } = tunnel
    yield* until(tunnel.waiters, () => {
      if (peer.isMet) return Effect.void
      return tunnel.hasEnded ? silent : tunnel.isKeyless ? keyless : undefined
    })
    const waiters: Waiters = new Set()
    const connection = yield* Effect.acquireRelease(
      Effect.suspend(() => {
        const opened = peer.connect(port, () => wake(waiters))
        flushRelay()
        return opened === undefined ? unreachable(reasons.aborted) : Effect.succeed(opened)
      }),
      (opened) =>
        Effect.sync(() => {
          guard.run(() => peer.release(opened))
          flushRelay()
        })
    )
    yield* until(waiters, () => {
      if (connection.endReason !== undefined) return unreachable(reasons[connection.endReason])
      return connection.isOpen ? Effect.void : undefined
    })
    return streamOf(tunnel, connection, waiters, means)
  })
