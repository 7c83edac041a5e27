/**
 * How peers of the private network are introduced to each other, as a state machine: an event leads to the next state and to messages.
 * A peer is told of another's node only while one of them has a tunnel to the other. agents-and-apps.md §16.
 */
import { HashMap, HashSet, Option } from "effect"
import type { Uuid } from "../platform/texts/Uuid.js"

/** A peer: an agent by its id, a client by a random one. */
export type PeerId = Uuid

/** How a peer is reached. */
export interface PeerNode {
  /** Its address and length of prefix each, such as `fd7a:115c:a1e0::1/128`. */
  readonly addresses: ReadonlyArray<string>
  readonly allowed_ips: ReadonlyArray<string>
  /** The node as it was sent. The coordinator passes it on unread. */
  readonly content: Uint8Array
}

/** What a peer is told of another. */
export type PeerUpdate =
  | { readonly id: PeerId; readonly kind: "NODE"; readonly node: PeerNode }
  | { readonly id: PeerId; readonly kind: "DISCONNECTED" | "LOST" | "READY_FOR_HANDSHAKE"; readonly reason: string }

/** What one peer is told. */
export interface PeerMessage {
  readonly to: PeerId
  readonly updates: ReadonlyArray<PeerUpdate>
  readonly error?: string
}

interface Peer {
  readonly isConnected: boolean
  readonly node: PeerNode | undefined
  /** Peers that it has opened tunnels to, there or not. */
  readonly tunnels: HashSet.HashSet<PeerId>
  /** Peers that have opened tunnels to it. */
  readonly tunnelsFrom: HashSet.HashSet<PeerId>
  /** The nodes that it was told of last. */
  readonly told: HashMap.HashMap<PeerId, PeerNode>
}

export type State = HashMap.HashMap<PeerId, Peer>

export const empty: State = HashMap.empty()

export type Event =
  | { readonly _tag: "Connected"; readonly id: PeerId }
  | { readonly _tag: "Announced"; readonly id: PeerId; readonly node: PeerNode }
  | { readonly _tag: "TunnelAdded" | "TunnelRemoved" | "Ready"; readonly id: PeerId; readonly to: PeerId }
  | { readonly _tag: "Disconnected" | "Lost"; readonly id: PeerId }

/** Updates in one message at most. */
const maximumUpdates = 1024

const unknown: Peer = {
  isConnected: false,
  node: undefined,
  tunnels: HashSet.empty(),
  tunnelsFrom: HashSet.empty(),
  told: HashMap.empty()
}

const peerOf = (state: State, id: PeerId): Peer => Option.getOrElse(HashMap.get(state, id), () => unknown)

/** A peer that is not there, and to which nothing leads, is forgotten. */
const withPeer = (state: State, id: PeerId, peer: Peer): State =>
  peer.isConnected || HashSet.size(peer.tunnels) > 0 || HashSet.size(peer.tunnelsFrom) > 0
    ? HashMap.set(state, id, peer)
    : HashMap.remove(state, id)

const sharesTunnel = (peer: Peer, other: PeerId): boolean => HashSet.has(peer.tunnels, other) || HashSet.has(peer.tunnelsFrom, other)

const partnersOf = (peer: Peer): ReadonlyArray<PeerId> => [...HashSet.union(peer.tunnels, peer.tunnelsFrom)]

const isSameNode = ({ content: one }: PeerNode, { content: other }: PeerNode): boolean =>
  one === other || (one.length === other.length && one.every((byte, index) => byte === other[index]))

/** Tells a peer of another's node, unless the peer has left, the other has no node, or the peer knows it already. */
const tell = (state: State, to: PeerId, about: PeerId): readonly [State, ReadonlyArray<PeerUpdate>] => {
  const peer = peerOf(state, to)
  const { node } = peerOf(state, about)
  if (!peer.isConnected || node === undefined) return [state, []]
  const known = Option.getOrUndefined(HashMap.get(peer.told, about))
  if (known !== undefined && isSameNode(known, node)) return [state, []]
  return [withPeer(state, to, { ...peer, told: HashMap.set(peer.told, about, node) }), [{ id: about, kind: "NODE", node }]]
}

/** Tells a peer that another is gone, if it was told of the other's node. */
const untell = (
  state: State,
  to: PeerId,
  about: PeerId,
  kind: "DISCONNECTED" | "LOST",
  reason: string
): readonly [State, ReadonlyArray<PeerUpdate>] => {
  const peer = peerOf(state, to)
  if (!HashMap.has(peer.told, about)) return [state, []]
  return [withPeer(state, to, { ...peer, told: HashMap.remove(peer.told, about) }), peer.isConnected ? [{ id: about, kind, reason }] : []]
}

const messagesTo = (to: PeerId, updates: ReadonlyArray<PeerUpdate>): ReadonlyArray<PeerMessage> => {
  const messages: Array<PeerMessage> = []
  for (let from = 0; from < updates.length; from += maximumUpdates)
    messages.push({ to, updates: updates.slice(from, from + maximumUpdates) })
  return messages
}

export interface Transition {
  readonly state: State
  readonly messages: ReadonlyArray<PeerMessage>
}

/** Gathers what several steps tell. */
const steps = (
  state: State,
  parts: Iterable<readonly [to: PeerId, step: (state: State) => readonly [State, ReadonlyArray<PeerUpdate>]]>
): Transition => {
  let current = state
  const updates = new Map<PeerId, Array<PeerUpdate>>()
  for (const [to, step] of parts) {
    const [next, told] = step(current)
    current = next
    if (told.length > 0) updates.set(to, [...(updates.get(to) ?? []), ...told])
  }
  return { state: current, messages: [...updates].flatMap(([to, told]) => messagesTo(to, told)) }
}

