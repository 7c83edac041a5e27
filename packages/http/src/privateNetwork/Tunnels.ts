/** The tunnels of this process, and the places in them. agents-and-apps.md §17. */
import { type AgentUnreachable, maximumStreams } from "@atelier/core/network"
import type { Uuid } from "@atelier/core/platform"
import { Deferred, Effect, type Scope } from "effect"
import { makeTunnel, type Surroundings, type Tunnel } from "./Tunnel.js"
import { unreachable } from "./tunnelStream.js"
import { wake } from "./waiters.js"

/** How long a tunnel without streams stays, in milliseconds. */
const idleFor = 5 * 60_000

const busy = unreachable(`The workspace's agent has ${maximumStreams} streams open, and may have no more.`)

export interface Tunnels {
  /** Takes a place among the streams of an agent until the scope closes. A tunnel begins if the agent has none. Fails if all places are in use. */
  readonly take: (agent_id: Uuid.Uuid) => Effect.Effect<Tunnel, AgentUnreachable, Scope.Scope>
  /** Runs the timers of all tunnels, and ends tunnels that have been idle for long. */
  readonly tick: () => void
  readonly size: () => number
}

export interface TunnelsOptions {
  /** Agents that there are tunnels to at a time. When there are as many, the tunnel that has been idle for longest ends for a new one. */
  readonly maximum: number
  /** Called when a tunnel has begun. */
  readonly began: () => void
}

/** Makes the tunnels, which end with the scope. */
export const makeTunnels = (surroundings: Surroundings, { began, maximum }: TunnelsOptions): Effect.Effect<Tunnels, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const { guard, now } = surroundings
    const full = unreachable(`The service has streams to ${maximum} agents of the private network, and may have them to no more.`)
    const tunnels = new Map<Uuid.Uuid, Tunnel>()

    const forget = (tunnel: Tunnel): void => {
      if (tunnels.get(tunnel.agent_id) === tunnel) tunnels.delete(tunnel.agent_id)
    }

    const end = (tunnel: Tunnel): void => {
      // At once, so that the next stream gets a new one
      forget(tunnel)
      Deferred.unsafeDone(tunnel.over, Effect.void)
    }

    const longestIdle = (): Tunnel | undefined => {
      let found: Tunnel | undefined
      for (const tunnel of tunnels.values())
        if (tunnel.streams === 0 && (found === undefined || tunnel.idleSince < found.idleSince)) found = tunnel
      return found
    }

    /** Returns whether there is a place for one more tunnel. */
    const makePlace = (): boolean => {
      if (tunnels.size < maximum) return true
      const idle = longestIdle()
      if (idle !== undefined) end(idle)
      return idle !== undefined
    }

    const begin = (agent_id: Uuid.Uuid): Effect.Effect<Tunnel, AgentUnreachable> => {
      if (!makePlace()) return full
      const { running, tunnel } = makeTunnel(agent_id, surroundings)
      tunnels.set(agent_id, tunnel)
      tunnel.streams = 1
      began()
      const ending = Effect.ensuring(
        running,
        Effect.sync(() => forget(tunnel))
      )
      // It ends with the scope, though it begins where a place among the streams is taken, which nothing interrupts
      return Effect.as(Effect.forkIn(Effect.interruptible(ending), scope), tunnel)
    }

    /** The stream counts from the moment at which its tunnel is found, so that a tunnel with a stream to come is not idle. */
    const join = (agent_id: Uuid.Uuid): Effect.Effect<Tunnel, AgentUnreachable> =>
      Effect.suspend(() => {
        const known = tunnels.get(agent_id)
        if (known === undefined) return begin(agent_id)
        if (known.streams >= maximumStreams) return busy
        known.streams += 1
        return Effect.succeed(known)
      })

    const leave = (tunnel: Tunnel) =>
      Effect.sync(() => {
        tunnel.streams -= 1
        tunnel.idleSince = now()
      })

    return {
      take: (agent_id) => Effect.acquireRelease(join(agent_id), leave),
      tick: () => {
        for (const tunnel of tunnels.values()) {
          guard.run(() => tunnel.peer.tick())
          wake(tunnel.waiters)
          if (tunnel.streams === 0 && now() - tunnel.idleSince >= idleFor) end(tunnel)
        }
      },
      size: () => tunnels.size
    }
  })
