/** The server's tunnel to one agent: its parts in the coordination and in the relay. agents-and-apps.md §17. */
import { Relay as Protocol } from "@atelier/agent-protocol"
import { addressesOf, type Coordination, type Coordinator, type PeerPolicy, type Relay, type RelayConnection } from "@atelier/core/network"
import type { Ids, Uuid } from "@atelier/core/platform"
import { Cause, type Context, Deferred, Effect, FiberId, Stream } from "effect"
import { textOf } from "../relay/RelayClient.js"
import { AgentPeer } from "./AgentPeer.js"
import type { Guard } from "./Guard.js"
import { nodeCiphers } from "./nodeCiphers.js"
import { addressOf, anAddress, keyIn, ownNode } from "./peerNodes.js"
import { type Waiters, wake } from "./waiters.js"

const { FrameType, headerLength, keyLength, keyOf, make: makeFrame } = Protocol.RelayFrame

/** The right to a stream is judged before it is dialed. */
const policy: PeerPolicy = { refuseNode: () => undefined, openTunnel: () => Effect.succeed(undefined), mayBeReady: false }

export interface Tunnel {
  readonly agent_id: Uuid.Uuid
  readonly ownKey: Uint8Array
  readonly peer: AgentPeer
  /** Completes when the tunnel is to end. */
  readonly over: Deferred.Deferred<void>
  /** Called when the agent has told its key or is ready, and when the tunnel has ended. */
  readonly waiters: Waiters
  streams: number
  /** When its last stream ended, or else when it began, in milliseconds of `now`. */
  idleSince: number
  isKeyless: boolean
  hasEnded: boolean
}

/** What a tunnel uses of its process. */
export interface Surroundings {
  readonly coordinator: Context.Tag.Service<Coordinator>
  readonly ids: Context.Tag.Service<Ids>
  readonly router: Context.Tag.Service<Relay>["router"]
  /** The number of the relay's region. */
  readonly region: number
  readonly guard: Guard
  /** Sends what clients of the relay have been given. */
  readonly flushRelay: () => void
  /** Milliseconds of a clock that never goes back, and since 1970. */
  readonly now: () => number
  readonly wallClock: () => number
}

/** The connection of a tunnel's end to the relay of this process. `flush` is called after packets that have arrived together. */
const relayConnection = (
  own: Protocol.Box.KeyPair,
  { guard, now, router }: Surroundings,
  take: (key: string, message: Uint8Array) => void,
  flush: () => void
) => {
  let isFlushing = false
  const connection: RelayConnection = {
    key: textOf(own.publicKey),
    deliver: (frame) => {
      if (frame[0] !== FrameType.RecvPacket || frame.length < headerLength + keyLength) return
      guard.run(() => take(textOf(keyOf(frame)), frame.subarray(headerLength + keyLength)))
      if (isFlushing) return
      isFlushing = true
      // Packets that arrive together have one acknowledgment
      queueMicrotask(() => {
        isFlushing = false
        guard.run(flush)
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

const takeUpdate = (tunnel: Tunnel, update: Coordination.PeerUpdate): void => {
  const { agent_id, ownKey, peer, waiters } = tunnel
  if (update.id !== agent_id) return
  switch (update.kind) {
    case "NODE": {
      const key = keyIn(update.node, ownKey)
      tunnel.isKeyless = key === undefined
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
const takePart = (
  tunnel: Tunnel,
  node: Coordination.PeerNode,
  connection: RelayConnection,
  { coordinator, flushRelay, guard, ids, router }: Surroundings
) =>
  Effect.gen(function* () {
    yield* Effect.acquireRelease(
      Effect.sync(() => router.connect(connection)),
      () => Effect.sync(() => router.disconnect(connection))
    )
    const { handle, messages } = yield* coordinator.connect(yield* ids.next, policy)
    const requests = { disconnects: false, readyFor: [] }
    yield* handle({ ...requests, node, addTunnel: tunnel.agent_id })
    const listening = Stream.runForEach(messages, ({ updates }) =>
      Effect.sync(() => {
        for (const update of updates) guard.run(() => takeUpdate(tunnel, update))
        flushRelay()
      })
    )
    yield* Effect.raceFirst(listening, Deferred.await(tunnel.over))
    yield* handle({ ...requests, disconnects: true })
  }).pipe(
    Effect.scoped,
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logError("a tunnel of the service to an agent has failed", cause)
    ),
    Effect.ensuring(
      Effect.sync(() => {
        tunnel.hasEnded = true
        guard.run(() => tunnel.peer.leave())
        wake(tunnel.waiters)
      })
    )
  )

/** Makes a tunnel without streams. `running` keeps it until it is to end. */
export const makeTunnel = (
  agent_id: Uuid.Uuid,
  surroundings: Surroundings
): { readonly tunnel: Tunnel; readonly running: Effect.Effect<void> } => {
  const { flushRelay, now, region, wallClock } = surroundings
  const own = nodeCiphers.keyPair()
  const ownAddress = anAddress()
  const { connection, send } = relayConnection(
    own,
    surroundings,
    (key, message) => peer.take(key, message),
    () => {
      peer.flush()
      flushRelay()
    }
  )
  const [agentAddress = ""] = addressesOf(agent_id)
  const peer = new AgentPeer({ own, ownAddress, agentAddress: addressOf(agentAddress), send, now, wallClock })
  const tunnel: Tunnel = {
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
  return { tunnel, running: takePart(tunnel, ownNode(own, ownAddress, region, wallClock()), connection, surroundings) }
}
