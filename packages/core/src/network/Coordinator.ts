/** Introduces the peers of the private network to each other. agents-and-apps.md §16. */
import { Context, Effect, Exit, Runtime, type Scope, type Stream } from "effect"
import {
  after,
  empty,
  type Event,
  linksOf,
  type PeerId,
  type PeerMessage,
  type PeerNode,
  peersOf,
  type PeerView,
  replaced
} from "./Coordination.js"
import { service } from "../platform/wiring/Standing.js"
import { type Connected, peerAdmission } from "./PeerAdmission.js"

/** The requests in one message of a peer; they are handled in this order. */
export interface PeerRequest {
  readonly node?: PeerNode | undefined
  readonly addTunnel?: PeerId | undefined
  readonly removeTunnel?: PeerId | undefined
  readonly disconnects: boolean
  /** Peers that it is ready for. */
  readonly readyFor: ReadonlyArray<PeerId>
}

/** What a peer may ask for. A refusal is its reason. */
export interface PeerPolicy {
  readonly refuseNode: (node: PeerNode) => string | undefined
  /** Asks for the right to a tunnel, which the peer has until the scope closes. `revoke` ends the tunnel before that. */
  readonly openTunnel: (to: PeerId, revoke: () => void) => Effect.Effect<string | undefined, never, Scope.Scope>
  readonly mayBeReady: boolean
}

/** A peer's connection. */
export interface PeerConnection {
  /** What the peer is told; ends with the peer's part in the coordination. */
  readonly messages: Stream.Stream<PeerMessage>
  /** Handles a message of the peer. False once its part is over. */
  readonly handle: (request: PeerRequest) => Effect.Effect<boolean>
  /** The peer sends nothing more: its part ends when it has been told what waits. */
  readonly leave: Effect.Effect<void>
  /** Ends the peer's part, with why. */
  readonly refuse: (reason: string) => Effect.Effect<false>
}

/** A peer that is connected to one of the processes, as the others know it. */
export interface PeerState {
  readonly id: PeerId
  /** Milliseconds since 1970: of two connections of a peer, the later one counts. */
  readonly connectedAt: number
  readonly node: PeerNode | undefined
  readonly tunnels: ReadonlyArray<PeerId>
}

/** Something that peers of other processes must hear of. */
export type LocalChange =
  | { readonly _tag: "Changed"; readonly id: PeerId }
  | { readonly _tag: "Disconnected" | "Lost"; readonly id: PeerId }
  | { readonly _tag: "Ready"; readonly id: PeerId; readonly to: PeerId }

const changeOf = (event: Event): LocalChange => {
  switch (event._tag) {
    case "Disconnected":
    case "Lost":
      return { _tag: event._tag, id: event.id }
    case "Ready":
      return { _tag: "Ready", id: event.id, to: event.to }
    default:
      return { _tag: "Changed", id: event.id }
  }
}

/** The methods of {@link Coordinator}. */
export interface CoordinatorService {
  /**
   * Takes a peer in until the scope closes. A peer of the same id that is connected already is replaced: its connection ends. One that does
   * not read what it is told is removed.
   */
  readonly connect: (id: PeerId, policy: PeerPolicy) => Effect.Effect<PeerConnection, never, Scope.Scope>

  /** Has a function called with what happens to peers of this process, from now on. */
  readonly onChange: (listener: (change: LocalChange) => void) => void

  /** Whether a peer is connected, to whichever process. */
  readonly isConnected: (id: PeerId) => boolean

  /** The peers of this process. */
  readonly own: () => ReadonlyArray<PeerState>

  readonly ownPeer: (id: PeerId) => PeerState | undefined

  /**
   * A peer is connected to another process, with this node and these tunnels. An older connection of it that this process has ends. False
   * where this process has a newer one. Of two that began in the same millisecond, `winsTie` says whether this process's counts: only one of
   * two processes may say so.
   */
  readonly meet: (state: PeerState, winsTie: boolean) => boolean

  /** A peer's connection to another process has ended. */
  readonly part: (id: PeerId, kind: "Disconnected" | "Lost") => void

