import { Cause, Clock, Deferred, Duration, Effect, Exit, Fiber, Mailbox, Option, Stream, type Scope } from "effect"
import type { Transport } from "../Transport.js"
import * as Frame from "./Frame.js"
import { Outbox } from "./Outbox.js"
import { PingTimeout, SessionEnded, StreamReset, type EndReason } from "./YamuxError.js"
import { YamuxStream } from "./YamuxStream.js"

/** Streams waiting to be accepted; further ones are reset. Also how many opened here may wait for the peer's answer. */
export const Backlog = 256

/** How long a ping may take, and how long handing bytes to the connection may. */
export const AnswerWithin = Duration.seconds(10)

/** How long the peer may take to accept a stream. */
export const AcceptWithin = Duration.seconds(75)

/** How long the peer may take to close a stream that is closed here. */
export const CloseWithin = Duration.minutes(5)

/** How often streams are looked at for the two limits above. */
const SweepEvery = Duration.seconds(5)

const MaxStreamId = 0xffff_ffff

export interface Options {
  /** `client` is the connecting side. */
  readonly role: "client" | "server"
  /** How often the peer is asked whether it is alive; 30 seconds by default. */
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

const goAwayCode: Record<EndReason, number> = {
  closed: Frame.GoAwayCode.Normal,
  connection: Frame.GoAwayCode.Normal,
  protocol: Frame.GoAwayCode.ProtocolError,
  peer: Frame.GoAwayCode.Normal,
  timeout: Frame.GoAwayCode.InternalError
}

const goAwayFrame = (code: number) => Frame.encode({ type: Frame.Type.GoAway, flags: 0, streamId: 0, length: code })

const pingFrame = (flags: number, value: number) => Frame.encode({ type: Frame.Type.Ping, flags, streamId: 0, length: value })

const resetFrame = (streamId: number) => Frame.encode({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.RST, streamId, length: 0 })

/** Interruption is the scope closing; anything that is neither that nor a failure is a defect of the transport. */
const whyOver = (exit: Exit.Exit<void, SessionEnded>): SessionEnded => {
  if (Exit.isSuccess(exit) || Cause.isInterruptedOnly(exit.cause))
    return new SessionEnded({ reason: "closed", message: "The session is closed" })
  return Option.getOrElse(
    Cause.failureOption(exit.cause),
    () => new SessionEnded({ reason: "connection", message: Cause.pretty(exit.cause) })
  )
}

/** Runs a session over a connection. Spec: agents-and-apps.md §13. */
export const make = (transport: Transport, options: Options): Effect.Effect<Session, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    const maxStreams = options.maxStreams ?? 1024
    const maxUnreadBytes = options.maxUnreadBytes ?? 32 * 1024 * 1024
    const ours = options.role === "client" ? 1 : 0

    const outbox = new Outbox()
    const decoder = new Frame.Decoder()
    const streams = new Map<number, YamuxStream>()
    const pings = new Map<number, Deferred.Deferred<void, SessionEnded>>()
    const backlog = yield* Mailbox.make<YamuxStream, SessionEnded>({ capacity: Backlog, strategy: "dropping" })
    /** Completed by whatever ends the session; the value is why. */
    const ending = yield* Deferred.make<void, SessionEnded>()
    const closed = yield* Deferred.make<void, SessionEnded>()
    const answered = yield* Effect.makeLatch(true)

    let over: SessionEnded | undefined
    let nextId = options.role === "client" ? 1 : 2
    let nextPing = 0
    let theirs = 0
    let unanswered = 0
    let unread = 0
    let refusing = false
    let refused = false
    /** The stream whose data is arriving, and whether it ends with it. */
    let receiving: { readonly stream: YamuxStream | undefined; readonly fin: boolean } = { stream: undefined, fin: false }

    const send = (frame: Uint8Array) => {
      if (!outbox.add(frame)) endBecause("timeout", "The peer does not read")
    }

    const endBecause = (reason: EndReason, message: string) => {
      Deferred.unsafeDone(ending, Exit.fail(new SessionEnded({ reason, message })))
    }

    const isOurs = (id: number) => id % 2 === ours

