import { Effect, Option, Stream } from "effect"
import type { ByteStream } from "../ByteStream.js"
import * as Frame from "./Frame.js"
import type { Outbox } from "./Outbox.js"
import { ReceivedBytes } from "./ReceivedBytes.js"
import { StreamReset, type StreamError } from "./YamuxError.js"

/** Bytes each side may send on a new stream before the other tops up. */
export const initialWindow = 262_144

/** The window that a stream gets step by step while its reader keeps up: a long way to the peer, or a busy machine, needs more under way. */
export const widestWindow = 2 * 1024 * 1024

/** Milliseconds in which a reader has to read half of its window to get a wider one. */
const readFast = 250

/** Payload bytes of the data frames sent. */
const maximumPayload = 64 * 1024

/** The largest size of a window, for any updates of the peer. */
const maximumWindow = 0xffff_ffff

/** The operations of its session that a stream uses. */
export interface StreamHost {
  readonly outbox: Outbox
  /** Sends a frame without waiting. */
  send(frame: Uint8Array): void
  readonly now: () => number
  /** Accounts for bytes received and not read yet (negative: read); false when the session holds too many. */
  hold(bytes: number): boolean
  /** Accounts for a wider window until the stream is forgotten; false when the session may hold no more. */
  widen(bytes: number): boolean
  /** The stream is over in both directions. */
  forget(stream: YamuxStream): void
  /** The peer answered the opening of a stream, or never will. */
  settled(): void
}

/** One stream of a session. Reading and writing are independent; each belongs to one fiber at a time. */
export class YamuxStream implements ByteStream {
  private readonly received = new ReceivedBytes()
  private sendWindow = initialWindow
  private receiveWindow = initialWindow
  /** What the peer may send at most before this side tops up. */
  private fullWindow = initialWindow
  private toppedUpAt = Number.NEGATIVE_INFINITY
  /** Bytes read since the peer was last topped up. */
  private consumed = 0
  private sentFin = false
  private receivedFin = false
  private abandoned = false
  private broken: StreamError | undefined = undefined
  private closedAt: number | undefined = undefined
  private readonly openedAt: number
  private readonly readable = Effect.unsafeMakeLatch()
  private readonly writable = Effect.unsafeMakeLatch()
  private readonly breaking = Effect.unsafeMakeLatch()
  private readonly writing = Effect.unsafeMakeSemaphore(1)

  constructor(
    readonly id: number,
    private readonly host: StreamHost,
    /** Whether the stream was opened here and the peer has not accepted it yet. */
    private unanswered: boolean
  ) {
    this.openedAt = host.now()
  }

  /** Reads the bytes that have arrived, at least one, and waits for them; None once the peer has finished. */
  readonly read: Effect.Effect<Option.Option<Uint8Array>, StreamError> = Effect.suspend(() => {
    if (this.received.size > 0) return Effect.succeed(Option.some(this.consume()))
    if (this.broken !== undefined) return Effect.fail(this.broken)
    if (this.receivedFin) return Effect.succeed(Option.none())
    this.readable.unsafeClose()
    return Effect.zipRight(this.readable.await, this.read)
  })

  /** All that arrives, until the peer finished. */
  readonly incoming: Stream.Stream<Uint8Array, StreamError> = Stream.repeatEffectOption(
    Effect.matchEffect(this.read, {
      onFailure: (error) => Effect.fail(Option.some(error)),
      onSuccess: Option.match({ onNone: () => Effect.fail(Option.none()), onSome: (bytes) => Effect.succeed(bytes) })
    })
  )

  /** Completes with the error that broke the stream off; never when it ends properly. */
  readonly whenBroken: Effect.Effect<never, StreamError> = Effect.suspend(() =>
    this.broken === undefined ? Effect.zipRight(this.breaking.await, this.whenBroken) : Effect.fail(this.broken)
  )

  /** Sends all bytes, waiting while the peer's window is used up or the connection is slow. */
  readonly write = (bytes: Uint8Array): Effect.Effect<void, StreamError> =>
    this.writing.withPermits(1)(
      Effect.suspend(() =>
        bytes.length > 0 && this.fits(bytes) && this.push(bytes)
          ? Effect.void
          : Effect.ensuring(
              this.writeFrom(bytes, 0),
              Effect.sync(() => this.host.outbox.passOn())
            )
      )
    )

  private writeFrom(bytes: Uint8Array, offset: number): Effect.Effect<void, StreamError> {
    return Effect.suspend(() => {
      let from = offset
      for (;;) {
        if (this.broken !== undefined) return Effect.fail(this.broken)
        if (this.sentFin) return Effect.fail(new StreamReset({ by: "here", message: "The stream is closed for writing" }))
        if (from === bytes.length) return Effect.void
        if (this.sendWindow === 0) {
          this.host.outbox.passOn()
          this.writable.unsafeClose()
          return Effect.zipRight(this.writable.await, this.writeFrom(bytes, from))
        }
        if (!this.host.outbox.hasRoom) return Effect.zipRight(this.host.outbox.room, this.writeFrom(bytes, from))
        const size = Math.min(bytes.length - from, this.sendWindow, maximumPayload)
        this.push(bytes.subarray(from, from + size))
        from += size
      }
    })
  }

