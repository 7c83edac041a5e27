/** The TCP connections of one end of a tunnel to the host at the other end. It opens connections, and takes none that the other host opens. */
import { Connection } from "./Connection.js"
import { decode, encode, Flag, type Route, type Segment } from "./Segment.js"

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

  /** Takes a packet of the other host. A segment that belongs to no connection is answered with a reset, so that the other host ends its own. */
  take(packet: Uint8Array, now: number): void {
    const segment = decode(this.#inbound, packet)
    if (segment === undefined) return
    const connection = this.#connections.get(segment.destinationPort)
    if (connection?.remotePort !== segment.sourcePort) return this.#refuse(segment)
    connection.take(segment, now)
    this.#touched.add(connection)
  }

  /** RFC 9293, section 3.10.7.1. */
  #refuse({ acknowledgment, data, destinationPort, flags, sequence, sourcePort }: Segment): void {
    if ((flags & Flag.rst) !== 0) return
    const length = data.length + ((flags & Flag.syn) === 0 ? 0 : 1) + ((flags & Flag.fin) === 0 ? 0 : 1)
    const numbers =
      (flags & Flag.ack) === 0
        ? { sequence: 0, acknowledgment: (sequence + length) >>> 0, flags: Flag.rst | Flag.ack }
        : { sequence: acknowledgment, acknowledgment: 0, flags: Flag.rst }
    const ports = { sourcePort: destinationPort, destinationPort: sourcePort }
    this.#options.send(encode(this.#outbound, { ...ports, ...numbers, window: 0, data: new Uint8Array(0) }))
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
