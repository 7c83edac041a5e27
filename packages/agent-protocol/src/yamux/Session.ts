import { Cause, Clock, Deferred, Duration, Effect, Exit, Fiber, Mailbox, Option, Runtime, type Scope } from "effect"
import { concatenate } from "../ByteBuffer.js"
import { type Transport, TransportError } from "../Transport.js"
import { maximumBacklog, Multiplexer } from "./Multiplexer.js"
import { sweepEvery, sweptScoped } from "./Sweeps.js"
import { PingTimeout, SessionEnded } from "./YamuxError.js"
import type { YamuxStream } from "./YamuxStream.js"

/** How long a ping may take, and how long handing bytes to the connection may. */
const answerWithin = Duration.seconds(10)

/** Sweeps that a peer which was asked for a sign of life may stay silent for. */
const silentSweeps = 8

export interface Options {
  /** `client` is the connecting side. */
  readonly role: "client" | "server"
  /**
   * How long the peer may send nothing before it is asked for a sign of life; 5 seconds by default. The session ends 8 seconds later, unless
   * anything has arrived.
   */
  readonly keepAlive?: Duration.DurationInput
  /** Streams of the peer open at a time; further ones are reset. 1024 by default. */
  readonly maxStreams?: number
  /** Received bytes held over all streams until they are read; the stream that exceeds it is reset. 32 MiB by default. */
  readonly maxUnreadBytes?: number
}

/** A connection carrying many streams. Closing the scope it was made in ends it, and every stream. */
export interface Session {
  /** Opens a stream, waiting while too many are unanswered. The stream is closed with its scope. */
  readonly open: Effect.Effect<YamuxStream, SessionEnded, Scope.Scope>
  /** The next stream the peer opened. It is closed with its scope. */
  readonly accept: Effect.Effect<YamuxStream, SessionEnded, Scope.Scope>
  /** Asks the peer for a sign of life and answers how long it took. */
  readonly ping: Effect.Effect<Duration.Duration, PingTimeout | SessionEnded>
  /** Tells the peer that no further streams are accepted; those open go on. */
  readonly goAway: Effect.Effect<void>
  /** Completes when the session is over and the connection closed; fails unless it ended normally. */
  readonly closed: Effect.Effect<void, SessionEnded>
}

const closedHere = new SessionEnded({ reason: "closed", message: "The session is closed" })

const doesNotRead = new SessionEnded({ reason: "timeout", message: "The peer does not read" })

const doesNotAnswer = new SessionEnded({ reason: "timeout", message: "The peer did not answer a ping in time" })

const brokenConnection = ({ message }: { readonly message: string }) => new SessionEnded({ reason: "connection", message })

/** Interruption is the scope closing; anything that is neither that nor a failure is a defect of the transport. */
const whyOver = (exit: Exit.Exit<void, SessionEnded>): SessionEnded => {
  if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause)) return closedHere
  return Option.getOrElse(Cause.failureOption(exit.cause), () => brokenConnection({ message: Cause.pretty(exit.cause) }))
}

