import { Cause, Effect, FiberId, Option, type Fiber } from "effect"
import { concatenate } from "../ByteBuffer.js"
import type { ByteStream } from "../ByteStream.js"
import type { StreamError } from "../yamux/YamuxError.js"
import * as Packet from "./Packet.js"
import type { Call, Exchange, Router } from "./Router.js"
import * as RpcError from "./RpcError.js"
import type { Waiting } from "./Waiting.js"

/** Requests of one call that wait for its handler; a client that sends more waits. */
const inboxCapacity = 16

/** Characters of a method's name that are repeated in answers and logs. */
const maximumNameShown = 256

const noData = new Uint8Array(0)

/** Runs the effects of calls. */
export type RunCall<R> = (effect: Effect.Effect<void, never, R>) => Fiber.RuntimeFiber<void>

/** A call being answered, or answered already. Its handler runs in a fiber of its own. */
export class ServedCall<R> {
  private readonly inbox: Array<Uint8Array> = []
  private hasEnded = false
  private messageId = 0
  private fiber: Fiber.RuntimeFiber<void> | undefined = undefined
  private isInterrupted = false
  /** Called once when there is a request, or no more. */
  private arrived: (() => void) | undefined = undefined
  /** Called once when there is room for a request, or the call is over. */
  private changed: (() => void) | undefined = undefined
  /** Whether the handler has ended. */
  isOver = false
  /** Whether a write was interrupted: nothing may be written behind it. */
  isTorn = false

  constructor(
    readonly streamId: number,
    private readonly call: Call,
    private readonly stream: ByteStream,
    private readonly waiting: Waiting
  ) {}

  /** Begins to answer. */
  begin(router: Router<R>, run: RunCall<R>): void {
    const { rpc } = this.call
    const shown = rpc.slice(0, maximumNameShown)
    const answer = Effect.suspend((): Effect.Effect<void, RpcError.RpcError | StreamError, R> => {
      const answered = router.procedureOf(rpc)?.(this.exchange)
      // Made only where it is needed: an error with its stack takes 60 µs
      return answered ?? new RpcError.RpcError({ code: RpcError.unimplementedCode, message: `unknown rpc: ${shown}` })
    }).pipe(
      Effect.catchTag("RpcError", (error) => this.fail(error)),
      Effect.catchAllCause((cause) =>
        Option.isSome(Cause.failureOption(cause))
          ? Effect.logDebug(`${shown} was cut off`, cause)
          : Effect.zipRight(
              Effect.logError(`${shown} failed`, cause),
              Effect.ignore(this.fail(new RpcError.RpcError({ code: 0, message: "internal error" })))
            )
      )
    )
    this.fiber = run(answer)
    this.fiber.addObserver(() => this.end())
    // The handler's first steps have run, and may have interrupted it
    if (this.isInterrupted) this.fiber.unsafeInterruptAsFork(FiberId.none)
  }

  /** Interrupts the handler; `changed` is called when it has ended. */
  interrupt(changed: () => void): void {
    this.changed = changed
    if (this.isInterrupted) return
    this.isInterrupted = true
    this.fiber?.unsafeInterruptAsFork(FiberId.none)
  }

  /** Hands a request to the handler, whose bytes are counted; false where too many wait: then `changed` is called when it may be tried again. */
  deliver(data: Uint8Array, changed: () => void): boolean {
    if (this.isOver || this.hasEnded) {
      this.waiting.hold(-data.length)
      return true
    }
    if (this.inbox.length >= inboxCapacity) {
      this.changed = changed
      return false
    }
    this.inbox.push(data)
    this.wakeHandler()
    return true
  }

  /** The client sends no more requests. */
  endRequests(): void {
    this.hasEnded = true
    this.wakeHandler()
  }

  private get exchange(): Exchange {
    return {
      call: this.call,
      receive: this.receive,
      send: (messages, end) =>
        Effect.suspend(() => {
          const packets = messages.map((data) => this.packet(Packet.Kind.Message, data))
          if (end !== undefined) packets.push(this.packet(Packet.Kind[end], noData))
          return this.write(concatenate(packets))
        })
    }
  }

  private get receive(): Effect.Effect<Option.Option<Uint8Array>> {
    const next: Effect.Effect<Option.Option<Uint8Array>> = Effect.suspend(() => {
      const data = this.inbox.shift()
      if (data === undefined) return this.hasEnded ? Effect.succeedNone : Effect.zipRight(this.arrival, next)
      this.waiting.hold(-data.length)
      // What interrupts a call waits for its end
      if (!this.isInterrupted) this.wakeStream()
      return Effect.succeedSome(data)
    })
    return next
  }

  private get arrival(): Effect.Effect<void> {
    return Effect.async((resume) => {
      const ready = (): void => resume(Effect.void)
      if (this.inbox.length > 0 || this.hasEnded) return ready()
      this.arrived = ready
      return Effect.sync(() => {
        if (this.arrived === ready) this.arrived = undefined
      })
    })
  }

  private fail(error: RpcError.RpcError): Effect.Effect<void, StreamError> {
    return Effect.suspend(() => this.write(this.packet(Packet.Kind.Error, RpcError.encode(error))))
  }

  private packet(kind: Packet.Kind, data: Uint8Array): Uint8Array {
    this.messageId += 1
    return Packet.encode({ kind, streamId: this.streamId, messageId: this.messageId, data })
  }

  private write(bytes: Uint8Array): Effect.Effect<void, StreamError> {
    return Effect.suspend(() => {
      this.isTorn = true
      return Effect.map(this.stream.write(bytes), () => {
        this.isTorn = false
      })
    })
  }

  private end(): void {
    this.isOver = true
    for (const data of this.inbox) this.waiting.hold(-data.length)
    this.inbox.length = 0
    this.wakeStream()
  }

  private wakeHandler(): void {
    const { arrived } = this
    this.arrived = undefined
    arrived?.()
  }

  private wakeStream(): void {
    const { changed } = this
    this.changed = undefined
    changed?.()
  }
}
