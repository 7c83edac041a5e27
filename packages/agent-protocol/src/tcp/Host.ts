/** The TCP connections of one end of a tunnel to the host at the other end. It opens connections, and takes none that the other host opens. */
import { Connection } from "./Connection.js"
import { decode, encode, type Route } from "./Segment.js"

/** Ports for connections of clients (RFC 6335). */
const firstPort = 49_152
const ports = 65_536 - firstPort

export interface HostOptions {
  /** Addresses of 16 bytes. */
  readonly ownAddress: Uint8Array
  readonly peerAddress: Uint8Array
  readonly send: (packet: Uint8Array) => void
  /** A random number of 32 bits. */
  readonly random: () => number
}

/** All times are milliseconds of a clock that never goes back. */
export class Host {
  readonly #options: HostOptions
  readonly #outbound: Route
  readonly #inbound: Route
  readonly #connections = new Map<number, Connection>()
  readonly #touched = new Set<Connection>()

  constructor(options: HostOptions) {
    this.#options = options
    this.#outbound = { source: options.ownAddress, destination: options.peerAddress }
    this.#inbound = { source: options.peerAddress, destination: options.ownAddress }
  }

  /** How many connections there are, with those that have closed a moment ago. */
  get size(): number {
    return this.#connections.size
  }

  /** Opens a connection; undefined where there is no port left. `changed` is called after each change of it. */
  connect(remotePort: number, changed: () => void, now: number): Connection | undefined {
    const localPort = this.#freePort()
    if (localPort === undefined) return undefined
    const { random, send } = this.#options
    const connection = new Connection({
      localPort,
      remotePort,
      sequence: random(),
      send: (segment) => send(encode(this.#outbound, segment)),
      changed,
      now
    })
    this.#connections.set(localPort, connection)
    return connection
  }

  #freePort(): number | undefined {
    if (this.#connections.size >= ports / 2) return undefined
    for (;;) {
      const port = firstPort + (this.#options.random() % ports)
      if (!this.#connections.has(port)) return port
    }
  }

  /** Takes a packet of the other host. One that belongs to no connection is dropped. */
  take(packet: Uint8Array, now: number): void {
    const segment = decode(this.#inbound, packet)
    const connection = segment && this.#connections.get(segment.destinationPort)
    if (connection === undefined || connection.remotePort !== segment?.sourcePort) return
    connection.take(segment, now)
    this.#touched.add(connection)
  }

  /** Acknowledges what has arrived since the last time. */
  flush(): void {
    for (const connection of this.#touched) connection.flush()
    this.#touched.clear()
  }

  /** Lets time pass for the connections. The owner calls it several times a second while there are any. */
  tick(now: number): void {
    for (const [port, connection] of this.#connections) {
      connection.tick(now)
      if (connection.isOver(now)) this.#connections.delete(port)
    }
  }

  /** Breaks a connection off, and forgets it. */
  abort(connection: Connection): void {
    connection.abort()
    if (connection.endReason !== undefined) this.#connections.delete(connection.localPort)
  }
}
