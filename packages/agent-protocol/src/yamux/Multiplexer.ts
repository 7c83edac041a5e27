import { Deferred, Duration, Effect, Exit } from "effect"
import * as Loans from "../Loans.js"
import { Backlog, maximumBacklog } from "./Backlog.js"
import * as Frame from "./Frame.js"
import { type Frame as OutboxFrame, Outbox } from "./Outbox.js"
import { SessionEnded, StreamReset, type EndReason } from "./YamuxError.js"
import { YamuxStream, type StreamHost } from "./YamuxStream.js"

/** Streams opened here that may wait for the peer's answer. */
const maximumUnanswered = maximumBacklog

/** How long the peer may take to accept a stream. */
const acceptWithin = Duration.toMillis("75 seconds")

/** How long the peer may take to close a stream that is closed here. */
const closeWithin = Duration.toMillis("5 minutes")

const maximumStreamId = 0xffff_ffff

const maximumPingValue = 0xffff_ffff

const goAwayCode: Record<EndReason, number> = {
  closed: Frame.GoAwayCode.Normal,
  connection: Frame.GoAwayCode.Normal,
  protocol: Frame.GoAwayCode.ProtocolError,
  peer: Frame.GoAwayCode.Normal,
  timeout: Frame.GoAwayCode.InternalError
}

const goAwayFrame = (code: number) => Frame.encode({ type: Frame.Type.GoAway, flags: 0, streamId: 0, length: code })

const pingFrame = (flags: number, value: number) => Frame.encode({ type: Frame.Type.Ping, flags, streamId: 0, length: value })

const windowFrame = (flags: number, streamId: number) => Frame.encode({ type: Frame.Type.WindowUpdate, flags, streamId, length: 0 })

export interface Settings {
  /** `client` is the connecting side. */
  readonly role: "client" | "server"
  /** Streams of the peer open at a time; further ones are reset. 1024 by default. */
  readonly maxStreams?: number
  /** Received bytes held over all streams until they are read; the stream that exceeds it is reset. 32 MiB by default. */
  readonly maxUnreadBytes?: number
  /** Those of them that streams of the peer may hold. All by default. */
  readonly maxUnreadOfPeer?: number
}

/** The session that a multiplexer belongs to. */
export interface Host {
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** Called when the peer lets answers pile up unread. */
  readonly overflow: () => void
}

const defaults = { maxStreams: 1024, maxUnreadBytes: 32 * 1024 * 1024 } as const

/** No stream whose data is arriving. */
const nothing = { stream: undefined, fin: false } as const

/** The rules of a session without its fibers: what received bytes change, and what has to be sent. Nothing here waits. */
export class Multiplexer implements StreamHost {
  readonly outbox = new Outbox()
  /** Where streams of the peer wait to be accepted. */
  readonly backlog = new Backlog()
  private readonly decoder = new Frame.Decoder()
  /** There while there are any, as the pings: an idle session is kept for each agent, and an empty map takes 200 bytes. */
  private streams: Map<number, YamuxStream> | undefined = undefined
  private pings: Map<number, Deferred.Deferred<void, SessionEnded>> | undefined = undefined
  /** Made when an opener has to wait, which few sessions meet. */
  private answered: Effect.Latch | undefined = undefined
  private readonly parity: number
  private ended: SessionEnded | undefined = undefined
  private nextId: number
  private nextPing = 0
  /** Streams the peer opened. */
  private theirs = 0
  /** Streams opened here that the peer has not answered. */
  private unanswered = 0
  private unread = 0
  /** Those of streams that the peer opened. */
  private unreadOfPeer = 0
  /** Bytes by which windows are wider than those of new streams. */
  private widened = 0
  /** Those of streams that the peer opened. */
  private widenedOfPeer = 0
  /** Whether GoAway was said, here or by the peer. */
  private refusing = false
  private refused = false
  /** The stream whose data is arriving, and whether it ends with it. */
  private receiving: { readonly stream: YamuxStream | undefined; readonly fin: boolean } = nothing

  constructor(
    private readonly settings: Settings,
    private readonly host: Host
  ) {
    this.nextId = settings.role === "client" ? 1 : 2
    this.parity = this.nextId % 2
  }

