import { Cause, Clock, Deferred, Duration, Effect, Exit, Fiber, Option, Scope } from "effect"
import { concatenate } from "../ByteBuffer.js"
import { type Transport, TransportError } from "../Transport.js"
import { type Host, Multiplexer, type Settings } from "./Multiplexer.js"
import * as Sweeps from "./Sweeps.js"
import { PingTimeout, SessionEnded } from "./YamuxError.js"
import type { YamuxStream } from "./YamuxStream.js"

/** How long a ping may take, and how long handing bytes to the connection may. */
const answerWithin = Duration.seconds(10)

/** Sweeps that a peer which was asked for a sign of life may stay silent for. */
const silentSweeps = 8

export interface Options extends Settings {
  /**
   * How long the peer may send nothing before it is asked for a sign of life; 5 seconds by default. The session ends 8 seconds later, unless
   * anything has arrived.
   */
  readonly keepAlive?: Duration.DurationInput
  /**
   * Frames of a turn of the event loop with which they are sent, in place of at its end: the peer works on them during the rest of the turn, and each batch costs a write. Without
   * it, they wait for the end.
   */
  readonly batchFrames?: number
}

/** A connection carrying many streams. Closing the scope it was made in ends it, and every stream. */
export interface Session {
  /** Opens a stream, waiting while too many are unanswered. The stream is closed with its scope. */
  readonly open: Effect.Effect<YamuxStream, SessionEnded, Scope.Scope>
  /** The next stream the peer opened. It is closed with its scope. */
  readonly accept: Effect.Effect<YamuxStream, SessionEnded, Scope.Scope>
  /**
   * Accepts the next stream without an effect; the caller that takes it closes it by `abandon`. While no stream waits, returns undefined, and calls `ready` once when a stream
   * or the end has arrived.
   */
  readonly take: (ready: () => void) => YamuxStream | SessionEnded | undefined
  /** Asks the peer for a sign of life and answers how long it took. */
  readonly ping: Effect.Effect<Duration.Duration, PingTimeout | SessionEnded>
  /** Whether the peer has certainly sent anything within so many milliseconds. An idle peer is asked for a sign of life after `keepAlive`. */
  readonly hasSpoken: (within: number) => boolean
  /** Tells the peer that no further streams are accepted; those open go on. */
  readonly goAway: Effect.Effect<void>
  /** Completes when the session is over and the connection closed; fails unless it ended normally. */
  readonly closed: Effect.Effect<void, SessionEnded>
}

const closedHere = new SessionEnded({ reason: "closed", message: "The session is closed" })

const doesNotRead = new SessionEnded({ reason: "timeout", message: "The peer does not read" })

const doesNotAnswer = new SessionEnded({ reason: "timeout", message: "The peer did not answer a ping in time" })

const brokenConnection = ({ message }: { readonly message: string }) => new SessionEnded({ reason: "connection", message })

/** Anything but a failure is a defect of the transport. */
const whyOver = (exit: Exit.Exit<void, SessionEnded>): SessionEnded => {
  if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return closedHere
  return Option.getOrElse(Cause.failureOption(exit.cause), () => brokenConnection({ message: Cause.pretty(exit.cause) }))
}

type RunFork = <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>

/** Runs effects of a session later, by its clock alone: the services and references of what made it would be kept as long as the session. */
const laterFork =
  (clock: Clock.Clock): RunFork =>
  (effect) =>
    Effect.runFork(Effect.withClock(effect, clock), { immediate: false })

/** How pieces are sent: as the transport writes them, or else by its effect, joined. */
const writeOver = ({ send, soon, write }: Transport, clock: Clock.Clock) =>
  write === undefined ? sendOver(send, laterFork(clock)) : { write, soon: soon ?? queueMicrotask, stop: Effect.void }

const sendOver = (send: Transport["send"], fork: RunFork) => {
  let sending: Fiber.RuntimeFiber<void, TransportError> | undefined
  return {
    write: (pieces: ReadonlyArray<Uint8Array>, done: (error?: TransportError) => void): void => {
      const fiber = fork(send(concatenate(pieces)))
      sending = fiber
      fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit)) done()
        else if (!Cause.isInterruptedOnly(exit.cause)) done(new TransportError({ cause: Cause.squash(exit.cause) }))
      })
    },
    soon: queueMicrotask,
    stop: Effect.suspend(() => (sending === undefined ? Effect.void : Fiber.interruptFork(sending)))
  }
}

