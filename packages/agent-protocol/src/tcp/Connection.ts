/**
 * One TCP connection (RFC 9293) that this end has opened: retransmission (RFC 6298), congestion control (RFC 5681 and 6582) and scaled windows
 * (RFC 7323). It reads no clock and sends nothing by itself: its owner hands in segments and the time.
 */
import { ByteQueue } from "./ByteQueue.js"
import { CongestionWindow } from "./CongestionWindow.js"
import { Incoming } from "./Incoming.js"
import { RoundTrip } from "./RoundTrip.js"
import { Flag, maximumSegment, type Segment } from "./Segment.js"
import { distance, plus } from "./Sequence.js"

/** Bytes that wait to be read, and bytes that were sent and are not acknowledged. */
export const bufferLength = 256 * 1024

/** The power of two by which the windows that this end tells are divided. */
const windowScale = 3
const largestScale = 14

/** Room that is worth a segment to tell of: half of the largest window without a scale. */
const worthTelling = 32 * 1024

/** The smallest segments that the peer may ask for: smaller ones would make work without end. */
const smallestSegment = 536

/** Milliseconds in which the peer has to open the connection, and to acknowledge something of what was sent. */
const giveUpAfter = 30_000
const giveUpSendingAfter = 60_000
/** A silent peer is asked whether it is there, and is given up. */
const probeAfter = 30_000
const probesApart = 10_000
const giveUpSilentAfter = 75_000
/** How long a closed connection acknowledges what the peer repeats. */
const lingerFor = 2_000

export type EndReason = "refused" | "reset" | "unanswered" | "aborted"

export interface ConnectionOptions {
  readonly localPort: number
  readonly remotePort: number
  /** The first sequence number, at random. */
  readonly sequence: number
  readonly send: (segment: Segment) => void
  /** Something has changed: it has opened or ended, there are bytes to read, or there is room to write. */
  readonly changed: () => void
  readonly now: number
}

export class Connection {
  readonly localPort: number
  readonly remotePort: number
  readonly #options: ConnectionOptions
  readonly #startedAt: number
  #isOpen = false
  #end: EndReason | undefined
  #closedAt: number | undefined

  // What is sent. Sequence numbers: the oldest without acknowledgment, the next one to be sent, and the one behind all that was sent.
  readonly #outgoing = new ByteQueue()
  #unacknowledged: number
  #next: number
  #highest: number
  #isFinishing = false
  #finAcknowledged = false
  #peerWindow = 0
  #peerScale = 0
  #windowSequence = 0
  #windowAcknowledgment = 0
  #segmentLength = smallestSegment
  #congestion = new CongestionWindow(smallestSegment, bufferLength)
  readonly #roundTrip = new RoundTrip()
  /** When the oldest segment is sent again, or a peer without a window is asked for one. */
  #resendAt: number | undefined
  #timed: { readonly sequence: number; readonly at: number } | undefined
  #progressAt: number

  // What has arrived
  readonly #incoming = new Incoming(bufferLength)
  #isScaled = false
  /** The end of the window that the peer was told last. */
  #told = 0
  /** Segments that were not acknowledged. */
  #owed = 0
  #heardAt: number
  #probedAt = 0

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.localPort = options.localPort
    this.remotePort = options.remotePort
    this.#unacknowledged = options.sequence
    this.#next = plus(options.sequence, 1)
    this.#highest = this.#next
    this.#startedAt = options.now
    this.#progressAt = options.now
    this.#heardAt = options.now
    this.#resendAt = options.now + this.#roundTrip.timeout
    this.#sendSyn()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Why the connection has ended before both sides had finished. */
  get endReason(): EndReason | undefined {
    return this.#end
  }

  /** Whether everything of the peer has been read, and nothing follows. */
  get isRead(): boolean {
    return this.#incoming.isRead
  }

  /** Bytes that may be written at present. */
  get room(): number {
    return this.#isOpen && !this.#isFinishing && this.#end === undefined ? bufferLength - this.#outgoing.length : 0
  }

  /** Whether the owner may forget the connection. */
  isOver(now: number): boolean {
    return this.#end !== undefined || (this.#closedAt !== undefined && now - this.#closedAt >= lingerFor)
  }

