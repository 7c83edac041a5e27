/** Which connection of the relay gets a packet, and which peers are told that another has gone. agents-and-apps.md §12. */

export type GoneReason = "disconnected" | "not here"

/** A connection of a peer, as the router addresses it. */
export interface RelayConnection {
  /** The public key of the peer, as any text. */
  readonly key: string
  /** The peer is connected to the relay of another process, which is handed its packets. A connection to this one goes before it. */
  readonly isElsewhere?: boolean
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

/** Hears of the first and the last connection of a peer to this process. */
export type PresenceListener = (key: string, isHere: boolean) => void

const isHere = ({ connections }: Peer): boolean => connections.some(({ isElsewhere }) => isElsewhere !== true)

export class RelayRouter {
  readonly #peers = new Map<string, Peer>()
  readonly #listeners = new Set<PresenceListener>()
  readonly #allowances = new WeakMap<RelayConnection, Allowance>()

  /** Adds a connection, which receives the peer's packets from now on. */
  connect(connection: RelayConnection): void {
    const known = this.#peers.get(connection.key)
    const isNew = connection.isElsewhere !== true && (known === undefined || !isHere(known))
    if (known !== undefined) {
      if (connection.isElsewhere === true) known.connections.unshift(connection)
      else known.connections.push(connection)
    } else this.#add(connection)
    if (isNew) this.#tell(connection.key, true)
  }

  #add(connection: RelayConnection): void {
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
    if (connection.isElsewhere !== true && !isHere(peer)) this.#tell(peer.key, false)
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

  /** Notes that a connection has sent something. Of several connections of a peer, the last sender receives. */
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

  /**
   * Returns the connection to this process that gets a packet of so many bytes that another process has forwarded; undefined where its
   * destination has none. A packet is forwarded once: it goes to no third process.
   */
  routeHere(source: string, destination: string, bytes: number): RelayConnection | undefined {
    const peer = this.#peers.get(destination)
    const connection = peer?.connections.at(-1)
    if (peer === undefined || connection === undefined || connection.isElsewhere === true) return undefined
    const from = this.#peers.get(source)
    if (from !== undefined) remember(from, peer)
    peer.received += bytes
    return connection
  }

  /** The keys of the peers that are connected to this process. */
  here(): ReadonlyArray<string> {
    return [...this.#peers.values()].filter(isHere).map(({ key }) => key)
  }

  /** Tells a listener of peers that come and go, until it is called back. */
  watch(listener: PresenceListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #tell(key: string, isPresent: boolean): void {
    for (const listener of this.#listeners) listener(key, isPresent)
  }

  /** The traffic of every peer that is connected to this process. */
  traffic(): ReadonlyArray<RelayTraffic> {
    return [...this.#peers.values()].filter(isHere).map(({ key, received, sent }) => ({ key, sent, received }))
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