/** How a transport is listened to: as it calls back, or else by its effect. Returns how to listen no longer. */
const listenTo = (
  { listen, receive }: Transport,
  clock: Clock.Clock,
  take: (bytes: Uint8Array) => void,
  ended: (exit: Exit.Exit<void, TransportError>) => void
): Effect.Effect<unknown> => {
  if (listen !== undefined) {
    listen(take, ended)
    return Effect.void
  }
  const receiving = laterFork(clock)(receive(take))
  receiving.addObserver(ended)
  return Effect.suspend(() => Fiber.interrupt(receiving))
}

const closing = (stream: YamuxStream) => Effect.addFinalizer(() => Effect.sync(() => stream.abandon()))

/** A session without fibers of its own, unless its transport works by effects: what happens comes from the connection, or the sweep of all sessions. */
class OpenSession implements Session, Host, Sweeps.Swept {
  private readonly multiplexer: Multiplexer
  private readonly patience: number
  private over: Exit.Exit<void, SessionEnded> | undefined = undefined
  /** Called at the end. A `Deferred` takes 800 bytes. */
  private readonly watchers: Array<(exit: Exit.Exit<void, SessionEnded>) => void> = []
  private readonly transmit: ReturnType<typeof writeOver>
  private readonly stopListening: Effect.Effect<unknown>
  /** Sweeps since the peer has sent anything. They are counted because time in which this process stood still is not the peer's. */
  private silence = 0
  /** Since when the connection has been taking the same bytes; the sweep looks at it, so that sending needs no timer of its own. */
  private sendingSince: number | undefined = undefined
  private isEnding = false
  /** Whether what arrives counts no more. */
  private isDeaf = false
  private isStopped = false
  private isWritten = false
  private onWritten: (() => void) | undefined = undefined

  constructor(
    private readonly transport: Transport,
    options: Options,
    private readonly clock: Clock.Clock
  ) {
    this.patience = Math.ceil(Duration.toMillis(options.keepAlive ?? "5 seconds") / Duration.toMillis(Sweeps.sweepEvery))
    this.multiplexer = new Multiplexer(options, this)
    if (options.batchFrames !== undefined) this.multiplexer.outbox.whenFull(options.batchFrames, () => queueMicrotask(this.send))
    this.transmit = writeOver(transport, clock)
    this.send()
    this.stopListening = listenTo(
      transport,
      clock,
      (bytes) => this.receive(bytes),
      (exit) => this.end(Exit.mapError(exit, brokenConnection))
    )
  }

  // A change of the machine's clock must not make anything overdue
  now(): number {
    return Number(this.clock.unsafeCurrentTimeNanos()) / 1_000_000
  }

  overflow(): void {
    this.end(Exit.fail(doesNotRead))
  }

  died(defect: unknown): void {
    this.end(Exit.die(defect))
  }

  private receive(bytes: Uint8Array): void {
    this.silence = 0
    const fatal = this.isDeaf ? undefined : this.multiplexer.receive(bytes)
    if (fatal === undefined) return
    this.isDeaf = true
    this.end(Exit.fail(fatal))
  }

  /** Sends what waits, one batch after the other, until the end. While one is being written, the rest follows it. */
  private readonly send = (): void => {
    if (this.isStopped || this.sendingSince !== undefined) return
    const batch = this.multiplexer.outbox.take(this.filled)
    if (batch === undefined) {
      if (this.multiplexer.outbox.isOver) this.wrote()
      return
    }
    this.sendingSince = this.now()
    this.transmit.write(batch.pieces, (error) => {
      this.sendingSince = undefined
      if (error !== undefined) {
        this.end(Exit.fail(brokenConnection(error)))
        return this.wrote()
      }
      batch.sent()
      this.send()
    })
  }

  private readonly filled = (): void => this.transmit.soon(this.send)

  /** Nothing more is sent. */
  private wrote(): void {
    this.isWritten = true
    this.onWritten?.()
  }

  /** @internal Looks every second for what is overdue. */
  sweep(): void {
    const overdue = this.sendingSince !== undefined && this.now() - this.sendingSince >= Duration.toMillis(answerWithin)
    this.multiplexer.sweep()
    this.silence += 1
    if (this.silence === this.patience) this.multiplexer.ping()
    if (this.silence >= this.patience + silentSweeps) this.end(Exit.fail(doesNotAnswer))
    else if (overdue) this.end(Exit.fail(doesNotRead))
  }

  /** @internal Ends the session, in a fiber of its own: the first reason counts. */
  end(exit: Exit.Exit<void, SessionEnded>): void {
    if (this.isEnding) return
    this.isEnding = true
    laterFork(this.clock)(Effect.uninterruptible(this.shutDown(exit)))
  }