  /** A peer of another process is ready for one of this process. */
  readonly pass: (id: PeerId, to: PeerId) => void

  /** The peers that are connected, or that others have tunnels to. */
  readonly peers: Effect.Effect<ReadonlyArray<PeerView>>
}

const make = Effect.gen(function* () {
  const clock = yield* Effect.clock
  const runFork = Runtime.runFork(yield* Effect.runtime())
  let state = empty
  let tell: (change: LocalChange) => void = () => {}
  const connections = new Map<PeerId, Connected>()

  const move = (event: Event): ReadonlyArray<PeerMessage> => {
    const { messages, state: next } = after(state, event)
    state = next
    return messages
  }

  const deliver = (messages: ReadonlyArray<PeerMessage>): void => {
    for (const message of messages) {
      const connection = connections.get(message.to)
      if (connection === undefined || connection.mailbox.unsafeOffer(message)) continue
      // A peer that does not read is removed
      connections.delete(message.to)
      connection.mailbox.unsafeDone(Exit.void)
      apply({ _tag: "Disconnected", id: message.to })
    }
  }

  const apply = (event: Event): void => {
    deliver(move(event))
    tell(changeOf(event))
  }

  /** A connection of the peer has taken this one's place. */
  const endReplaced = ({ mailbox }: Connected, id: PeerId): void => {
    mailbox.unsafeOffer({ to: id, updates: [], error: replaced })
    mailbox.unsafeDone(Exit.void)
  }

  /** Replaces the peer's former connection, and keeps the tunnels that the new one has a right to. */
  const enter = (id: PeerId, connection: Connected): void => {
    const former = connections.get(id)
    connections.set(id, connection)
    if (former !== undefined) {
      for (const to of connection.tunnels.keys()) if (!former.tunnels.has(to)) apply({ _tag: "TunnelAdded", id, to })
      for (const to of former.tunnels.keys()) if (!connection.tunnels.has(to)) apply({ _tag: "TunnelRemoved", id, to })
      endReplaced(former, id)
    }
    apply({ _tag: "Connected", id })
  }

  const ownPeer = (id: PeerId): PeerState | undefined => {
    const connection = connections.get(id)
    if (connection === undefined) return undefined
    const { node, tunnels } = linksOf(state, id)
    return { id, connectedAt: connection.connectedAt, node, tunnels }
  }

  const meet = ({ connectedAt, id, node, tunnels }: PeerState, winsTie: boolean): boolean => {
    const own = connections.get(id)
    if (own !== undefined) {
      if (own.connectedAt > connectedAt || (own.connectedAt === connectedAt && winsTie)) return false
      connections.delete(id)
      endReplaced(own, id)
    }
    const known = linksOf(state, id)
    const step = (event: Event): void => deliver(move(event))
    if (!known.isConnected) step({ _tag: "Connected", id })
    if (node !== undefined) step({ _tag: "Announced", id, node })
    for (const to of known.tunnels) if (!tunnels.includes(to)) step({ _tag: "TunnelRemoved", id, to })
    for (const to of tunnels) if (!known.tunnels.includes(to)) step({ _tag: "TunnelAdded", id, to })
    return true
  }

  const { connect } = peerAdmission({ clock, connections, apply, runFork, enter })

  return {
    connect,

    onChange: (listener: (change: LocalChange) => void): void => {
      tell = listener
    },

    isConnected: (id: PeerId): boolean => linksOf(state, id).isConnected,

    own: (): ReadonlyArray<PeerState> => [...connections.keys()].flatMap((id) => ownPeer(id) ?? []),

    ownPeer,

    meet,

    part: (id: PeerId, kind: "Disconnected" | "Lost"): void => {
      if (!connections.has(id)) deliver(move({ _tag: kind, id }))
    },

    pass: (id: PeerId, to: PeerId): void => {
      if (!connections.has(id)) deliver(move({ _tag: "Ready", id, to }))
    },

    peers: Effect.sync((): ReadonlyArray<PeerView> => peersOf(state))
  }
})

export class Coordinator extends Context.Tag("@atelier/core/Coordinator")<Coordinator, CoordinatorService>() {
  static readonly layer = service(Coordinator, make)
}
