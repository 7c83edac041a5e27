/**
 * The server as a member of the private network: it reaches agents that take part there. For each agent that it speaks to, it is a peer of its own,
 * which lasts as long as it is needed. agents-and-apps.md §17.
 */
import { Relay as Protocol, TailnetMessages, type Tcp, Timestamp as ProtocolTimestamp } from "@atelier/agent-protocol"
import { DeploymentOptions } from "@atelier/core/deployment"
import {
  addressesOf,
  type AgentStream,
  AgentUnreachable,
  type Coordination,
  Coordinator,
  maximumStreams,
  NetworkDialer,
  type PeerPolicy,
  Relay,
  type RelayConnection
} from "@atelier/core/network"
import { Background, Ids, service, standingOn, type Uuid } from "@atelier/core/platform"
import { randomBytes } from "@atelier/node"
import { Cause, Deferred, Effect, Either, FiberId, Stream } from "effect"
import { textOf } from "../relay/RelayClient.js"
import { RelayServer } from "../relay/RelayServer.js"
import { AgentPeer } from "./AgentPeer.js"
import { nodeCiphers } from "./nodeCiphers.js"

const { FrameType, headerLength, keyLength, keyOf, make: makeFrame } = Protocol.RelayFrame

/** Agents that one process has tunnels to at a time. */
const maximumAgents = 1_000

/** How long a tunnel without streams stays, in milliseconds. */
const idleFor = 5 * 60_000

/** The name of the background work. */
const work = "private_network"

/** How often it is looked at what is due. */
const tickEvery = "100 millis"

/** How long an agent may take to tell its key, to do the handshake and to open a connection. */
const openWithin = "15 seconds"

/** The first 6 of the 16 bytes of an address. */
const prefix = Uint8Array.of(0xfd, 0x7a, 0x11, 0x5c, 0xa1, 0xe0)

/** What precedes a WireGuard key in a node. */
const keyMark = Buffer.from("np")

const unreachable = (message: string) => new AgentUnreachable({ message })

const full = unreachable(`The service has connections to ${maximumAgents} agents of the private network, and may have no more.`)
const busy = unreachable(`The workspace's agent has ${maximumStreams} streams open, and may have no more.`)
const keyless = unreachable("The workspace's agent has told the private network no key by which it could be reached.")
const silent = unreachable("The workspace's agent did not answer through the private network within 15 seconds.")

const reasons = {
  refused: "No program listens on this port of the workspace.",
  reset: "The connection was broken off.",
  unanswered: "The workspace's agent does not answer through the private network any more.",
  aborted: "The workspace's agent has left the private network."
} as const satisfies Record<Tcp.EndReason, string>

const groupsOf = (address: Uint8Array): string => (Buffer.from(address).toString("hex").match(/.{4}/g) ?? []).join(":")

/** The 16 bytes of an address that is written in full. */
const addressOf = (text: string): Uint8Array => Buffer.from(text.replaceAll(":", ""), "hex")

/** The key in a node that an agent has told; undefined if it is missing, broken, or the server's own. */
const keyIn = ({ content }: Coordination.PeerNode, own: Uint8Array): Uint8Array | undefined => {
  const node = Either.getOrUndefined(TailnetMessages.Node.decode(content))
  if (node?.key.length !== keyMark.length + keyLength || !keyMark.equals(node.key.subarray(0, keyMark.length))) return undefined
  const key = node.key.slice(keyMark.length)
  return Buffer.from(own).equals(key) ? undefined : key
}

/** The right to a stream is judged before it is dialed. */
const policy: PeerPolicy = { refuseNode: () => undefined, openTunnel: () => Effect.succeed(undefined), mayBeReady: false }

/** The tunnel to one agent. */
interface Held {
  readonly agent_id: Uuid.Uuid
  readonly ownKey: Uint8Array
  readonly peer: AgentPeer
  /** Completes when the tunnel is to end. */
  readonly over: Deferred.Deferred<void>
  /** Called when the agent has told its key or is ready, and when the tunnel has ended. */
  readonly waiters: Set<() => void>
  streams: number
  idleSince: number
  isKeyless: boolean
  hasEnded: boolean
}

/** Waits until a look has a result. It looks at once, and each time that something has changed. */
const until = <A>(
  waiters: Set<() => void>,
  look: () => Effect.Effect<A, AgentUnreachable> | undefined
): Effect.Effect<A, AgentUnreachable> =>
  Effect.async((resume) => {
    const attempt = (): void => {
      const result = look()
      if (result === undefined) return
      waiters.delete(attempt)
      resume(result)
    }
    waiters.add(attempt)
    attempt()
    return Effect.sync(() => void waiters.delete(attempt))
  })