  private shutDown(exit: Exit.Exit<void, SessionEnded>): Effect.Effect<void> {
    return Effect.gen(this, function* () {
      this.isDeaf = true
      const why = whyOver(exit)
      const takesMore = why.reason !== "timeout" && why.reason !== "connection"
      this.multiplexer.end(why)
      const written = Effect.async<void>((resume) => {
        if (this.isWritten) resume(Effect.void)
        else this.onWritten = () => resume(Effect.void)
      })
      if (takesMore) yield* Effect.timeoutOption(Effect.disconnect(Effect.interruptible(written)), answerWithin)
      this.isStopped = true
      yield* this.transmit.stop
      const result = why.reason === "closed" ? Exit.void : Exit.fail(why)
      yield* this.transport.close(result)
      yield* this.stopListening
      this.over = result
      for (const ended of this.watchers.splice(0)) ended(result)
    })
  }

  get closed(): Effect.Effect<void, SessionEnded> {
    return Effect.async((resume) => {
      const { over, watchers } = this
      if (over !== undefined) return resume(over)
      watchers.push(resume)
      return Effect.sync(() => {
        const place = watchers.indexOf(resume)
        if (place !== -1) watchers.splice(place, 1)
      })
    })
  }

  get goAway(): Effect.Effect<void> {
    return Effect.sync(() => this.multiplexer.refuse())
  }

  get open(): Session["open"] {
    return Effect.uninterruptibleMask((restore) => {
      const opened: Effect.Effect<YamuxStream, SessionEnded> = Effect.suspend(() => {
        const stream = this.multiplexer.open()
        if (stream === undefined) return Effect.zipRight(restore(this.multiplexer.whenAnswered), opened)
        return stream instanceof SessionEnded ? stream : Effect.succeed(stream)
      })
      return Effect.tap(opened, closing)
    })
  }

  get accept(): Session["accept"] {
    const arrival = Effect.async<void>((resume) => {
      const ready = (): void => resume(Effect.void)
      const { backlog } = this.multiplexer
      backlog.await(ready)
      return Effect.sync(() => backlog.forget(ready))
    })
    return Effect.uninterruptibleMask((restore) => {
      const accepted: Effect.Effect<YamuxStream, SessionEnded> = Effect.suspend(() => {
        const stream = this.multiplexer.backlog.take()
        if (stream === undefined) return Effect.zipRight(restore(arrival), accepted)
        return stream instanceof SessionEnded ? stream : Effect.succeed(stream)
      })
      return Effect.tap(accepted, closing)
    })
  }

  take(ready: () => void): YamuxStream | SessionEnded | undefined {
    const { backlog } = this.multiplexer
    const stream = backlog.take()
    if (stream === undefined) backlog.await(ready)
    return stream
  }

  hasSpoken(within: number): boolean {
    return this.over === undefined && (this.silence + 1) * Duration.toMillis(Sweeps.sweepEvery) <= within
  }

  get ping(): Session["ping"] {
    const { multiplexer } = this
    return Effect.gen(function* () {
      if (multiplexer.over !== undefined) return yield* multiplexer.over
      const reply = yield* Deferred.make<void, SessionEnded>()
      const sentAt = yield* Clock.currentTimeNanos
      const value = multiplexer.ping(reply)
      yield* Deferred.await(reply).pipe(
        Effect.timeoutFail({
          duration: answerWithin,
          onTimeout: () => new PingTimeout({ message: "The peer did not answer a ping in time" })
        }),
        Effect.ensuring(Effect.sync(() => multiplexer.forgetPing(value)))
      )
      return Duration.nanos((yield* Clock.currentTimeNanos) - sentAt)
    })
  }
}

/**
 * Runs a session over a connection. When its scope closes, what was written is still sent, as far as the peer takes it within 10 seconds.
 * Spec: agents-and-apps.md §13.
 */
export const make = (transport: Transport, options: Options): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const scope = yield* Effect.scope
    // `Effect.acquireRelease` would keep a copy of the fiber's references for each session
    return yield* Effect.uninterruptible(
      Effect.suspend(() => {
        const session = new OpenSession(transport, options, clock)
        return Sweeps.begin(session).pipe(Effect.zipRight(Scope.addFinalizer(scope, released(session, clock))), Effect.as(session))
      })
    )
  })

const released = (session: OpenSession, clock: Clock.Clock): Effect.Effect<unknown> =>
  Effect.suspend(() => {
    Sweeps.end(session, clock)
    session.end(Exit.void)
    return Effect.exit(session.closed)
  })
