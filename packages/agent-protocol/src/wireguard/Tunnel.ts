/**
 * One end of a WireGuard tunnel to one peer: it turns packets into messages, makes new keys as the protocol demands, and drops what does not prove
 * to be the peer's. It reads no clock and sends nothing by itself: its owner hands in messages and the time.
 */
import { ReplayWindow } from "./ReplayWindow.js"
import { type Ciphers, tagLength } from "./Ciphers.js"
import {
  type Ends,
  indexAt,
  initiate,
  type Initiation,
  MessageType,
  receiveInitiation,
  receiveResponse,
  respond,
  type SessionKeys
} from "./Handshake.js"

/** Milliseconds of the protocol: when keys are renewed, when they are no longer used, and when an unanswered peer is asked again. */
const rekeyAfter = 120_000
const rejectAfter = 180_000
const rekeyTimeout = 5_000
const keepaliveAfter = 10_000

/** How long a handshake is tried. */
const attemptsLast = 90_000

/** The first two tries are repeated sooner than the protocol says: a user waits, and the peer may not have heard of this end yet. */
const firstTimeouts = [1_000, 2_000]

/** An initiator renews the keys with which it receives before they are refused. */
const rekeyReceiverAfter = rejectAfter - keepaliveAfter - rekeyTimeout

/** The shortest time between two messages of one kind that are looked at in a handshake: each takes up to a millisecond of work. */
const handshakesApart = 50

/** Messages that are sent with one key. The protocol allows more; numbers count exactly to here. */
const maximumCounter = 2 ** 48

/** Packets that wait for the first key. */
const maximumWaiting = 64

/** Packets are padded to a multiple of so many bytes. */
const padding = 16

const headerLength = 16

const nothing = new Uint8Array(0)

interface Session extends SessionKeys {
  readonly createdAt: number
  readonly isInitiator: boolean
  readonly window: ReplayWindow
  sent: number
}

interface Attempt {
  readonly startedAt: number
  readonly tries: number
  readonly repeatAt: number
  readonly initiation: Initiation
}

export interface TunnelOptions extends Ends {
  readonly ciphers: Ciphers
  /** Sends a message to the peer. It may be lost. */
  readonly send: (message: Uint8Array) => void
  /** Takes a packet of the peer. */
  readonly receive: (packet: Uint8Array) => void
  /** A random number of 32 bits. */
  readonly randomIndex: () => number
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
}

/** All times are milliseconds of a clock that never goes back. */
export class Tunnel {
  readonly #options: TunnelOptions
  /** The session that packets are sent with, the one before it, and one that the peer has begun and not used yet. */
  #current: Session | undefined
  #previous: Session | undefined
  #next: Session | undefined
  #attempt: Attempt | undefined
  #waiting: Array<Uint8Array> = []
  #lastTimestamp = 0
  #peerTimestamp: Uint8Array | undefined
  #initiationSeenAt = Number.NEGATIVE_INFINITY
  #responseSeenAt = Number.NEGATIVE_INFINITY
  /** Since when a packet that was sent has had no message of the peer for an answer. */
  #unansweredSince: number | undefined
  /** Since when a packet that has arrived has had no message for an answer. */
  #owedSince: number | undefined

  constructor(options: TunnelOptions) {
    this.#options = options
  }

  /** Whether both ends have keys. */
  isOpen(now: number): boolean {
    return this.#current !== undefined && now - this.#current.createdAt < rejectAfter
  }