  now(): number {
    return this.host.now()
  }

  private get maxUnreadBytes(): number {
    return this.settings.maxUnreadBytes ?? defaults.maxUnreadBytes
  }

  private get maxUnreadOfPeer(): number {
    return this.settings.maxUnreadOfPeer ?? this.maxUnreadBytes
  }

  /** Why the session is over, once it is. */
  get over(): SessionEnded | undefined {
    return this.ended
  }

  /** Takes bytes of the peer; answers why the session has to end, if it has to. */
  receive(chunk: Uint8Array): SessionEnded | undefined {
    for (const event of this.decoder.decode(chunk)) {
      const fatal = this.onEvent(event)
      if (fatal !== undefined) return fatal
    }
    return undefined
  }

  private onEvent(event: Frame.Event): SessionEnded | undefined {
    if (event._tag === "Invalid") return this.breach(event.message)
    if (event._tag === "Payload") {
      const { fin, stream } = this.receiving
      // Otherwise it would be kept until the next one
      if (event.last) this.receiving = nothing
      if (stream === undefined) Loans.giveBack(event.bytes.buffer, event.bytes.length)
      else stream.receive(event.bytes)
      if (event.last && fin) stream?.receiveFin()
      return undefined
    }
    switch (event.header.type) {
      case Frame.Type.Ping:
        return this.onPing(event.header)
      case Frame.Type.GoAway:
        return this.onGoAway(event.header)
      default:
        return this.onStreamFrame(event.header)
    }
  }

  private breach(what: string): SessionEnded {
    return new SessionEnded({ reason: "protocol", message: `Protocol error: ${what}` })
  }

  private onPing({ flags, length }: Frame.Header): undefined {
    if ((flags & Frame.Flag.SYN) !== 0) this.send(pingFrame(Frame.Flag.ACK, length))
    else {
      const reply = this.pings?.get(length)
      if (reply !== undefined) Deferred.unsafeDone(reply, Exit.void)
    }
  }

  private onGoAway({ length }: Frame.Header): SessionEnded | undefined {
    if (length !== Frame.GoAwayCode.Normal) return new SessionEnded({ reason: "peer", message: `The peer gave up with code ${length}` })
    this.refused = true
    return undefined
  }

  /** A header of a data or window frame. */
  private onStreamFrame({ type, flags, streamId, length }: Frame.Header): SessionEnded | undefined {
    const has = (flag: number) => (flags & flag) !== 0
    const isData = type === Frame.Type.Data
    if (has(Frame.Flag.SYN) && !this.mayOpen(streamId)) return this.breach(`stream ${streamId} cannot be opened`)
    const stream = has(Frame.Flag.SYN) ? this.opened(streamId) : this.streams?.get(streamId)
    this.receiving = stream !== undefined && isData && length > 0 ? { stream, fin: has(Frame.Flag.FIN) } : nothing
    if (stream === undefined) return undefined
    if (isData && !stream.admit(length)) return this.breach(`${length} bytes exceed the window of stream ${streamId}`)
    // Whatever a peer sends on a stream opened here, it has accepted it.
    stream.acknowledge()
    if (has(Frame.Flag.RST)) stream.break(new StreamReset({ by: "peer", message: "The peer broke the stream off" }))
    else if (!isData) stream.topUp(length)
    if (has(Frame.Flag.FIN) && (!isData || length === 0)) stream.receiveFin()
    if (has(Frame.Flag.SYN)) this.backlog.wake()
    return undefined
  }

  private isOurs(streamId: number): boolean {
    return streamId % 2 === this.parity
  }

  private mayOpen(streamId: number): boolean {
    return streamId !== 0 && !this.isOurs(streamId) && this.streams?.has(streamId) !== true
  }

  /** The peer opens a stream; none where there are too many. */
  private opened(streamId: number): YamuxStream | undefined {
    const stream = new YamuxStream(streamId, this, false)
    if (this.refusing || this.theirs >= (this.settings.maxStreams ?? defaults.maxStreams) || !this.backlog.add(stream)) {
      this.send(windowFrame(Frame.Flag.RST, streamId))
      return undefined
    }
    this.keep(stream)
    this.theirs += 1
    return stream
  }

