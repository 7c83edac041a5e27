/**
 * The server as a member of the private network: it reaches agents that take part there. For each agent that it speaks to, it is a peer of its own,
 * which lasts as long as it is needed. agents-and-apps.md §17.
 */
import { DeploymentOptions } from "@atelier/core/deployment"
import { Coordinator, NetworkDialer, Relay } from "@atelier/core/network"
import { Background, Ids, service, standingOn } from "@atelier/core/platform"
import { Effect } from "effect"
import { RelayServer } from "../relay/RelayServer.js"
import { makeGuard } from "./Guard.js"
import type { Surroundings } from "./Tunnel.js"
import { makeTunnels } from "./Tunnels.js"
import { openStream, silent } from "./tunnelStream.js"

/** Agents that one process has tunnels to at a time. */
const maximumAgents = 1_000

/** The name of the background work. */
const work = "private_network"

/** How often it is looked at what is due. */
const tickEvery = "100 millis"

/** How long an agent may take to tell its key, to do the handshake and to open a connection. */
const openWithin = "15 seconds"

const make = Effect.gen(function* () {
  const coordinator = yield* Coordinator
  const { router } = yield* Relay
  const { flush: flushRelay } = yield* RelayServer
  const ids = yield* Ids
  const { derpServerEnable, derpServerRegionId: region } = yield* DeploymentOptions
  // Without the relay, agents are reached by direct ways alone
  if (!derpServerEnable) return yield* NetworkDialer
  const clock = yield* Effect.clock
  const isUsed = yield* Effect.makeLatch()
  const guard = makeGuard()
  const surroundings: Surroundings = {
    coordinator,
    ids,
    router,
    region,
    guard,
    flushRelay,
    now: () => Number(clock.unsafeCurrentTimeNanos() / 1000n) / 1000,
    wallClock: () => clock.unsafeCurrentTimeMillis()
  }
  const tunnels = yield* makeTunnels(surroundings, { maximum: maximumAgents, began: () => void isUsed.unsafeOpen() })

  const tick = Effect.suspend(() => {
    tunnels.tick()
    flushRelay()
    if (tunnels.size() === 0) isUsed.unsafeClose()
    return Background.each(work, guard.told(), Effect.die)
  })
  yield* Background.repeat(work, Effect.zipRight(isUsed.await, Effect.zipRight(Effect.sleep(tickEvery), tick)))

  return {
    isMember: true,
    dial: ({ agent_id, port }) =>
      Effect.flatMap(tunnels.take(agent_id), (tunnel) => openStream(tunnel, port, surroundings)).pipe(
        Effect.timeoutFail({ duration: openWithin, onTimeout: () => silent })
      )
  }
})

export const layer = standingOn(service(NetworkDialer, make), Coordinator.layer)