  /** Takes bytes that have arrived; undefined without any. */
  read(): Uint8Array | undefined {
    const bytes = this.#incoming.read()
    if (bytes === undefined || this.#end !== undefined) return bytes
    // The peer is told of the room once it is worth a segment
    const { expected, isFinished, window } = this.#incoming
    if (!isFinished && distance(this.#told, plus(expected, window)) >= worthTelling) this.#acknowledge()
    return bytes
  }

  /** Takes at most `room` bytes to send, whose memory does not change. */
  write(bytes: Uint8Array, now: number): void {
    if (this.#outgoing.length === 0) this.#progressAt = now
    this.#outgoing.append(bytes)
    this.#transmit(now)
  }

  /** Nothing more will be written. */
  finish(now: number): void {
    if (this.#isFinishing || this.#end !== undefined) return
    this.#isFinishing = true
    if (this.#outgoing.length === 0) this.#progressAt = now
    if (this.#isOpen) this.#transmit(now)
  }

  /** Breaks the connection off. */
  abort(): void {
    if (this.#end !== undefined || this.#closedAt !== undefined) return
    if (this.#isOpen) this.#emit(this.#next, Flag.rst | Flag.ack)
    this.#stop("aborted")
  }

  /** Acknowledges what has arrived together. */
  flush(): void {
    if (this.#owed > 0 && this.#end === undefined) this.#acknowledge()
  }

  /** Takes a segment of the peer. */
  take(segment: Segment, now: number): void {
    if (this.#end !== undefined) return
    this.#heardAt = now
    if (this.#isOpen) this.#takeSynchronized(segment, now)
    else this.#takeAnswer(segment, now)
  }

  /** Sends again and gives up as time passes. The owner calls it several times a second. */
  tick(now: number): void {
    if (this.#end !== undefined || this.#closedAt !== undefined) return
    if (!this.#isOpen) {
      if (now - this.#startedAt >= giveUpAfter) return this.#stop("unanswered")
      if (this.#resendAt !== undefined && now >= this.#resendAt) {
        this.#backOff(now)
        this.#sendSyn()
      }
      return
    }
    const silence = now - this.#heardAt
    const isWaiting = this.#outgoing.length > 0 || this.#isFinishing
    if (silence >= giveUpSilentAfter || (isWaiting && !this.#finAcknowledged && this.#isStuck(now))) {
      this.#emit(this.#next, Flag.rst | Flag.ack)
      return this.#stop("unanswered")
    }
    if (this.#resendAt !== undefined && now >= this.#resendAt) this.#resend(now)
    else if (silence >= probeAfter && now - this.#probedAt >= probesApart) {
      this.#probedAt = now
      // A sequence number that the peer has had already makes it answer
      this.#emit(plus(this.#unacknowledged, -1), Flag.ack)
    }
  }

  /** A peer without a window takes nothing, and says so: that is no silence. */
  #isStuck(now: number): boolean {
    return this.#peerWindow > 0 && now - this.#progressAt >= giveUpSendingAfter
  }

  #stop(reason: EndReason): void {
    this.#end = reason
    this.#resendAt = undefined
    this.#incoming.stop()
    this.#outgoing.drop(this.#outgoing.length)
    this.#options.changed()
  }

  // Opening

  #sendSyn(): void {
    const { localPort, remotePort, send, sequence } = this.#options
    send({
      sourcePort: localPort,
      destinationPort: remotePort,
      sequence,
      acknowledgment: 0,
      flags: Flag.syn,
      window: 0xffff,
      data: new Uint8Array(0),
      maximumSegment,
      windowScale
    })
  }

  #takeAnswer(segment: Segment, now: number): void {
    const { acknowledgment, flags, sequence, window } = segment
    if ((flags & Flag.ack) === 0 || acknowledgment !== this.#next) return
    if ((flags & Flag.rst) !== 0) return this.#stop("refused")
    if ((flags & Flag.syn) === 0) return
    this.#isOpen = true
    this.#unacknowledged = acknowledgment
    this.#segmentLength = Math.min(maximumSegment, Math.max(smallestSegment, segment.maximumSegment ?? smallestSegment))
    this.#isScaled = segment.windowScale !== undefined
    this.#incoming.open(plus(sequence, 1), this.#isScaled)
    this.#peerScale = Math.min(largestScale, segment.windowScale ?? 0)
    this.#peerWindow = window
    this.#windowSequence = sequence
    this.#windowAcknowledgment = acknowledgment
    this.#congestion = new CongestionWindow(this.#segmentLength, bufferLength)
    // An answer to a repeated segment does not tell how long it took
    if (this.#roundTrip.hasBackedOff) this.#roundTrip.restore()
    else this.#roundTrip.measure(now - this.#startedAt)
    this.#resendAt = undefined
    this.#progressAt = now
    this.#acknowledge()
    this.#options.changed()
    this.#transmit(now)
  }

  // Receiving

  #takeSynchronized(segment: Segment, now: number): void {
    const { acknowledgment, data, flags, sequence } = segment
    const length = data.length + ((flags & Flag.fin) === 0 ? 0 : 1)
    const { expected, window } = this.#incoming
    const offset = distance(expected, sequence)
    // Something of it has to lie in the window. A peer may ask with an old byte whether this end is there.
    const isAcceptable = length === 0 ? offset >= 0 && offset <= window : offset < Math.max(window, 1) && offset + length > 0
    if (!isAcceptable) {
      if ((flags & Flag.rst) === 0) this.#acknowledge()
      return
    }
    if ((flags & Flag.rst) !== 0) return offset === 0 ? this.#stop("reset") : this.#acknowledge()
    if ((flags & Flag.syn) !== 0) return this.#acknowledge()
    if ((flags & Flag.ack) === 0) return
    if (distance(this.#highest, acknowledgment) > 0) return this.#acknowledge()
    this.#takeAcknowledgment(segment, now)
    if (length > 0) this.#takeData(sequence, data, (flags & Flag.fin) !== 0)
    this.#look(now)
  }

  #takeData(sequence: number, data: Uint8Array, isLast: boolean): void {
    if (this.#incoming.isFinished) return this.#acknowledge()
    const { hadGaps, isNext } = this.#incoming.take(sequence, data, isLast)
    this.#owed += 1
    // Gaps are told at once, so that the peer repeats what is missing
    if (this.#owed >= 2 || hadGaps || this.#incoming.isFinished) this.#acknowledge()
    if (isNext) this.#options.changed()
  }

  #acknowledge(): void {
    this.#emit(this.#next, Flag.ack)
  }

  // Sending

  #emit(sequence: number, flags: number, data: Uint8Array = new Uint8Array(0)): void {
    const { localPort, remotePort, send } = this.#options
    const { expected: acknowledgment, window: room } = this.#incoming
    const window = this.#isScaled ? room >>> windowScale : room
    this.#told = plus(acknowledgment, this.#isScaled ? window << windowScale : window)
    this.#owed = 0
    send({ sourcePort: localPort, destinationPort: remotePort, sequence, acknowledgment, flags, window, data })
  }

  #inFlight(): number {
    return distance(this.#unacknowledged, this.#next)
  }

  /** Sends what the windows allow. */
  #transmit(now: number): void {
    if (!this.#isOpen || this.#end !== undefined) return
    const window = Math.min(this.#congestion.size, this.#peerWindow)
    for (;;) {
      const inFlight = this.#inFlight()
      const left = this.#outgoing.length - inFlight
      const length = Math.min(left, this.#segmentLength, window - inFlight)
      // A short segment waits for a larger window, unless all is acknowledged
      if (length <= 0 || (length < left && length < this.#segmentLength && inFlight > 0)) break
      this.#sendData(inFlight, length, now)
    }
    if (this.#isFinishing && this.#inFlight() === this.#outgoing.length && !this.#finAcknowledged) this.#sendFin(now)
    // A peer without a window is asked for one
    if (this.#resendAt === undefined && this.#outgoing.length > 0 && this.#inFlight() === 0) this.#resendAt = now + this.#roundTrip.timeout
  }

  #sendData(offset: number, length: number, now: number): void {
    const sequence = plus(this.#unacknowledged, offset)
    const isLast = offset + length === this.#outgoing.length
    this.#emit(sequence, Flag.ack | (isLast ? Flag.psh : 0), this.#outgoing.copy(offset, length))
    this.#sent(sequence, length, now)
  }

  #sendFin(now: number): void {
    const sequence = this.#next
    this.#emit(sequence, Flag.fin | Flag.ack)
    this.#sent(sequence, 1, now)
  }

  #sent(sequence: number, length: number, now: number): void {
    const end = plus(sequence, length)
    if (distance(this.#next, end) > 0) this.#next = end
    if (distance(this.#highest, end) > 0) {
      // A segment that is sent again does not tell to which time its acknowledgment belongs
      this.#timed ??= { sequence: end, at: now }
      this.#highest = end
    }
    this.#resendAt ??= now + this.#roundTrip.timeout
  }

  #backOff(now: number): void {
    this.#roundTrip.backOff()
    this.#resendAt = now + this.#roundTrip.timeout
  }

  /** The oldest segment has had no acknowledgment in time, or the peer has no window. */
  #resend(now: number): void {
    this.#timed = undefined
    this.#backOff(now)
    // The end of the bytes needs no room
    if (this.#peerWindow === 0 && this.#outgoing.length > 0) {
      this.#emit(this.#unacknowledged, Flag.ack, this.#outgoing.copy(0, 1))
      this.#sent(this.#unacknowledged, 1, now)
      // The peer may have had no room for it
      this.#next = this.#unacknowledged
      return
    }
    this.#congestion.collapse(this.#inFlight())
    this.#next = this.#unacknowledged
    this.#transmit(now)
  }

  #takeAcknowledgment(segment: Segment, now: number): void {
    const { acknowledgment, data, flags, sequence } = segment
    const count = distance(this.#unacknowledged, acknowledgment)
    const window = segment.window << this.#peerScale
    const isSame = window === this.#peerWindow
    const isNewer = distance(this.#windowSequence, sequence)
    if (count >= 0 && (isNewer > 0 || (isNewer === 0 && distance(this.#windowAcknowledgment, acknowledgment) >= 0))) {
      if (this.#peerWindow === 0 && window > 0) {
        this.#roundTrip.restore()
        this.#progressAt = now
      }
      this.#peerWindow = window
      this.#windowSequence = sequence
      this.#windowAcknowledgment = acknowledgment
    }
    if (count > 0) this.#advance(acknowledgment, count, now)
    else if (count === 0 && data.length === 0 && isSame && window > 0 && (flags & Flag.fin) === 0 && this.#inFlight() > 0) {
      if (this.#congestion.repeat(this.#highest, this.#inFlight())) this.#sendAgain(now)
    }
  }

  #advance(acknowledgment: number, count: number, now: number): void {
    this.#unacknowledged = acknowledgment
    if (distance(this.#next, acknowledgment) > 0) this.#next = acknowledgment
    if (this.#isFinishing && count > this.#outgoing.length) this.#finAcknowledged = true
    this.#outgoing.drop(count)
    this.#progressAt = now
    const timed = this.#timed
    if (timed !== undefined && distance(timed.sequence, acknowledgment) >= 0) {
      this.#roundTrip.measure(now - timed.at)
      this.#timed = undefined
    } else this.#roundTrip.restore()
    this.#resendAt = this.#inFlight() > 0 ? now + this.#roundTrip.timeout : undefined
    if (this.#congestion.advance(acknowledgment, count)) this.#sendAgain(now)
    this.#options.changed()
  }

  /** Sends the oldest segment again. */
  #sendAgain(now: number): void {
    this.#timed = undefined
    const length = Math.min(this.#outgoing.length, this.#segmentLength)
    if (length > 0) this.#sendData(0, length, now)
    else if (this.#isFinishing && !this.#finAcknowledged) this.#emit(this.#unacknowledged, Flag.fin | Flag.ack)
    this.#resendAt = now + this.#roundTrip.timeout
  }

  /** Sends what may be sent now, and notes the end of the connection. */
  #look(now: number): void {
    this.#transmit(now)
    if (this.#finAcknowledged && this.#incoming.isFinished && this.#closedAt === undefined) {
      this.#closedAt = now
      this.#resendAt = undefined
      this.#options.changed()
    }
  }
}