    const host = {
      outbox,
      send,
      now: () => clock.unsafeCurrentTimeMillis(),
      hold: (bytes: number) => {
        unread += bytes
        return unread <= maxUnreadBytes
      },
      forget: (stream: YamuxStream) => {
        if (streams.delete(stream.id) && !isOurs(stream.id)) theirs -= 1
      },
      settled: () => {
        unanswered -= 1
        answered.unsafeOpen()
      }
    }

    const onOpened = (id: number): YamuxStream | undefined => {
      const stream = new YamuxStream(id, host, false)
      if (refusing || theirs >= maxStreams || !backlog.unsafeOffer(stream)) {
        send(resetFrame(id))
        return undefined
      }
      streams.set(id, stream)
      theirs += 1
      return stream
    }

    /** Handles a header of a data or window frame; answers what is wrong with it, if anything. */
    const onStreamFrame = ({ type, flags, streamId, length }: Frame.Header): string | undefined => {
      const has = (flag: number) => (flags & flag) !== 0
      if (has(Frame.Flag.SYN) && (streamId === 0 || isOurs(streamId) || streams.has(streamId))) return `stream ${streamId} cannot be opened`
      const stream = has(Frame.Flag.SYN) ? onOpened(streamId) : streams.get(streamId)
      const isData = type === Frame.Type.Data
      receiving = { stream, fin: has(Frame.Flag.FIN) }
      if (stream === undefined) return undefined
      if (isData && !stream.admit(length)) return `${length} bytes exceed the window of stream ${streamId}`
      if (has(Frame.Flag.ACK)) stream.acknowledge()
      if (has(Frame.Flag.RST)) stream.break(new StreamReset({ by: "peer", message: "The peer broke the stream off" }))
      else if (!isData) stream.topUp(length)
      if (has(Frame.Flag.FIN) && (!isData || length === 0)) stream.receiveFin()
      return undefined
    }

    const onPing = ({ flags, length }: Frame.Header) => {
      if ((flags & Frame.Flag.SYN) !== 0) send(pingFrame(Frame.Flag.ACK, length))
      else {
        const reply = pings.get(length)
        if (reply !== undefined) Deferred.unsafeDone(reply, Exit.void)
      }
    }

    const onGoAway = ({ length }: Frame.Header) => {
      if (length === Frame.GoAwayCode.Normal) refused = true
      else endBecause("peer", `The peer gave up with code ${length}`)
    }

    /** Answers what is wrong, if anything. */
    const onEvent = (event: Frame.Event): string | undefined => {
      switch (event._tag) {
        case "Invalid":
          return event.message
        case "Payload":
          receiving.stream?.receive(event.bytes)
          if (event.last && receiving.fin) receiving.stream?.receiveFin()
          return undefined
        case "Header":
          if (event.header.type === Frame.Type.Ping) onPing(event.header)
          else if (event.header.type === Frame.Type.GoAway) onGoAway(event.header)
          else return onStreamFrame(event.header)
          return undefined
      }
    }

    const onChunk = (chunk: Uint8Array): Effect.Effect<void, SessionEnded> =>
      Effect.suspend(() => {
        for (const event of decoder.decode(chunk)) {
          const wrong = onEvent(event)
          if (wrong !== undefined) return Effect.fail(new SessionEnded({ reason: "protocol", message: `Protocol error: ${wrong}` }))
        }
        return Effect.void
      })

    const reading = transport.incoming.pipe(
      Stream.mapError((error) => new SessionEnded({ reason: "connection", message: error.message })),
      Stream.runForEach(onChunk)
    )

    const writing: Effect.Effect<void, SessionEnded> = outbox.next.pipe(
      Effect.flatMap((bytes) =>
        bytes.length === 0
          ? Effect.succeed(false)
          : transport.send(bytes).pipe(
              Effect.mapError((error) => new SessionEnded({ reason: "connection", message: error.message })),
              Effect.timeoutFail({
                duration: AnswerWithin,
                onTimeout: () => new SessionEnded({ reason: "timeout", message: "The peer does not read" })
              }),
              Effect.as(true)
            )
      ),
      Effect.repeat({ while: (more) => more }),
      Effect.asVoid
    )

    const ended = Effect.suspend(() => (over === undefined ? Effect.void : Effect.fail(over)))