  private fits(bytes: Uint8Array): boolean {
    const limit = Math.min(this.sendWindow, maximumPayload)
    return this.broken === undefined && !this.sentFin && this.host.outbox.hasRoom && bytes.length <= limit
  }

  private push(payload: Uint8Array): true {
    this.sendWindow -= payload.length
    this.host.send(Frame.encodeData(this.id, payload))
    return true
  }

  /** Sends all bytes where that needs no waiting; otherwise sends nothing and answers false. */
  readonly offer = (bytes: Uint8Array): Effect.Effect<boolean> =>
    this.writing
      .withPermitsIfAvailable(1)(Effect.sync(() => this.fits(bytes) && this.push(bytes)))
      .pipe(Effect.map(Option.getOrElse(() => false)))

  /** Nothing more will be written; reading goes on, until the session gives the peer up after five minutes. */
  readonly finish: Effect.Effect<void> = Effect.sync(() => this.sendFin())

  /** Breaks the stream off, in both directions. */
  readonly reset: Effect.Effect<void> = Effect.sync(() => this.resetBecause("Broken off"))

  /**
   * Finishes and reads no more: what still arrives is discarded.
   * @internal the session does it when the stream's scope closes
   */
  readonly abandon: Effect.Effect<void> = Effect.sync(() => {
    this.abandoned = true
    this.host.hold(-this.received.clear())
    this.sendFin()
  })

  /** @internal a data frame's header came; false when it exceeds the window. */
  admit(length: number): boolean {
    if (length > this.receiveWindow) return false
    this.receiveWindow -= length
    return true
  }

  /** @internal a piece of a data frame came. */
  receive(bytes: Uint8Array): void {
    if (this.abandoned || this.broken !== undefined || this.receivedFin) return
    this.received.append(bytes)
    if (!this.host.hold(bytes.length)) this.resetBecause("The session holds too many unread bytes")
    this.readable.unsafeOpen()
  }

  /** @internal the peer tops the window up. */
  topUp(increment: number): void {
    this.sendWindow = Math.min(this.sendWindow + increment, maximumWindow)
    if (this.sendWindow > 0) this.writable.unsafeOpen()
  }

  /** @internal the peer accepted the stream. */
  acknowledge(): void {
    if (!this.unanswered) return
    this.unanswered = false
    this.host.settled()
  }

  /** @internal Hands the stream to the acceptor; tells the peer. */
  accept(): void {
    this.host.send(Frame.encode({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.ACK, streamId: this.id, length: 0 }))
  }

  /** @internal the peer finished. */
  receiveFin(): void {
    this.receivedFin = true
    this.readable.unsafeOpen()
    if (this.sentFin) this.host.forget(this)
  }

  /** @internal the stream is dead: the peer reset it, or the session ended. What was received before the end of the session can still be read. */
  break(error: StreamError): void {
    if (this.broken !== undefined) return
    this.broken = error
    if (error._tag === "StreamReset") this.host.hold(-this.received.clear())
    this.readable.unsafeOpen()
    this.writable.unsafeOpen()
    this.breaking.unsafeOpen()
    this.acknowledge()
    this.host.forget(this)
  }

  /** @internal breaks the stream off and tells the peer. */
  resetBecause(message: string): void {
    if (this.broken !== undefined || (this.sentFin && this.receivedFin)) return
    this.host.send(Frame.encode({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.RST, streamId: this.id, length: 0 }))
    this.break(new StreamReset({ by: "here", message }))
  }

  /** @internal breaks the stream off where the peer is overdue; times in milliseconds. */
  expire(now: number, acknowledgeWithin: number, closeWithin: number): void {
    if (this.unanswered && now - this.openedAt >= acknowledgeWithin) this.resetBecause("The peer did not accept the stream in time")
    else if (this.closedAt !== undefined && now - this.closedAt >= closeWithin)
      this.resetBecause("The peer did not close the stream in time")
  }

  /** @internal whether the peer broke it off before it was accepted. */
  get isBroken(): boolean {
    return this.broken !== undefined
  }

  private consume(): Uint8Array {
    const bytes = this.received.take()
    this.host.hold(-bytes.length)
    this.consumed += bytes.length
    if (this.consumed >= this.fullWindow / 2 && !this.receivedFin && this.broken === undefined) {
      const increment = this.consumed + this.widening()
      this.host.send(Frame.encode({ type: Frame.Type.WindowUpdate, flags: 0, streamId: this.id, length: increment }))
      this.receiveWindow += increment
      this.consumed = 0
    }
    return bytes
  }

  /** By how much the window becomes wider: it doubles for a fast reader. */
  private widening(): number {
    const now = this.host.now()
    const isFast = now - this.toppedUpAt <= readFast
    this.toppedUpAt = now
    const wider = this.fullWindow
    if (!isFast || 2 * wider > widestWindow || !this.host.widen(wider)) return 0
    this.fullWindow += wider
    return wider
  }

  /** @internal by how much the window is wider than that of a new stream. */
  get widened(): number {
    return this.fullWindow - initialWindow
  }

  private sendFin(): void {
    if (this.sentFin || this.broken !== undefined) return
    this.sentFin = true
    this.closedAt = this.host.now()
    this.host.send(Frame.encode({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.FIN, streamId: this.id, length: 0 }))
    this.writable.unsafeOpen()
    if (this.receivedFin) this.host.forget(this)
  }
}
