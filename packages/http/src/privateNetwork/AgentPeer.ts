/** The server's end of its tunnel to one agent: WireGuard over the relay, and TCP in it. agents-and-apps.md §17. */
import { type Relay, Tcp, WireGuard } from "@atelier/agent-protocol"
import { randomBytes } from "@atelier/node"
import { keyOfText, textOf } from "../relay/RelayClient.js"
import { nodeCiphers } from "./nodeCiphers.js"

/** How long connections outlast an agent whose coordination was interrupted, in milliseconds: it comes back with the same key. */
const lostFor = 30_000

/** How long an agent may take to prepare for the server's end, in milliseconds: a message that comes before is lost. */
const readyWithin = 500

const randomNumber = (): number => Buffer.from(randomBytes(4)).readUInt32LE()

export interface AgentPeerOptions {
  readonly own: Relay.Box.KeyPair
  /** Addresses of 16 bytes. */
  readonly ownAddress: Uint8Array
  readonly agentAddress: Uint8Array
  /** Gives a message to the relay, for the peer with this key. */
  readonly send: (key: string, message: Uint8Array) => void
  /** Milliseconds of a clock that never goes back, and since 1970. */
  readonly now: () => number
  readonly wallClock: () => number
}

/** The tunnel and the connections to one key of the agent. */
interface Way {
  readonly key: string
  readonly metAt: number
  readonly tunnel: WireGuard.Tunnel
  readonly host: Tcp.Host
  readonly connections: Set<Tcp.Connection>
}

export class AgentPeer {
  readonly #options: AgentPeerOptions
  #way: Way | undefined
  #lostAt: number | undefined
  #isReady = false

  constructor(options: AgentPeerOptions) {
    this.#options = options
  }

  /** Whether the agent has told its key and takes handshakes. One that does not say so is asked a moment later. */
  get isMet(): boolean {
    return this.#way !== undefined && (this.#isReady || this.#options.now() - this.#way.metAt >= readyWithin)
  }

  /** The agent has told its key. With another one than before, it has begun anew. */
  meet(publicKey: Uint8Array): void {
    this.#lostAt = undefined
    const key = textOf(publicKey)
    if (this.#way?.key === key) return
    this.leave()
    const { agentAddress, now, own, ownAddress, send, wallClock } = this.#options
    const tunnel = new WireGuard.Tunnel({
      ciphers: nodeCiphers,
      own,
      peerKey: keyOfText(key),
      send: (message) => send(key, message),
      receive: (packet) => host.take(packet, now()),
      randomIndex: randomNumber,
      wallClock
    })
    const host = new Tcp.Host({ ownAddress, peerAddress: agentAddress, send: (packet) => tunnel.send(packet, now()), random: randomNumber })
    this.#isReady = false
    this.#way = { key, metAt: now(), tunnel, host, connections: new Set() }
  }

  /** The agent takes handshakes. */
  ready(): void {
    this.#isReady = true
  }

  /** The agent's coordination was interrupted. */
  lose(): void {
    this.#lostAt ??= this.#options.now()
  }

  /** The agent has left: its connections are broken off. */
  leave(): void {
    const way = this.#way
    this.#way = undefined
    for (const connection of way?.connections ?? []) connection.abort()
  }

  /** Takes a message that the relay has from a peer with this key. */
  take(key: string, message: Uint8Array): void {
    if (this.#way?.key === key) this.#way.tunnel.take(message, this.#options.now())
  }

  /** Opens a connection to a port of the agent, if it has told its key. */
  connect(port: number, changed: () => void): Tcp.Connection | undefined {
    const connection = this.#way?.host.connect(port, changed, this.#options.now())
    if (connection !== undefined) this.#way?.connections.add(connection)
    return connection
  }

  /** Breaks a connection off, if it has not ended. */
  release(connection: Tcp.Connection): void {
    // One of a way that has gone has ended with it
    if (this.#way?.connections.delete(connection) === true) this.#way.host.abort(connection)
  }

  /** Acknowledges what has arrived since the last time. */
  flush(): void {
    this.#way?.host.flush()
  }

  tick(): void {
    const now = this.#options.now()
    if (this.#lostAt !== undefined && now - this.#lostAt >= lostFor) {
      this.#lostAt = undefined
      this.leave()
    }
    this.#way?.tunnel.tick(now)
    this.#way?.host.tick(now)
  }
}