    const ping = Effect.gen(function* () {
      yield* ended
      const value = nextPing
      nextPing = (nextPing + 1) % 2 ** 32
      const reply = yield* Deferred.make<void, SessionEnded>()
      const sentAt = yield* Clock.currentTimeNanos
      pings.set(value, reply)
      send(pingFrame(Frame.Flag.SYN, value))
      yield* Deferred.await(reply).pipe(
        Effect.timeoutFail({
          duration: AnswerWithin,
          onTimeout: () => new PingTimeout({ message: "The peer did not answer a ping in time" })
        }),
        Effect.ensuring(Effect.sync(() => pings.delete(value)))
      )
      return Duration.nanos((yield* Clock.currentTimeNanos) - sentAt)
    })

    const keepingAlive = ping.pipe(
      Effect.catchTag("PingTimeout", ({ message }) => Effect.fail(new SessionEnded({ reason: "timeout", message }))),
      Effect.delay(options.keepAlive ?? "30 seconds"),
      Effect.forever
    )

    const sweeping = Effect.sync(() => {
      const now = host.now()
      for (const stream of streams.values()) stream.expire(now, Duration.toMillis(AcceptWithin), Duration.toMillis(CloseWithin))
    }).pipe(Effect.delay(SweepEvery), Effect.forever)

    const writer = yield* Effect.forkDaemon(Effect.tapErrorCause(writing, (cause) => Deferred.failCause(ending, cause)))

    const shutDown = (exit: Exit.Exit<void, SessionEnded>) =>
      Effect.gen(function* () {
        const why = whyOver(exit)
        over = why
        for (const stream of streams.values()) stream.break(why)
        for (const reply of pings.values()) Deferred.unsafeDone(reply, Exit.fail(why))
        backlog.unsafeDone(Exit.fail(why))
        answered.unsafeOpen()
        send(goAwayFrame(goAwayCode[why.reason]))
        outbox.end()
        // A peer that does not read is not told why.
        if (why.reason !== "timeout" && why.reason !== "connection")
          yield* Fiber.await(writer).pipe(Effect.interruptible, Effect.timeoutOption(AnswerWithin))
        yield* Fiber.interruptFork(writer)
        const result = why.reason === "closed" ? Exit.void : Exit.fail(why)
        yield* transport.close(result)
        yield* Deferred.done(closed, result)
      })

    yield* reading.pipe(
      Effect.raceFirst(keepingAlive),
      Effect.raceFirst(sweeping),
      Effect.raceFirst(Deferred.await(ending)),
      Effect.interruptible,
      Effect.onExit(shutDown),
      Effect.forkScoped,
      Effect.uninterruptible
    )

    const closing = (stream: YamuxStream) => Effect.addFinalizer(() => stream.abandon)

    const open = Effect.uninterruptibleMask((restore) => {
      const opened: Effect.Effect<YamuxStream, SessionEnded> = Effect.suspend(() => {
        if (over !== undefined) return Effect.fail(over)
        if (refused || nextId > MaxStreamId)
          return Effect.fail(new SessionEnded({ reason: "closed", message: "No more streams are accepted" }))
        if (unanswered >= Backlog) {
          answered.unsafeClose()
          return Effect.zipRight(restore(answered.await), opened)
        }
        const stream = new YamuxStream(nextId, host, true)
        nextId += 2
        unanswered += 1
        streams.set(stream.id, stream)
        send(Frame.encode({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.SYN, streamId: stream.id, length: 0 }))
        return Effect.succeed(stream)
      })
      return Effect.tap(opened, closing)
    })

    const accept = Effect.uninterruptibleMask((restore) => {
      const accepted: Effect.Effect<YamuxStream, SessionEnded> = restore(backlog.take).pipe(
        Effect.catchTag("NoSuchElementException", () => new SessionEnded({ reason: "closed", message: "The session is closed" })),
        Effect.flatMap((stream) => {
          if (stream.isBroken) return accepted
          stream.accept()
          return Effect.succeed(stream)
        })
      )
      return Effect.tap(accepted, closing)
    })

    return {
      open,
      accept,
      ping,
      goAway: Effect.sync(() => {
        refusing = true
        send(goAwayFrame(Frame.GoAwayCode.Normal))
      }),
      closed: Deferred.await(closed)
    }
  })