const wake = (waiters: Set<() => void>): void => {
  for (const waiter of waiters) waiter()
}

const make = Effect.gen(function* () {
  const coordinator = yield* Coordinator
  const { router } = yield* Relay
  const relay = yield* RelayServer
  const ids = yield* Ids
  const { derpServerEnable, derpServerRegionId } = yield* DeploymentOptions
  // Without the relay, agents are reached by direct ways alone
  if (!derpServerEnable) return yield* NetworkDialer
  const clock = yield* Effect.clock
  const scope = yield* Effect.scope
  const isUsed = yield* Effect.makeLatch()
  const tunnels = new Map<Uuid.Uuid, Held>()
  let faults: Array<unknown> = []

  const now = (): number => Number(clock.unsafeCurrentTimeNanos() / 1000n) / 1000

  /** What fails on one packet or tunnel has no effect on others: it is logged, and the packet is lost. */
  const guarded = (step: () => void): void => {
    try {
      step()
    } catch (fault) {
      if (faults.length < 10) faults.push(fault)
    }
  }

  /** The peer's connection to the relay of this process. */
  const makeConnection = (own: Protocol.Box.KeyPair, take: (key: string, message: Uint8Array) => void, flush: () => void) => {
    let isFlushing = false
    const connection: RelayConnection = {
      key: textOf(own.publicKey),
      deliver: (frame) => {
        if (frame[0] !== FrameType.RecvPacket || frame.length < headerLength + keyLength) return
        guarded(() => take(textOf(keyOf(frame)), frame.subarray(headerLength + keyLength)))
        if (isFlushing) return
        isFlushing = true
        // Packets that arrive together have one acknowledgment
        queueMicrotask(() => {
          isFlushing = false
          guarded(flush)
        })
      },
      // The coordinator tells whether the agent is there
      peerGone: () => undefined
    }
    const send = (key: string, message: Uint8Array): void => {
      const destination = router.route(connection, key, message.length, false, now())
      destination?.deliver(makeFrame(FrameType.RecvPacket, own.publicKey, message))
    }
    return { connection, send }
  }

  const nodeOf = (own: Protocol.Box.KeyPair, address: Uint8Array): Coordination.PeerNode => {
    const addresses = [`${groupsOf(address)}/128`]
    const content = TailnetMessages.Node.encode({
      id: Buffer.from(randomBytes(8)).readBigInt64LE() & (2n ** 63n - 1n),
      as_of: ProtocolTimestamp.fromMillis(clock.unsafeCurrentTimeMillis()),
      key: Buffer.concat([keyMark, own.publicKey]),
      // The server answers no search for direct ways: all packets go through the relay
      disco: `discokey:${Buffer.from(nodeCiphers.keyPair().publicKey).toString("hex")}`,
      preferred_derp: derpServerRegionId,
      derp_latency: new Map([[`${derpServerRegionId}-v4`, 0.001]]),
      addresses,
      allowed_ips: addresses
    })
    return { addresses, allowed_ips: addresses, content: Either.getOrThrow(content) }
  }

  const takeUpdate = (held: Held, update: Coordination.PeerUpdate): void => {
    const { agent_id, ownKey, peer, waiters } = held
    if (update.id !== agent_id) return
    switch (update.kind) {
      case "NODE": {
        const key = keyIn(update.node, ownKey)
        held.isKeyless = key === undefined
        if (key === undefined) peer.leave()
        else peer.meet(key)
        return wake(waiters)
      }
      case "READY_FOR_HANDSHAKE":
        peer.ready()
        return wake(waiters)
      case "LOST":
        return peer.lose()
      case "DISCONNECTED":
        return peer.leave()
    }
  }

  /** Takes part in the coordination and in the relay until the tunnel is to end. */
  const takePart = (held: Held, node: Coordination.PeerNode, connection: RelayConnection) =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => router.connect(connection)),
        () => Effect.sync(() => router.disconnect(connection))
      )
      const { handle, messages } = yield* coordinator.connect(yield* ids.next, policy)
      const requests = { disconnects: false, readyFor: [] }
      yield* handle({ ...requests, node, addTunnel: held.agent_id })
      const listening = Stream.runForEach(messages, ({ updates }) =>
        Effect.sync(() => {
          for (const update of updates) guarded(() => takeUpdate(held, update))
          relay.flush()
        })
      )
      yield* Effect.raceFirst(listening, Deferred.await(held.over))
      yield* handle({ ...requests, disconnects: true })
    }).pipe(
      Effect.scoped,
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logError("a tunnel of the service to an agent has failed", cause)
      ),
      Effect.ensuring(
        Effect.sync(() => {
          held.hasEnded = true
          if (tunnels.get(held.agent_id) === held) tunnels.delete(held.agent_id)
          guarded(() => held.peer.leave())
          wake(held.waiters)
        })
      )
    )

  /** Returns the tunnel to an agent, and begins one if necessary. */
  const tunnelTo = (agent_id: Uuid.Uuid): Effect.Effect<Held, AgentUnreachable> =>
    Effect.suspend(() => {
      const known = tunnels.get(agent_id)
      if (known !== undefined) return Effect.succeed(known)
      if (tunnels.size >= maximumAgents) return full
      const own = nodeCiphers.keyPair()
      const ownAddress = Buffer.concat([prefix, randomBytes(10)])
      const { connection, send } = makeConnection(
        own,
        (key, message) => peer.take(key, message),
        () => {
          peer.flush()
          relay.flush()
        }
      )
      const [agentAddress = ""] = addressesOf(agent_id)
      const peer = new AgentPeer({
        own,
        ownAddress,
        agentAddress: addressOf(agentAddress),
        send,
        now,
        wallClock: () => clock.unsafeCurrentTimeMillis()
      })
      const held: Held = {
        agent_id,
        ownKey: own.publicKey,
        peer,
        over: Deferred.unsafeMake(FiberId.none),
        waiters: new Set(),
        streams: 0,
        idleSince: now(),
        isKeyless: false,
        hasEnded: false
      }
      tunnels.set(agent_id, held)
      isUsed.unsafeOpen()
      // It ends with the scope, though it begins where a place among the streams is taken, which nothing interrupts
      return Effect.as(Effect.forkIn(Effect.interruptible(takePart(held, nodeOf(own, ownAddress), connection)), scope), held)
    })

  /** A place among the streams of an agent. */
  const take = (agent_id: Uuid.Uuid) =>
    Effect.flatMap(tunnelTo(agent_id), (held) => {
      if (held.streams >= maximumStreams) return busy
      held.streams += 1
      return Effect.succeed(held)
    })

  const release = (held: Held) =>
    Effect.sync(() => {
      held.streams -= 1
      held.idleSince = now()
    })

  const streamOf = ({ peer }: Held, connection: Tcp.Connection, waiters: Set<() => void>): AgentStream => {
    /** Does something with the connection, and sends what that has given. */
    const doing = <A>(step: () => A): A => {
      const result = step()
      peer.flush()
      relay.flush()
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

  const tick = Effect.suspend(() => {
    for (const held of tunnels.values()) {
      guarded(() => held.peer.tick())
      wake(held.waiters)
      if (held.streams > 0 || now() - held.idleSince < idleFor) continue
      // At once, so that the next stream gets a new one
      tunnels.delete(held.agent_id)
      Deferred.unsafeDone(held.over, Effect.void)
    }
    relay.flush()
    if (tunnels.size === 0) isUsed.unsafeClose()
    const told = faults
    faults = []
    return Background.each(work, told, Effect.die)
  })
  yield* Background.repeat(work, Effect.zipRight(isUsed.await, Effect.zipRight(Effect.sleep(tickEvery), tick)))

  return {
    isMember: true,
    dial: ({ agent_id, port }) =>
      Effect.gen(function* () {
        const held = yield* Effect.acquireRelease(take(agent_id), release)
        const { peer } = held
        yield* until(held.waiters, () => {
          if (peer.isMet) return Effect.void
          return held.hasEnded ? silent : held.isKeyless ? keyless : undefined
        })
        const waiters = new Set<() => void>()
        const connection = yield* Effect.acquireRelease(
          Effect.suspend(() => {
            const opened = peer.connect(port, () => wake(waiters))
            relay.flush()
            return opened === undefined ? unreachable(reasons.aborted) : Effect.succeed(opened)
          }),
          (opened) =>
            Effect.sync(() => {
              guarded(() => peer.release(opened))
              relay.flush()
            })
        )
        yield* until(waiters, () => {
          if (connection.endReason !== undefined) return unreachable(reasons[connection.endReason])
          return connection.isOpen ? Effect.void : undefined
        })
        return streamOf(held, connection, waiters)
      }).pipe(Effect.timeoutFail({ duration: openWithin, onTimeout: () => silent }))
  }
})

export const layer = standingOn(service(NetworkDialer, make), Coordinator.layer)