  /** Opens a stream; none while too many are unanswered, until `whenAnswered` completes. */
  open(): YamuxStream | SessionEnded | undefined {
    if (this.ended !== undefined) return this.ended
    if (this.refused || this.nextId > maximumStreamId)
      return new SessionEnded({ reason: "closed", message: "No more streams are accepted" })
    if (this.unanswered >= maximumUnanswered) {
      ;(this.answered ??= Effect.unsafeMakeLatch()).unsafeClose()
      return undefined
    }
    const stream = new YamuxStream(this.nextId, this, true)
    this.nextId += 2
    this.unanswered += 1
    this.keep(stream)
    this.send(windowFrame(Frame.Flag.SYN, stream.id))
    return stream
  }

  private keep(stream: YamuxStream): void {
    this.streams ??= new Map()
    this.streams.set(stream.id, stream)
  }

  get whenAnswered(): Effect.Effect<void> {
    return Effect.suspend(() => this.answered?.await ?? Effect.void)
  }

  /** Asks the peer for a sign of life, which completes `reply`; answers the ping's number. */
  ping(reply?: Deferred.Deferred<void, SessionEnded>): number {
    const value = this.nextPing
    this.nextPing = value === maximumPingValue ? 0 : value + 1
    if (reply !== undefined) {
      this.pings ??= new Map()
      this.pings.set(value, reply)
    }
    this.send(pingFrame(Frame.Flag.SYN, value))
    return value
  }

  forgetPing(value: number): void {
    this.pings?.delete(value)
    if (this.pings?.size === 0) this.pings = undefined
  }

  /** Accepts no further streams, and says so. */
  refuse(): void {
    this.refusing = true
    this.send(goAwayFrame(Frame.GoAwayCode.Normal))
  }

  /** Breaks off the streams whose peer is overdue. */
  sweep(): void {
    if (this.streams === undefined) return
    const now = this.now()
    for (const stream of this.streams.values()) stream.expire(now, acceptWithin, closeWithin)
  }

  /** Ends every stream, ping and wait, and says GoAway as the last thing sent. */
  end(why: SessionEnded): void {
    this.ended = why
    for (const stream of this.streams?.values() ?? []) stream.break(why)
    for (const reply of this.pings?.values() ?? []) Deferred.unsafeDone(reply, Exit.fail(why))
    this.backlog.end(why)
    this.answered?.unsafeOpen()
    this.send(goAwayFrame(goAwayCode[why.reason]))
    this.outbox.end()
  }

  send(head: Uint8Array): void {
    this.add({ head })
  }

  sendData(head: Uint8Array, payload: Uint8Array, sent: (() => void) | undefined): void {
    this.add({ head, payload, sent })
  }

  private add(frame: OutboxFrame): void {
    if (!this.outbox.add(frame)) this.host.overflow()
  }

  hold(bytes: number, streamId: number): boolean {
    const { maxUnreadBytes, maxUnreadOfPeer } = this
    this.unread += bytes
    if (!this.isOurs(streamId)) {
      this.unreadOfPeer += bytes
      if (this.unreadOfPeer > maxUnreadOfPeer) return false
    }
    return this.unread <= maxUnreadBytes
  }

  widen(bytes: number, streamId: number): boolean {
    const { maxUnreadBytes, maxUnreadOfPeer } = this
    const ofPeer = this.isOurs(streamId) ? 0 : bytes
    // The other halves are for the windows that each stream begins with
    if (this.widened + bytes > maxUnreadBytes / 2 || this.widenedOfPeer + ofPeer > maxUnreadOfPeer / 2) return false
    this.widened += bytes
    this.widenedOfPeer += ofPeer
    return true
  }

  forget(stream: YamuxStream): void {
    if (this.streams?.delete(stream.id) !== true) return
    if (this.streams.size === 0) this.streams = undefined
    this.widened -= stream.widened
    if (this.isOurs(stream.id)) return
    this.widenedOfPeer -= stream.widened
    this.theirs -= 1
  }

  settled(): void {
    this.unanswered -= 1
    this.answered?.unsafeOpen()
  }
}
