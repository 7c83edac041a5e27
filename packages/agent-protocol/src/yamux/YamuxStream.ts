import { Effect, Option, Stream } from "effect"
import type { ByteStream, DirectStream } from "../ByteStream.js"
import * as Loans from "../Loans.js"
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
  /** Sends a data frame without waiting: its header, and its payload, which may not change until `sent` is called. */
  sendData(head: Uint8Array, payload: Uint8Array, sent: (() => void) | undefined): void
  readonly now: () => number
  /** Accounts for bytes of a stream received and not read yet (negative: read); false when the session holds too many. */
  hold(bytes: number, streamId: number): boolean
  /** Accounts for a wider window of a stream until the stream is forgotten; false when the session may hold no more. */
  widen(bytes: number, streamId: number): boolean
  /** The stream is over in both directions. */
  forget(stream: YamuxStream): void
  /** The peer answered the opening of a stream, or never will. */
  settled(): void
}

const readResult = (bytes: Uint8Array | null | StreamError): Effect.Effect<Option.Option<Uint8Array>, StreamError> => {
  if (bytes === null) return Effect.succeedNone
  return bytes instanceof Uint8Array ? Effect.succeedSome(bytes) : Effect.fail(bytes)
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
  /** Called once when there is something to read, or to write again. */
  private readable: (() => void) | undefined = undefined
  private writable: (() => void) | undefined = undefined
  /** Made when they are needed: most streams carry one short call. */
  private breaking: Effect.Latch | undefined = undefined
  private writing: Effect.Semaphore | undefined = undefined
  private directly: DirectStream | undefined = undefined

  constructor(
    readonly id: number,
    private readonly host: StreamHost,
    /** Whether the stream was opened here and the peer has not accepted it yet. */
    private unanswered: boolean
  ) {
    this.openedAt = host.now()
  }

  get direct(): DirectStream {
    return (this.directly ??= {
      take: (ready) => this.take(ready),
      put: (bytes, done, sent) => void this.sendAll(bytes, done, sent),
      finish: () => this.sendFin()
    })
  }

  private take(ready: () => void): Uint8Array | null | StreamError | undefined {
    if (this.received.size > 0) return this.consume()
    if (this.broken !== undefined) return this.broken
    if (this.receivedFin) return null
    this.readable = ready
    return undefined
  }

  /** Reads the bytes that have arrived, at least one, and waits for them; None once the peer has finished. */
  get read(): Effect.Effect<Option.Option<Uint8Array>, StreamError> {
    const next: Effect.Effect<Option.Option<Uint8Array>, StreamError> = Effect.suspend(() => {
      const bytes = this.take(() => undefined)
      return bytes === undefined ? Effect.zipRight(this.arrival, next) : readResult(bytes)
    })
    return next
  }

  private get arrival(): Effect.Effect<void> {
    return Effect.async((resume) => {
      const ready = (): void => resume(Effect.void)
      // The fiber may have let others run since it found nothing
      if (this.received.size > 0 || this.receivedFin || this.broken !== undefined) return ready()
      this.readable = ready
      return Effect.sync(() => {
        if (this.readable === ready) this.readable = undefined
      })
    })
  }

  /** All that arrives, until the peer finished. */
  get incoming(): Stream.Stream<Uint8Array, StreamError> {
    return Stream.repeatEffectOption(
      Effect.matchEffect(this.read, {
        onFailure: (error) => Effect.fail(Option.some(error)),
        onSuccess: Option.match({ onNone: () => Effect.fail(Option.none()), onSome: (bytes) => Effect.succeed(bytes) })
      })
    )
  }

  /** Completes with the error that broke the stream off; never when it ends properly. */
  get whenBroken(): Effect.Effect<never, StreamError> {
    const whenBroken: Effect.Effect<never, StreamError> = Effect.suspend(() => {
      if (this.broken !== undefined) return Effect.fail(this.broken)
      this.breaking ??= Effect.unsafeMakeLatch()
      return Effect.zipRight(this.breaking.await, whenBroken)
    })
    return whenBroken
  }

  /** Sends all bytes, waiting while the peer's window is used up or the connection is slow. */
  readonly write = (bytes: Uint8Array): Effect.Effect<void, StreamError> => {
    const writing = Effect.suspend(() =>
      bytes.length > 0 && this.fits(bytes) && this.push(bytes)
        ? Effect.void
        : Effect.async<void, StreamError>((resume) => {
            const stop = this.sendAll(bytes, (error) => resume(error === undefined ? Effect.void : Effect.fail(error)))
            return Effect.sync(stop)
          })
    )
    return Effect.suspend(() => this.oneWriter.withPermits(1)(writing))
  }

  private get oneWriter(): Effect.Semaphore {
    return (this.writing ??= Effect.unsafeMakeSemaphore(1))
  }

  /** Sends bytes, and calls back. Returns how to send no more of them. */
  private sendAll(bytes: Uint8Array, done: (error?: StreamError) => void, sent?: () => void): () => void {
    let from = 0
    let stopWaiting: () => void = () => undefined
    const over = (error?: StreamError): void => {
      // Another stream gets the room that is left
      this.host.outbox.passOn()
      done(error)
    }
    const go = (): void => {
      for (;;) {
        if (this.broken !== undefined) return over(this.broken)
        if (this.sentFin) return over(new StreamReset({ by: "here", message: "The stream is closed for writing" }))
        if (from === bytes.length) {
          over()
          if (from === 0) sent?.()
          return
        }
        if (this.sendWindow === 0) {
          this.host.outbox.passOn()
          this.writable = go
          stopWaiting = () => {
            if (this.writable === go) this.writable = undefined
          }
          return
        }
        if (!this.host.outbox.hasRoom) {
          stopWaiting = this.host.outbox.whenRoom(go)
          return
        }
        const size = Math.min(bytes.length - from, this.sendWindow, maximumPayload)
        const piece = size === bytes.length ? bytes : bytes.subarray(from, from + size)
        from += size
        this.push(piece, from === bytes.length ? sent : undefined)
      }
    }
    go()
    return () => {
      stopWaiting()
      this.host.outbox.passOn()
    }
  }

  private fits(bytes: Uint8Array): boolean {
    const limit = Math.min(this.sendWindow, maximumPayload)
    return this.broken === undefined && !this.sentFin && this.host.outbox.hasRoom && bytes.length <= limit
  }

  private push(payload: Uint8Array, sent?: () => void): true {
    this.sendWindow -= payload.length
    this.host.sendData(Frame.encodeDataHead(this.id, payload.length), payload, sent)
    return true
  }

  /** Sends all bytes where that needs no waiting; otherwise sends nothing and answers false. */
  readonly offer = (bytes: Uint8Array): Effect.Effect<boolean> =>
    Effect.suspend(() =>
      this.oneWriter
        .withPermitsIfAvailable(1)(Effect.sync(() => this.fits(bytes) && this.push(bytes)))
        .pipe(Effect.map(Option.getOrElse(() => false)))
    )

  /** Nothing more will be written; reading goes on, until the session gives the peer up after five minutes. */
  get finish(): Effect.Effect<void> {
    return Effect.sync(() => this.sendFin())
  }

  /** Breaks the stream off, in both directions. */
  get reset(): Effect.Effect<void> {
    return Effect.sync(() => this.resetBecause("Broken off"))
  }

  /** Finishes and reads no more: what still arrives is discarded. The session does it when the stream's scope closes. */
  abandon(): void {
    this.abandoned = true
    this.host.hold(-this.received.clear(), this.id)
    this.sendFin()
  }

  /** @internal a data frame's header came; false when it exceeds the window. */
  admit(length: number): boolean {
    if (length > this.receiveWindow) return false
    this.receiveWindow -= length
    return true
  }

  /** @internal a piece of a data frame came. */
  receive(bytes: Uint8Array): void {
    if (this.abandoned || this.broken !== undefined || this.receivedFin) return Loans.giveBack(bytes.buffer, bytes.length)
    this.received.append(bytes, this.readable !== undefined)
    if (!this.host.hold(bytes.length, this.id)) this.resetBecause("The session holds too many unread bytes")
    this.wakeReader()
  }

  /** @internal the peer tops the window up. */
  topUp(increment: number): void {
    this.sendWindow = Math.min(this.sendWindow + increment, maximumWindow)
    if (this.sendWindow > 0) this.wakeWriter()
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
    this.wakeReader()
    if (this.sentFin) this.host.forget(this)
  }

  /** @internal the stream is dead: the peer reset it, or the session ended. What was received before the end of the session can still be read. */
  break(error: StreamError): void {
    if (this.broken !== undefined) return
    this.broken = error
    if (error._tag === "StreamReset") this.host.hold(-this.received.clear(), this.id)
    this.wakeReader()
    this.wakeWriter()
    this.breaking?.unsafeOpen()
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

  private wakeReader(): void {
    const { readable } = this
    this.readable = undefined
    readable?.()
  }

  private wakeWriter(): void {
    const { writable } = this
    this.writable = undefined
    writable?.()
  }

  private consume(): Uint8Array {
    const bytes = this.received.take()
    this.host.hold(-bytes.length, this.id)
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
    if (!isFast || 2 * wider > widestWindow || !this.host.widen(wider, this.id)) return 0
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
    this.wakeWriter()
    if (this.receivedFin) this.host.forget(this)
  }
}