/** Asks the peer for a sign of life, and returns how long it took. */
const pingOver = (multiplexer: Multiplexer): Session["ping"] =>
  Effect.gen(function* () {
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

/** How pieces are sent: as the transport writes them, or else by its effect, joined. */
const writeOver = (
  { send, soon, write }: Transport,
  fork: (sending: Effect.Effect<void, TransportError>) => Fiber.RuntimeFiber<void, TransportError>
) => {
  if (write !== undefined) return { write, soon: soon ?? queueMicrotask, stop: Effect.void }
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

const closing = (stream: YamuxStream) => Effect.addFinalizer(() => stream.abandon)

/** Opens a stream, waiting while too many are unanswered. */
const openOver = (multiplexer: Multiplexer): Session["open"] =>
  Effect.uninterruptibleMask((restore) => {
    const opened: Effect.Effect<YamuxStream, SessionEnded> = Effect.suspend(() => {
      const stream = multiplexer.open()
      if (stream === undefined) return Effect.zipRight(restore(multiplexer.whenAnswered), opened)
      return stream instanceof SessionEnded ? stream : Effect.succeed(stream)
    })
    return Effect.tap(opened, closing)
  })

/** Takes the next stream of the peer that is not broken. */
const acceptFrom = (backlog: Mailbox.ReadonlyMailbox<YamuxStream, SessionEnded>): Session["accept"] =>
  Effect.uninterruptibleMask((restore) => {
    const accepted: Effect.Effect<YamuxStream, SessionEnded> = restore(backlog.take).pipe(
      Effect.catchTag("NoSuchElementException", () => closedHere),
      Effect.flatMap((stream) => {
        if (stream.isBroken) return accepted
        stream.accept()
        return Effect.succeed(stream)
      })
    )
    return Effect.tap(accepted, closing)
  })

/**
 * Runs a session over a connection. When its scope closes, what was written is still sent, as far as the peer takes it within 10 seconds.
 * Spec: agents-and-apps.md §13.
 */
export const make = (transport: Transport, options: Options): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const patience = Math.ceil(Duration.toMillis(options.keepAlive ?? "5 seconds") / Duration.toMillis(sweepEvery))
    const backlog = yield* Mailbox.make<YamuxStream, SessionEnded>({ capacity: maximumBacklog, strategy: "dropping" })
    /** Fails with the reason when the session ends for a cause outside its fibers. */
    const ending = yield* Deferred.make<void, SessionEnded>()
    const closed = yield* Deferred.make<void, SessionEnded>()
    const multiplexer = new Multiplexer({
      role: options.role,
      maxStreams: options.maxStreams ?? 1024,
      maxUnreadBytes: options.maxUnreadBytes ?? 32 * 1024 * 1024,
      // A change of the machine's clock must not make anything overdue
      now: () => Number(clock.unsafeCurrentTimeNanos()) / 1_000_000,
      backlog,
      onOverflow: () => Deferred.unsafeDone(ending, Exit.fail(doesNotRead))
    })

    /** Sweeps since the peer has sent anything. They are counted because time in which this process stood still is not the peer's. */
    let silence = 0

    let isOver = false
    const take = (bytes: Uint8Array): void => {
      silence = 0
      const fatal = isOver ? undefined : multiplexer.receive(bytes)
      if (fatal === undefined) return
      isOver = true
      Deferred.unsafeDone(ending, Exit.fail(fatal))
    }
    const reading = Effect.mapError(transport.receive(take), brokenConnection)

    /** Since when the connection has been taking the same bytes; the sweep looks at it, so that sending needs no timer of its own. */
    let sendingSince: number | undefined

    const transmit = writeOver(transport, Runtime.runFork(yield* Effect.runtime<never>()))

    const written = yield* Deferred.make<void>()
    let isStopped = false

    /** Sends what waits, one batch after the other, until the end. */
    const send = (): void => {
      if (isStopped) return
      const batch = multiplexer.outbox.take(() => transmit.soon(send))
      if (batch === undefined) {
        if (multiplexer.outbox.isOver) Deferred.unsafeDone(written, Exit.void)
        return
      }
      sendingSince = multiplexer.now()
      transmit.write(batch.pieces, (error) => {
        sendingSince = undefined
        if (error !== undefined) {
          Deferred.unsafeDone(ending, Exit.fail(brokenConnection(error)))
          return Deferred.unsafeDone(written, Exit.void)
        }
        batch.sent()
        send()
      })
    }
    send()

    const sweep = (): void => {
      const overdue = sendingSince !== undefined && multiplexer.now() - sendingSince >= Duration.toMillis(answerWithin)
      multiplexer.sweep()
      silence += 1
      if (silence === patience) multiplexer.ping()
      if (silence >= patience + silentSweeps) Deferred.unsafeDone(ending, Exit.fail(doesNotAnswer))
      else if (overdue) Deferred.unsafeDone(ending, Exit.fail(doesNotRead))
    }

    const shutDown = (exit: Exit.Exit<void, SessionEnded>) =>
      Effect.gen(function* () {
        isOver = true
        const why = whyOver(exit)
        const takesMore = why.reason !== "timeout" && why.reason !== "connection"
        multiplexer.end(why)
        // Interruptible, it would end the shutdown itself if the scope closes in between, and the peer would not learn the reason
        if (takesMore) yield* Effect.timeoutOption(Effect.disconnect(Deferred.await(written)), answerWithin)
        isStopped = true
        yield* transmit.stop
        const result = why.reason === "closed" ? Exit.void : Exit.fail(why)
        yield* transport.close(result)
        yield* Deferred.done(closed, result)
      })

    yield* Deferred.await(ending).pipe(Effect.interruptible, Effect.onExit(shutDown), Effect.forkScoped, Effect.uninterruptible)
    yield* Effect.forkScoped(Effect.interruptible(Effect.intoDeferred(reading, ending)))
    yield* sweptScoped(sweep, (defect) => Deferred.unsafeDone(ending, Exit.die(defect)))

    return {
      open: openOver(multiplexer),
      accept: acceptFrom(backlog),
      ping: pingOver(multiplexer),
      goAway: Effect.sync(() => multiplexer.refuse()),
      closed: Deferred.await(closed)
    }
  })
