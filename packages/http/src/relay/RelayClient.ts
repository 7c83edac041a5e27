/** One client of the relay: its handshake, the frames it sends, and what waits until it takes more. agents-and-apps.md §12. */
import { Relay } from "@atelier/agent-protocol"
import { type GoneReason, PacketQueue, type RelayConnection, type RelayRouter } from "@atelier/core/network"
import { randomBytes } from "@atelier/node"
import type { EndReason, Wire } from "./Wire.js"

const { Box, RelayFrame } = Relay
const { FrameType, PeerGoneReason } = RelayFrame

/** How many packets wait for a client, of each of the two kinds, and their bytes. */
const queuedPackets = 512
const queuedBytes = 1024 * 1024

/** Bytes that are handed to a connection at once: a client has the write timeout to receive them. */
const batchBytes = 16 * 1024

/** How many packets gather while the frames of one read are looked at. */
const gathered = 256

/** Milliseconds in which a client has to name its key, and to receive what it was sent. */
const handshakeTimeout = 10_000
const writeTimeout = 2_000

/** Milliseconds between the frames that keep a connection open, and the most that is added at random so that clients are not sent to together. */
const keepAliveInterval = 60_000
const keepAliveJitter = 5_000

const keepAlive = RelayFrame.make(FrameType.KeepAlive)

/** What the clients of a relay share. */
export interface RelayHouse {
  readonly keys: () => Relay.Box.KeyPair
  readonly router: RelayRouter
  /** Milliseconds of a clock. */
  readonly now: () => number
  /** A client has frames to send when the frames at hand are looked at. */
  readonly touched: (client: RelayClient) => void
  /** A client has named its key. */
  readonly entered: (client: RelayClient) => void
  /** A client broke the protocol. */
  readonly refused: (reason: string) => void
}

/** The text by which the router knows a key: a character for each byte. */
export const textOf = (key: Uint8Array): string => Buffer.from(key.buffer, key.byteOffset, key.length).toString("latin1")

/** The key that a text stands for. */
export const keyOfText = (text: string): Buffer => Buffer.from(text, "latin1")

export class RelayClient implements RelayConnection {
  key = ""
  readonly #house: RelayHouse
  readonly #wire: Wire
  readonly #reader: Relay.FrameReader
  /** The client's key; undefined until it has proved it. */
  #publicKey: Uint8Array | undefined
  readonly #replies = new PacketQueue(queuedPackets, queuedBytes)
  readonly #disco = new PacketQueue(queuedPackets, queuedBytes)
  readonly #packets = new PacketQueue(queuedPackets, queuedBytes)
  #isTouched = false
  #isEnded = false
  /** The limit of the handshake; afterwards the time of the next ping to the client. */
  #due: number
  /** Since when the connection has taken no more. */
  #blockedSince: number | undefined