  /** Begins a handshake unless one is under way. */
  begin(now: number): void {
    if (this.#attempt === undefined) this.#initiate(now, now, 0)
  }

  /** Sends a packet, or keeps it until there is a key. */
  send(packet: Uint8Array, now: number): void {
    const session = this.#usable(now)
    if (session === undefined) {
      this.#waiting.push(packet)
      if (this.#waiting.length > maximumWaiting) this.#waiting.shift()
      return this.begin(now)
    }
    this.#unansweredSince ??= now
    this.#transmit(session, packet)
    if ((session.isInitiator && now - session.createdAt >= rekeyAfter) || session.sent >= maximumCounter / 2) this.begin(now)
  }

  /** Takes a message that may be the peer's. */
  take(message: Uint8Array, now: number): void {
    if (message.length < headerLength || message[1] !== 0 || message[2] !== 0 || message[3] !== 0) return
    switch (message[0]) {
      case MessageType.initiation:
        return this.#takeInitiation(message, now)
      case MessageType.response:
        return this.#takeResponse(message, now)
      case MessageType.data:
        return this.#takeData(message, now)
      // A peer under load may send a cookie, without which it takes no handshake: the handshake is tried again until the load is over
    }
  }

  /** Repeats handshakes and keeps the tunnel alive. The owner calls it several times a second while the tunnel is used. */
  tick(now: number): void {
    if (this.#current !== undefined && now - this.#current.createdAt >= 3 * rejectAfter) this.#forget()
    const attempt = this.#attempt
    if (attempt !== undefined) {
      if (now - attempt.startedAt >= attemptsLast) {
        this.#attempt = undefined
        this.#waiting = []
        this.#unansweredSince = undefined
      } else if (now >= attempt.repeatAt) {
        this.#initiate(now, attempt.startedAt, attempt.tries + 1)
      }
      return
    }
    if (this.#unansweredSince !== undefined && now - this.#unansweredSince >= keepaliveAfter + rekeyTimeout) this.begin(now)
    if (this.#owedSince !== undefined && now - this.#owedSince >= keepaliveAfter) {
      const session = this.#usable(now)
      this.#owedSince = undefined
      if (session !== undefined) this.#transmit(session, nothing)
    }
  }

  #forget(): void {
    this.#current = undefined
    this.#previous = undefined
    this.#next = undefined
  }

  #usable(now: number): Session | undefined {
    const session = this.#current
    return session !== undefined && now - session.createdAt < rejectAfter && session.sent < maximumCounter ? session : undefined
  }

  #transmit(session: Session, packet: Uint8Array): void {
    this.#owedSince = undefined
    const padded = new Uint8Array(Math.ceil(packet.length / padding) * padding)
    padded.set(packet)
    const counter = session.sent++
    const sealed = this.#options.ciphers.seal(session.sendKey, counter, padded, nothing)
    const message = new Uint8Array(headerLength + sealed.length)
    const view = new DataView(message.buffer)
    view.setUint8(0, MessageType.data)
    view.setUint32(4, session.peerIndex, true)
    view.setUint32(8, counter % 2 ** 32, true)
    view.setUint32(12, Math.floor(counter / 2 ** 32), true)
    message.set(sealed, headerLength)
    this.#options.send(message)
  }

  #initiate(now: number, startedAt: number, tries: number): void {
    const { ciphers, own, peerKey, randomIndex, send } = this.#options
    const initiated = initiate(ciphers, { own, peerKey }, randomIndex(), this.#timestamp())
    // The peer's key has no secret with any other: it never answers
    if (initiated === undefined) return
    const [message, initiation] = initiated
    this.#attempt = { startedAt, tries, repeatAt: now + (firstTimeouts[tries] ?? rekeyTimeout), initiation }
    this.#owedSince = undefined
    send(message)
  }

  /** The time as TAI64N, later than each one before. */
  #timestamp(): Uint8Array {
    this.#lastTimestamp = Math.max(this.#options.wallClock(), this.#lastTimestamp + 1)
    const bytes = new Uint8Array(12)
    const view = new DataView(bytes.buffer)
    view.setBigUint64(0, 2n ** 62n + 10n + BigInt(Math.floor(this.#lastTimestamp / 1000)))
    view.setUint32(8, (this.#lastTimestamp % 1000) * 1_000_000)
    return bytes
  }

  #takeInitiation(message: Uint8Array, now: number): void {
    if (now - this.#initiationSeenAt < handshakesApart) return
    this.#initiationSeenAt = now
    const { ciphers, own, peerKey, randomIndex, send } = this.#options
    const received = receiveInitiation(ciphers, { own, peerKey }, message)
    if (received === undefined || !isLater(received.timestamp, this.#peerTimestamp)) return
    const responded = respond(ciphers, { own, peerKey }, randomIndex(), received)
    if (responded === undefined) return
    this.#peerTimestamp = received.timestamp
    const [response, keys] = responded
    this.#next = { ...keys, createdAt: now, isInitiator: false, window: new ReplayWindow(), sent: 0 }
    send(response)
  }

  #takeResponse(message: Uint8Array, now: number): void {
    const attempt = this.#attempt
    if (attempt === undefined || indexAt(message, 8) !== attempt.initiation.index) return
    if (now - this.#responseSeenAt < handshakesApart) return
    this.#responseSeenAt = now
    const { ciphers, own, peerKey } = this.#options
    const keys = receiveResponse(ciphers, { own, peerKey }, attempt.initiation, message)
    if (keys === undefined) return
    this.#use({ ...keys, createdAt: now, isInitiator: true, window: new ReplayWindow(), sent: 0 }, now)
  }

  /** Sends with a session from now on. The peer takes it for confirmed when it has had a message with it. */
  #use(session: Session, now: number): void {
    // Both ends may have begun at once: the peer then sends with the session that it has begun
    this.#previous = this.#next === undefined || this.#next === session ? this.#current : this.#next
    this.#current = session
    this.#next = undefined
    this.#attempt = undefined
    this.#unansweredSince = undefined
    const waiting = this.#waiting
    this.#waiting = []
    if (waiting.length === 0 && session.isInitiator) this.#transmit(session, nothing)
    for (const packet of waiting) this.send(packet, now)
  }

  #takeData(message: Uint8Array, now: number): void {
    const index = indexAt(message, 4)
    const session = [this.#current, this.#next, this.#previous].find((one) => one?.ownIndex === index)
    if (session === undefined || now - session.createdAt >= rejectAfter) return
    const counter = indexAt(message, 8) + indexAt(message, 12) * 2 ** 32
    if (counter >= maximumCounter || message.length < headerLength + tagLength || !session.window.isNew(counter)) return
    const packet = this.#options.ciphers.open(session.receiveKey, counter, message.subarray(headerLength), nothing)
    if (packet === undefined) return
    session.window.add(counter)
    this.#unansweredSince = undefined
    if (session === this.#next) this.#use(session, now)
    if (session.isInitiator && now - session.createdAt >= rekeyReceiverAfter) this.begin(now)
    // Without bytes, it says no more than that the peer is there
    if (packet.length === 0) return
    this.#owedSince ??= now
    this.#options.receive(packet)
  }
}

const isLater = (timestamp: Uint8Array, than: Uint8Array | undefined): boolean => {
  if (than === undefined) return true
  const at = timestamp.findIndex((byte, index) => byte !== than[index])
  return at !== -1 && (timestamp[at] ?? 0) > (than[at] ?? 0)
}