const connected = (state: State, id: PeerId): Transition => {
  const known = peerOf(state, id)
  // The new connection knows nothing of what the one before it was told
  const peer: Peer = { ...known, isConnected: true, told: HashMap.empty() }
  const partners = partnersOf(peer)
  const updates: Array<PeerUpdate> = []
  let next = withPeer(state, id, peer)
  for (const other of partners) {
    const [told, some] = tell(next, id, other)
    next = told
    for (const update of some) updates.push(update)
  }
  return { state: next, messages: messagesTo(id, updates) }
}

const announced = (state: State, id: PeerId, node: PeerNode): Transition => {
  const peer = peerOf(state, id)
  const next = withPeer(state, id, { ...peer, node })
  return steps(
    next,
    partnersOf(peer).map((other) => [other, (now) => tell(now, other, id)])
  )
}

const tunnelAdded = (state: State, id: PeerId, to: PeerId): Transition => {
  const peer = peerOf(state, id)
  const linked = withPeer(state, id, { ...peer, tunnels: HashSet.add(peer.tunnels, to) })
  const target = peerOf(linked, to)
  const next = withPeer(linked, to, { ...target, tunnelsFrom: HashSet.add(target.tunnelsFrom, id) })
  return steps(next, [
    [id, (now) => tell(now, id, to)],
    [to, (now) => tell(now, to, id)]
  ])
}

/** Takes a tunnel away; who still shares another stays introduced. */
const withoutTunnel = (state: State, id: PeerId, to: PeerId): State => {
  const peer = peerOf(state, id)
  const next = withPeer(state, id, { ...peer, tunnels: HashSet.remove(peer.tunnels, to) })
  const target = peerOf(next, to)
  return withPeer(next, to, { ...target, tunnelsFrom: HashSet.remove(target.tunnelsFrom, id) })
}

const tunnelRemoved = (state: State, id: PeerId, to: PeerId): Transition => {
  if (!HashSet.has(peerOf(state, id).tunnels, to)) return { state, messages: [] }
  const next = withoutTunnel(state, id, to)
  if (sharesTunnel(peerOf(next, id), to)) return { state: next, messages: [] }
  return steps(next, [
    [id, (now) => untell(now, id, to, "DISCONNECTED", "remove tunnel")],
    [to, (now) => untell(now, to, id, "DISCONNECTED", "remove tunnel")]
  ])
}

const gone = (state: State, id: PeerId, kind: "DISCONNECTED" | "LOST", reason: string): Transition => {
  const peer = peerOf(state, id)
  if (!peer.isConnected) return { state, messages: [] }
  const partners = partnersOf(peer)
  let next = withPeer(state, id, { ...peer, isConnected: false, node: undefined, told: HashMap.empty() })
  for (const to of peer.tunnels) next = withoutTunnel(next, id, to)
  return steps(
    next,
    partners.map((other) => [other, (now) => untell(now, other, id, kind, reason)])
  )
}

const ready = (state: State, id: PeerId, to: PeerId): Transition => {
  if (!sharesTunnel(peerOf(state, id), to)) {
    return { state, messages: [{ to: id, updates: [], error: `ready for handshake error: you do not share a tunnel with "${to}"` }] }
  }
  const messages: ReadonlyArray<PeerMessage> = peerOf(state, to).isConnected
    ? [{ to, updates: [{ id, kind: "READY_FOR_HANDSHAKE", reason: "" }] }]
    : []
  return { state, messages }
}

/** What the connection of a peer is told whose place another one takes. */
export const replaced = "peer ID overwritten by new connection"

/** The state after an event, and the messages to peers. A connection that replaces another gets the whole state again. */
export const after = (state: State, event: Event): Transition => {
  if (event._tag !== "Connected" && !peerOf(state, event.id).isConnected) return { state, messages: [] }
  switch (event._tag) {
    case "Connected":
      return connected(state, event.id)
    case "Announced":
      return announced(state, event.id, event.node)
    case "TunnelAdded":
      return tunnelAdded(state, event.id, event.to)
    case "TunnelRemoved":
      return tunnelRemoved(state, event.id, event.to)
    case "Ready":
      return ready(state, event.id, event.to)
    case "Disconnected":
      return gone(state, event.id, "DISCONNECTED", "graceful disconnect")
    case "Lost":
      return gone(state, event.id, "LOST", "lost")
  }
}

/** Whether a peer is connected, its node and its tunnels. */
export const linksOf = (
  state: State,
  id: PeerId
): { readonly isConnected: boolean; readonly node: PeerNode | undefined; readonly tunnels: ReadonlyArray<PeerId> } => {
  const { isConnected, node, tunnels } = peerOf(state, id)
  return { isConnected, node, tunnels: [...tunnels] }
}

/** A peer, for a reader of the coordinator's state. */
export interface PeerView {
  readonly id: PeerId
  readonly is_connected: boolean
  readonly addresses: ReadonlyArray<string>
  readonly tunnels: ReadonlyArray<PeerId>
}

/** The peers, in the order of their ids. */
export const peersOf = (state: State): ReadonlyArray<PeerView> =>
  Array.from(state, ([id, { isConnected, node, tunnels }]) => ({
    id,
    is_connected: isConnected,
    addresses: node?.addresses ?? [],
    tunnels: [...tunnels].toSorted()
  })).toSorted((one, other) => (one.id < other.id ? -1 : 1))
