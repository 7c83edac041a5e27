/** Which connection of the relay gets a packet, and which peers are told that another has gone. agents-and-apps.md §12. */

export type GoneReason = "disconnected" | "not here"

/** A connection of a peer, as the router addresses it. */
export interface RelayConnection {
  /** The public key of the peer, as any text. */
  readonly key: string
  /** Takes a packet, in the form that this relay's connections pass to each other. Never waits. */
  readonly deliver: (packet: Uint8Array) => void
  /** Tells the peer that another one is not reached here. */
  readonly peerGone: (key: string, reason: GoneReason) => void
}

/** What one peer has sent and received since its first connection, in bytes of packets. */
export interface RelayTraffic {
  readonly key: string
  readonly sent: number
  readonly received: number
}

/** A peer with at least one connection. */
interface Peer {
  readonly key: string
  /** The last one receives: it has connected or spoken last. */
  readonly connections: Array<RelayConnection>
  /** Peers that it has sent to, which are told when it goes, and those that have sent to it. */
  readonly sentTo: Set<Peer>
  readonly heardFrom: Set<Peer>
  sent: number
  received: number
  /** The peer that it has sent to last: most packets go where the one before went. */
  last: Peer | undefined
}

/** How many peers one is remembered to have sent to: the first of more are not told that it has gone. */
const maximumSentTo = 4096

/** How many times at once a connection is told that a peer is not here, and how often after that, in milliseconds. */
const notHereBurst = 3
const notHereInterval = 1000

interface Allowance {
  left: number
  since: number
}

export class RelayRouter {
  readonly #peers = new Map<string, Peer>()
  readonly #allowances = new WeakMap<RelayConnection, Allowance>()

  /** Adds a connection, which is the one that receives from now on. */
  connect(connection: RelayConnection): void {
    const known = this.#peers.get(connection.key)
    if (known !== undefined) return void known.connections.push(connection)
    this.#peers.set(connection.key, {
      key: connection.key,
      connections: [connection],
      sentTo: new Set(),
      heardFrom: new Set(),
      sent: 0,
      received: 0,
      last: undefined
    })
  }

  /** Removes a connection. With the last one of its peer, the peers that it has sent to are told. */
  disconnect(connection: RelayConnection): void {
    const peer = this.#peers.get(connection.key)
    const index = peer?.connections.indexOf(connection) ?? -1
    if (peer === undefined || index === -1) return
    peer.connections.splice(index, 1)
    if (peer.connections.length > 0) return
    this.#peers.delete(peer.key)
    for (const other of peer.heardFrom) {
      other.sentTo.delete(peer)
      if (other.last === peer) other.last = undefined
    }
    for (const other of peer.sentTo) {
      other.heardFrom.delete(peer)
      if (other === peer) continue
      for (const told of other.connections) told.peerGone(peer.key, "disconnected")
    }
  }

  /** Notes that a connection has sent something: of several of a peer, it is the one that receives. */
  spoke(connection: RelayConnection): void {
    const connections = this.#peers.get(connection.key)?.connections
    if (connections === undefined || connections.length === 1 || connections.at(-1) === connection) return
    const index = connections.indexOf(connection)
    if (index === -1) return
    connections.splice(index, 1)
    connections.push(connection)
  }

  /**
   * Returns the connection that gets a packet of so many bytes; undefined where its destination is not here. A connection that looks for a way
   * to such a peer (`isDisco`) is told so, as often as it may be. `now` is in milliseconds.
   */
  route(from: RelayConnection, destination: string, bytes: number, isDisco: boolean, now: number): RelayConnection | undefined {
    const source = this.#peers.get(from.key)
    const peer = source?.last?.key === destination ? source.last : this.#peers.get(destination)
    if (source === undefined || peer === undefined) {
      if (isDisco && this.#mayTell(from, now)) from.peerGone(destination, "not here")
      return undefined
    }
    if (source.last !== peer) {
      source.last = peer
      remember(source, peer)
    }
    source.sent += bytes
    peer.received += bytes
    return peer.connections.at(-1)
  }

  /** The traffic of every peer that is connected. */
  traffic(): ReadonlyArray<RelayTraffic> {
    return [...this.#peers.values()].map(({ key, received, sent }) => ({ key, sent, received }))
  }

  #mayTell(connection: RelayConnection, now: number): boolean {
    const allowance = this.#allowances.get(connection) ?? { left: notHereBurst, since: now }
    this.#allowances.set(connection, allowance)
    allowance.left = Math.min(notHereBurst, allowance.left + Math.max(0, now - allowance.since) / notHereInterval)
    allowance.since = now
    if (allowance.left < 1) return false
    allowance.left--
    return true
  }
}

const remember = (source: Peer, peer: Peer): void => {
  if (source.sentTo.has(peer)) return
  if (source.sentTo.size >= maximumSentTo) {
    const [oldest] = source.sentTo
    if (oldest !== undefined) {
      source.sentTo.delete(oldest)
      oldest.heardFrom.delete(source)
      if (source.last === oldest) source.last = undefined
    }
  }
  source.sentTo.add(peer)
  peer.heardFrom.add(source)
}