  constructor(house: RelayHouse, wire: Wire) {
    this.#house = house
    this.#wire = wire
    this.#due = house.now() + handshakeTimeout
    this.#reader = new Relay.FrameReader({
      treatment: (type) => (this.#publicKey === undefined ? RelayFrame.beforeHandshake(type) : RelayFrame.afterHandshake(type)),
      receive: (frame) => this.#receive(frame)
    })
    this.#reply(RelayFrame.make(FrameType.ServerKey, RelayFrame.magic, house.keys().publicKey))
    this.flush()
  }

  /** Takes bytes that the client has sent, and their memory. */
  take(bytes: Uint8Array): void {
    if (this.#isEnded) return
    const refusal = this.#reader.push(bytes)
    if (refusal === undefined) return
    this.#house.refused(refusal)
    this.end("closed")
  }

  /** Puts a RecvPacket into the queue of its kind. */
  deliver(frame: Uint8Array): void {
    const queue = RelayFrame.isDisco(frame) ? this.#disco : this.#packets
    queue.offer(this.#blockedSince === undefined ? frame : own(frame))
    this.#touch()
    if (queue.length >= gathered && this.#blockedSince === undefined) this.flush()
  }

  peerGone(key: string, reason: GoneReason): void {
    const code = reason === "disconnected" ? PeerGoneReason.disconnected : PeerGoneReason.notHere
    this.#reply(RelayFrame.make(FrameType.PeerGone, keyOfText(key), Uint8Array.of(code)))
  }

  /** Sends what waits, as far as the connection takes it. */
  flush(): void {
    this.#isTouched = false
    if (this.#isEnded) return
    while (this.#wire.takesMore()) {
      const batch = this.#batch()
      if (batch.length === 0) {
        this.#blockedSince = undefined
        return
      }
      this.#wire.write(batch)
    }
    if (this.#blockedSince !== undefined) return
    this.#blockedSince = this.#house.now()
    this.#disco.replaceEach(own)
    this.#packets.replaceEach(own)
  }

  /** The connection takes more again. */
  drained(): void {
    this.#blockedSince = undefined
    this.flush()
  }

  /** Does what is due at a time. */
  tick(now: number): void {
    if (this.#blockedSince !== undefined && now - this.#blockedSince >= writeTimeout) return this.#wire.destroy()
    if (now < this.#due) return
    if (this.#publicKey === undefined) return this.end("closed")
    this.#due = now + keepAliveAfter()
    this.#reply(keepAlive)
    this.flush()
  }

  end(reason: EndReason): void {
    if (this.#isEnded) return
    this.flush()
    this.#isEnded = true
    this.#wire.end(reason)
  }

  #receive(frame: Uint8Array): string | undefined {
    if (this.#publicKey === undefined) return this.#enter(frame, this.#house)
    this.#house.router.spoke(this)
    switch (RelayFrame.typeOf(frame)) {
      case FrameType.SendPacket:
        this.#forward(frame, this.#publicKey)
        break
      case FrameType.Ping:
        this.#reply(
          RelayFrame.make(FrameType.Pong, frame.subarray(RelayFrame.headerLength, RelayFrame.headerLength + RelayFrame.pingLength))
        )
        break
    }
    return undefined
  }

  #enter(clientInfo: Uint8Array, { entered, keys, now, router }: RelayHouse): string | undefined {
    const client = Box.openClientInfo(RelayFrame.payloadOf(clientInfo), keys().secretKey)
    if (client === undefined) return "the client did not prove its key"
    this.#publicKey = client.publicKey
    this.key = textOf(client.publicKey)
    this.#due = now() + keepAliveAfter()
    router.connect(this)
    entered(this)
    this.#reply(RelayFrame.make(FrameType.ServerInfo, ...Box.sealServerInfo(client.shared, randomBytes(Box.nonceLength))))
    return undefined
  }

  #forward(frame: Uint8Array, source: Uint8Array): void {
    const { now, router } = this.#house
    const bytes = frame.length - RelayFrame.headerLength - RelayFrame.keyLength
    const destination = router.route(this, textOf(RelayFrame.keyOf(frame)), bytes, RelayFrame.isDisco(frame), now())
    destination?.deliver(RelayFrame.toRecvPacket(frame, source))
  }

  #reply(frame: Uint8Array): void {
    this.#replies.offer(frame)
    this.#touch()
  }

  #touch(): void {
    if (this.#isTouched) return
    this.#isTouched = true
    this.#house.touched(this)
  }

  /** Takes what is sent next: replies first, and packets that look for a direct way before the others. */
  #batch(): ReadonlyArray<Uint8Array> {
    const batch: Array<Uint8Array> = []
    let bytes = 0
    while (bytes < batchBytes) {
      const frame = this.#replies.take() ?? this.#disco.take() ?? this.#packets.take()
      if (frame === undefined) break
      batch.push(frame)
      bytes += frame.length
    }
    return batch
  }
}

/** The frame in memory of its own, where it has arrived in a larger piece: a frame that waits would keep all of that. */
const own = (frame: Uint8Array): Uint8Array => (frame.buffer.byteLength > 2 * frame.length ? new Uint8Array(frame) : frame)

const keepAliveAfter = (): number => {
  const [first = 0, second = 0] = randomBytes(2)
  return keepAliveInterval + Math.floor(((first * 256 + second) / 65_536) * keepAliveJitter)
}
