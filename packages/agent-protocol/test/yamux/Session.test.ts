import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Deferred, Duration, Effect, Exit, Fiber, Option, Scope, Stream, TestClock } from "effect"
import { Frame, Session, SessionEnded, StreamReset, TransportError, type Transport, type YamuxStream } from "@atelier/agent-protocol"
import { connected, facing, type Peer, peerOn } from "../Connected.js"
import { transportPair } from "../transportPair.js"

const window = 262_144

const { Data, WindowUpdate, Ping, GoAway } = Frame.Type
const { SYN, ACK, FIN, RST } = Frame.Flag

const text = (value: string) => new TextEncoder().encode(value)

const readAll = (stream: YamuxStream) =>
  Effect.map(Stream.runCollect(stream.incoming), (chunks) => Uint8Array.from([...chunks].flatMap((chunk) => [...chunk])))

/** Answers every stream with what it sent. */
const echoing = (session: Session.Session) =>
  session.accept.pipe(
    Effect.flatMap((stream) => stream.incoming.pipe(Stream.runForEach(stream.write), Effect.zipRight(stream.finish), Effect.forkScoped)),
    Effect.forever,
    Effect.forkScoped
  )

describe("what a turn brings", () => {
  it.scoped("leaves at its end or with enough frames, while nothing else is being written", () =>
    Effect.gen(function* () {
      let isOver = false
      const turn: Array<() => void> = []
      const written: Array<{ readonly frames: number; readonly done: () => void }> = []
      const transport: Transport = {
        write: (pieces, done) => (isOver ? done() : void written.push({ frames: pieces.length, done: () => done() })),
        soon: (run) => (isOver ? run() : void turn.push(run)),
        receive: () => Effect.never,
        send: () => Effect.void,
        close: () => Effect.void
      }
      const session = yield* Session.make(transport, { role: "client", batchFrames: 3 })
      const open = (count: number) =>
        Effect.zipRight(
          Effect.replicateEffect(session.open, count),
          Effect.promise(() => Promise.resolve())
        )
      const frames = () => written.map((batch) => batch.frames)
      const endTurn = () => turn.splice(0).forEach((run) => run())
      yield* open(2)
      expect(frames()).toStrictEqual([])
      endTurn()
      expect(frames()).toStrictEqual([2])
      yield* open(4)
      endTurn()
      expect(frames()).toStrictEqual([2])
      written[0]?.done()
      expect(frames()).toStrictEqual([2, 4])
      written[1]?.done()
      yield* open(3)
      expect(frames()).toStrictEqual([2, 4, 3])
      endTurn()
      expect(frames()).toStrictEqual([2, 4, 3])
      isOver = true
      written[2]?.done()
    })
  )
})

describe("streams", () => {
  it.scoped("carry bytes both ways, 50 at a time", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connected()
      yield* echoing(server)
      const exchange = (n: number) =>
        Effect.gen(function* () {
          const sent = new Uint8Array(100_000).fill(n)
          const stream = yield* client.open
          const answer = yield* Effect.fork(readAll(stream))
          yield* stream.write(sent)
          yield* stream.finish
          return Buffer.from(yield* Fiber.join(answer)).equals(sent)
        }).pipe(Effect.scoped)
      const equal = yield* Effect.forEach(
        Array.from({ length: 50 }, (_, n) => n),
        exchange,
        { concurrency: "unbounded" }
      )
      expect(equal).toStrictEqual(Array.from({ length: 50 }, () => true))
    })
  )

  it.scoped("can be opened by both sides", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connected()
      yield* echoing(client)
      const stream = yield* server.open
      yield* stream.write(text("hello"))
      yield* stream.finish
      expect(stream.id).toBe(2)
      expect(yield* readAll(stream)).toStrictEqual(text("hello"))
    })
  )

  it.scoped("are opened with a window update and answered with an acknowledgement", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      yield* peer.send({ type: WindowUpdate, flags: SYN, streamId: 1 })
      const stream = yield* session.accept
      expect((yield* peer.next).header).toStrictEqual({ type: WindowUpdate, flags: ACK, streamId: 1, length: 0 })
      yield* stream.write(text("hi"))
      expect(yield* peer.next).toStrictEqual({ header: { type: Data, flags: 0, streamId: 1, length: 2 }, payload: text("hi") })
      yield* stream.finish
      expect((yield* peer.next).header).toStrictEqual({ type: WindowUpdate, flags: FIN, streamId: 1, length: 0 })
    })
  )

  it.scoped("opened here have odd ids on the client, even ones on the server", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connected()
      const ids = yield* Effect.forEach(
        [client.open, client.open, server.open, server.open],
        Effect.map((stream) => stream.id)
      )
      expect(ids).toStrictEqual([1, 3, 2, 4])
    })
  )

  it.scoped("may be opened, filled and finished by one data frame", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      yield* peer.send({ type: Data, flags: SYN | FIN, streamId: 1 }, text("all"))
      const stream = yield* session.accept
      expect(yield* readAll(stream)).toStrictEqual(text("all"))
    })
  )

  it.scoped("end in one direction when the writer finishes", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connected()
      const near = yield* client.open
      const far = yield* server.accept
      yield* near.finish
      expect(yield* far.read).toStrictEqual(Option.none())
      yield* far.write(text("still here"))
      expect(yield* near.read).toStrictEqual(Option.some(text("still here")))
      expect(yield* Effect.flip(near.write(text("no")))).toStrictEqual(
        new StreamReset({ by: "here", message: "The stream is closed for writing" })
      )
    })
  )

  it.scoped("broken off fail on the other side, and the session lives on", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connected()
      const near = yield* client.open
      const far = yield* server.accept
      yield* near.write(text("lost"))
      yield* near.reset
      const error = yield* Effect.flip(far.whenBroken)
      expect(error).toMatchObject({ _tag: "StreamReset", by: "peer" })
      expect(yield* Effect.flip(far.read)).toStrictEqual(error)
      expect(yield* Effect.flip(far.write(text("no")))).toStrictEqual(error)
      expect((yield* client.open).id).toBe(3)
      expect((yield* server.accept).id).toBe(3)
    })
  )

  it.scoped("closed with their scope are finished, and later data are discarded", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client" })
      yield* Effect.scoped(session.open)
      expect((yield* peer.next).header).toMatchObject({ flags: SYN, streamId: 1 })
      expect((yield* peer.next).header).toMatchObject({ flags: FIN, streamId: 1 })
      yield* peer.send({ type: Data, flags: ACK, streamId: 1 }, text("late"))
      yield* peer.send({ type: WindowUpdate, flags: FIN, streamId: 1 })
      yield* peer.send({ type: Ping, flags: SYN, length: 9 })
      expect((yield* peer.next).header).toStrictEqual({ type: Ping, flags: ACK, streamId: 0, length: 9 })
    })
  )

  it.scoped("that are not known are discarded with their data", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      yield* peer.send({ type: Data, streamId: 77 }, text("nobody reads this"))
      yield* peer.send({ type: WindowUpdate, flags: RST, streamId: 79 })
      yield* peer.send({ type: Data, flags: SYN, streamId: 1 }, text("read"))
      const stream = yield* session.accept
      expect(yield* stream.read).toStrictEqual(Option.some(text("read")))
    })
  )
})

describe("windows", () => {
  it.scoped("stop a writer whose peer does not read, until half was read", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connected()
      const near = yield* client.open
      const far = yield* server.accept
      const writing = yield* Effect.fork(near.write(new Uint8Array(window + 1)))
      yield* Effect.repeatN(Effect.yieldNow(), 1000)
      expect(yield* Fiber.poll(writing)).toStrictEqual(Option.none())
      let read = 0
      while (read < window) read += Option.match(yield* far.read, { onNone: () => 0, onSome: (bytes) => bytes.length })
      expect(read).toBe(window)
      yield* Fiber.join(writing)
      expect(Option.map(yield* far.read, (bytes) => bytes.length)).toStrictEqual(Option.some(1))
    })
  )

  it.scoped("of readers that do not read take nothing from one that does", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connected()
      const filled = 8
      const fill = (bytes: number) =>
        Effect.gen(function* () {
          const stream = yield* client.open
          const writing = yield* Effect.forkScoped(Effect.zipRight(stream.write(new Uint8Array(bytes)), stream.finish))
          return { writing, far: yield* server.accept }
        })
      const unread = yield* Effect.replicateEffect(fill(4 * window), filled)
      const { far, writing } = yield* fill(40 * window)
      const received = yield* Stream.runFold(far.incoming, 0, (sum, bytes) => sum + bytes.length)
      yield* Fiber.join(writing)
      expect(received).toBe(40 * window)
      // Each still waits for its own reader, and goes on with it
      for (const { far, writing } of unread) {
        expect(yield* Fiber.poll(writing)).toStrictEqual(Option.none())
        expect(yield* Stream.runFold(far.incoming, 0, (sum, bytes) => sum + bytes.length)).toBe(4 * window)
      }
    })
  )

  it.scoped("are topped up by the bytes read once half of them was read", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      yield* peer.send({ type: Data, flags: SYN, streamId: 1 }, new Uint8Array(window / 2 - 1))
      const stream = yield* session.accept
      expect((yield* peer.next).header.flags).toBe(ACK)
      yield* stream.read
      yield* peer.send({ type: Ping, flags: SYN, length: 1 })
      expect((yield* peer.next).header.type).toBe(Ping)
      yield* peer.send({ type: Data, streamId: 1 }, new Uint8Array(2))
      yield* stream.read
      expect((yield* peer.next).header).toStrictEqual({ type: WindowUpdate, flags: 0, streamId: 1, length: window / 2 + 1 })
    })
  )

  /** The increments that a reader gives while it reads windows, each after some time. */
  const increments = (stream: YamuxStream, peer: Peer, times: ReadonlyArray<Duration.DurationInput>) =>
    Effect.gen(function* () {
      const given: Array<number> = []
      let free = window
      for (const time of times) {
        yield* TestClock.adjust(time)
        yield* peer.send({ type: Data, streamId: stream.id }, new Uint8Array(free))
        yield* stream.read
        free = (yield* peer.next).header.length
        given.push(free / window)
      }
      return given
    })

  it.scoped("become wider for a reader that keeps up, and stay for a slow one", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client" })
      const [fast, slow] = [yield* session.open, yield* session.open]
      yield* peer.next
      yield* peer.next
      expect(yield* increments(fast, peer, [0, 10, 10, 10, 10])).toStrictEqual([1, 2, 4, 8, 8])
      expect(yield* increments(slow, peer, [0, 300, 300])).toStrictEqual([1, 1, 1])
    })
  )

  it.scoped("become wider within what the session may hold, and give it back", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client", maxUnreadBytes: 2 * window })
      const first = yield* session.open
      const second = yield* session.open
      const third = yield* session.open
      for (let at = 0; at < 3; at++) yield* peer.next
      expect(yield* increments(first, peer, [0, 0])).toStrictEqual([1, 2])
      expect(yield* increments(second, peer, [0, 0])).toStrictEqual([1, 1])
      yield* first.reset
      yield* peer.next
      expect(yield* increments(third, peer, [0, 0])).toStrictEqual([1, 2])
    })
  )

  it.scoped("that a peer exceeds end the session before the data arrives", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      yield* peer.send({ type: WindowUpdate, flags: SYN, streamId: 1 })
      const stream = yield* session.accept
      yield* peer.next
      yield* peer.send({ type: Data, streamId: 1, length: window + 1 })
      expect((yield* peer.next).header).toStrictEqual({ type: GoAway, flags: 0, streamId: 0, length: 1 })
      const error = yield* Effect.flip(session.closed)
      expect(error.reason).toBe("protocol")
      expect(yield* Effect.flip(stream.read)).toStrictEqual(error)
    })
  )

  it.scoped("hold across frames: the last byte fits, one more does not", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      yield* peer.send({ type: Data, flags: SYN, streamId: 1 }, new Uint8Array(window))
      const stream = yield* session.accept
      yield* peer.send({ type: Data, streamId: 1 }, new Uint8Array(1))
      expect((yield* Effect.flip(session.closed)).reason).toBe("protocol")
      expect(Option.map(yield* stream.read, (bytes) => bytes.length)).toStrictEqual(Option.some(window))
      expect(yield* Effect.flip(stream.read)).toMatchObject({ _tag: "SessionEnded" })
    })
  )

  it.scoped("are used by `offer` only where nothing has to wait", () =>
    Effect.gen(function* () {
      const { client } = yield* connected()
      const stream = yield* client.open
      expect(yield* stream.offer(new Uint8Array(10))).toBe(true)
      const writing = yield* Effect.fork(stream.write(new Uint8Array(window)))
      yield* Effect.repeatN(Effect.yieldNow(), 1000)
      expect(yield* stream.offer(new Uint8Array(1))).toBe(false)
      yield* Fiber.interrupt(writing)
      expect(yield* stream.offer(new Uint8Array(1))).toBe(false)
    })
  )
})

describe("a session", () => {
  it.scoped("answers pings with their value", () =>
    Effect.gen(function* () {
      const { peer } = yield* facing({ role: "server" })
      yield* peer.send({ type: Ping, flags: SYN, length: 0xfedcba98 })
      expect((yield* peer.next).header).toStrictEqual({ type: Ping, flags: ACK, streamId: 0, length: 0xfedcba98 })
    })
  )

  it.scoped("measures how long its peer takes to answer a ping", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      const ping = yield* Effect.fork(session.ping)
      const asked = yield* peer.next
      yield* TestClock.adjust("250 millis")
      yield* peer.send({ type: Ping, flags: ACK, length: asked.header.length })
      expect(Duration.toMillis(yield* Fiber.join(ping))).toBe(250)
    })
  )

  it.scoped("gives a ping up after 10 seconds", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      const ping = yield* Effect.fork(Effect.flip(session.ping))
      yield* peer.next
      yield* TestClock.adjust("10 seconds")
      expect((yield* Fiber.join(ping))._tag).toBe("PingTimeout")
    })
  )

  it.scoped("asks a silent peer for a sign of life, and ends within 15 seconds without one", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      for (let round = 0; round < 3; round++) {
        yield* TestClock.adjust("5 seconds")
        const asked = yield* peer.next
        expect(asked.header).toMatchObject({ type: Ping, flags: SYN })
        yield* peer.send({ type: Ping, flags: ACK, length: asked.header.length })
        yield* Effect.repeatN(Effect.yieldNow(), 100)
      }
      yield* TestClock.adjust("15 seconds")
      expect((yield* Effect.flip(session.closed)).reason).toBe("timeout")
    })
  )

  it.scoped("takes whatever its peer sends for a sign of life", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      const ended = yield* Effect.fork(session.closed)
      for (let round = 0; round < 10; round++) {
        yield* TestClock.adjust("4 seconds")
        yield* peer.send({ type: Ping, flags: ACK, length: 12 })
        yield* Effect.repeatN(Effect.yieldNow(), 100)
      }
      expect(yield* peer.pending).toStrictEqual([])
      expect(yield* Fiber.poll(ended)).toStrictEqual(Option.none())
    })
  )

  it.scoped("tells within which time its peer has certainly sent anything", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      expect([session.hasSpoken(999), session.hasSpoken(1_000)]).toStrictEqual([false, true])
      yield* TestClock.adjust("3 seconds")
      expect([session.hasSpoken(3_000), session.hasSpoken(4_000)]).toStrictEqual([false, true])
      yield* peer.send({ type: Ping, flags: ACK, length: 12 })
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      expect(session.hasSpoken(1_000)).toBe(true)
      yield* TestClock.adjust("15 seconds")
      yield* Effect.exit(session.closed)
      expect(session.hasSpoken(60_000)).toBe(false)
    })
  )

  it.scoped("resets streams beyond the 256 that wait to be accepted", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      for (let n = 0; n <= 256; n++) yield* peer.send({ type: WindowUpdate, flags: SYN, streamId: 2 * n + 1 })
      expect((yield* peer.next).header).toStrictEqual({ type: WindowUpdate, flags: RST, streamId: 513, length: 0 })
      yield* session.accept
      expect((yield* peer.next).header).toMatchObject({ flags: ACK, streamId: 1 })
      yield* peer.send({ type: WindowUpdate, flags: SYN, streamId: 515 })
      yield* peer.send({ type: Ping, flags: SYN })
      expect((yield* peer.next).header.type).toBe(Ping)
    })
  )

  it.scoped("resets streams beyond its limit", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server", maxStreams: 1 })
      yield* peer.send({ type: WindowUpdate, flags: SYN, streamId: 1 })
      const scope = yield* Scope.make()
      yield* Scope.extend(session.accept, scope)
      yield* peer.next
      yield* peer.send({ type: WindowUpdate, flags: SYN, streamId: 3 })
      expect((yield* peer.next).header).toMatchObject({ flags: RST, streamId: 3 })
      yield* peer.send({ type: WindowUpdate, flags: FIN, streamId: 1 })
      yield* Scope.close(scope, Exit.void)
      expect((yield* peer.next).header).toMatchObject({ flags: FIN, streamId: 1 })
      yield* peer.send({ type: WindowUpdate, flags: SYN, streamId: 5 })
      expect((yield* session.accept).id).toBe(5)
    })
  )

  it.scoped("resets the stream whose unread bytes exceed its limit", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server", maxUnreadBytes: 1000 })
      yield* peer.send({ type: Data, flags: SYN, streamId: 1 }, new Uint8Array(600))
      yield* peer.send({ type: Data, flags: SYN, streamId: 3 }, new Uint8Array(600))
      expect((yield* peer.next).header).toMatchObject({ flags: RST, streamId: 3 })
      const stream = yield* session.accept
      expect(Option.map(yield* stream.read, (bytes) => bytes.length)).toStrictEqual(Option.some(600))
      yield* peer.next
      yield* peer.send({ type: Data, flags: SYN, streamId: 5 }, new Uint8Array(1000))
      expect((yield* session.accept).id).toBe(5)
    })
  )

  it.scoped("keeps room for unread bytes of its own streams from those of the peer", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server", maxUnreadBytes: 3000, maxUnreadOfPeer: 1000 })
      const own = yield* session.open
      yield* peer.next
      yield* peer.send({ type: Data, flags: SYN, streamId: 1 }, new Uint8Array(600))
      yield* peer.send({ type: Data, flags: SYN, streamId: 3 }, new Uint8Array(600))
      expect((yield* peer.next).header).toMatchObject({ flags: RST, streamId: 3 })
      yield* peer.send({ type: Data, flags: ACK, streamId: own.id }, new Uint8Array(2000))
      yield* peer.send({ type: Data, streamId: own.id }, new Uint8Array(600))
      expect((yield* peer.next).header).toMatchObject({ flags: RST, streamId: own.id })
      const stream = yield* session.accept
      expect(Option.map(yield* stream.read, (bytes) => bytes.length)).toStrictEqual(Option.some(600))
      yield* peer.next
      yield* peer.send({ type: Data, flags: SYN, streamId: 5 }, new Uint8Array(1000))
      expect((yield* session.accept).id).toBe(5)
    })
  )

  it.scoped("lets a peer fill the windows that its streams were given", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server", maxUnreadBytes: 64 * window, maxUnreadOfPeer: 4 * window })
      yield* peer.send({ type: Data, flags: SYN, streamId: 1 }, new Uint8Array(1))
      const stream = yield* session.accept
      yield* peer.next
      yield* stream.read
      // What the peer may send before this side tops up
      let allowed = window - 1
      for (let round = 0; round < 24; round++) {
        const size = Math.min(allowed, window)
        yield* peer.send({ type: Data, streamId: 1 }, new Uint8Array(size))
        allowed -= size
        for (let read = 0; read < size;) read += Option.match(yield* stream.read, { onNone: () => 0, onSome: ({ length }) => length })
        // Its answer comes behind what tops the window up
        yield* peer.send({ type: Ping, flags: SYN, length: round })
        for (let { header } = yield* peer.next; header.type !== Ping; { header } = yield* peer.next) allowed += header.length
      }
      for (; allowed > 0; allowed -= Math.min(allowed, window))
        yield* peer.send({ type: Data, streamId: 1 }, new Uint8Array(Math.min(allowed, window)))
      yield* peer.send({ type: Ping, flags: SYN, length: 99 })
      expect((yield* peer.next).header).toMatchObject({ type: Ping, length: 99 })
    })
  )

  it.scoped("resets a stream that the peer does not accept within 75 seconds", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client", keepAlive: "1 hour" })
      const stream = yield* session.open
      yield* peer.next
      yield* TestClock.adjust("70 seconds")
      expect(yield* peer.pending).toStrictEqual([])
      yield* TestClock.adjust("5 seconds")
      expect((yield* peer.next).header).toStrictEqual({ type: WindowUpdate, flags: RST, streamId: 1, length: 0 })
      expect(yield* Effect.flip(stream.read)).toMatchObject({ _tag: "StreamReset", by: "here" })
    })
  )

  it.scoped("lets 256 opened streams wait for the peer's answer", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client" })
      yield* Effect.repeatN(session.open, 255)
      const next = yield* Effect.fork(session.open)
      yield* Effect.yieldNow()
      expect(yield* Fiber.poll(next)).toStrictEqual(Option.none())
      yield* peer.send({ type: WindowUpdate, flags: ACK, streamId: 1 })
      expect((yield* Fiber.join(next)).id).toBe(513)
    })
  )

  it.scoped("takes any frame of the peer for its answer", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client" })
      yield* Effect.repeatN(Effect.scoped(session.open), 255)
      yield* peer.send({ type: WindowUpdate, flags: FIN, streamId: 1 })
      expect((yield* session.open).id).toBe(513)
    })
  )

  it.scoped("resets a stream that the peer leaves half-closed for 5 minutes", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client", keepAlive: "1 hour" })
      const stream = yield* session.open
      yield* peer.send({ type: WindowUpdate, flags: ACK, streamId: 1 })
      yield* stream.finish
      yield* peer.next
      yield* peer.next
      yield* TestClock.adjust("295 seconds")
      expect(yield* peer.pending).toStrictEqual([])
      yield* TestClock.adjust("5 seconds")
      expect((yield* peer.next).header).toMatchObject({ flags: RST, streamId: 1 })
    })
  )

  it.scoped("whose peer says a normal GoAway opens no more streams, and keeps those it has", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connected()
      yield* echoing(server)
      const stream = yield* client.open
      yield* stream.write(text("a"))
      yield* stream.read
      yield* server.goAway
      yield* client.ping
      expect(yield* Effect.flip(Effect.scoped(client.open))).toMatchObject({ _tag: "SessionEnded", reason: "closed" })
      yield* stream.write(text("b"))
      expect(yield* stream.read).toStrictEqual(Option.some(text("b")))
    })
  )

  it.scoped("that said GoAway resets streams opened later", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "server" })
      yield* session.goAway
      expect((yield* peer.next).header).toStrictEqual({ type: GoAway, flags: 0, streamId: 0, length: 0 })
      yield* peer.send({ type: WindowUpdate, flags: SYN, streamId: 1 })
      expect((yield* peer.next).header).toMatchObject({ flags: RST, streamId: 1 })
    })
  )

  it.scoped("whose peer gives up ends, with every stream", () =>
    Effect.gen(function* () {
      const { session, peer } = yield* facing({ role: "client" })
      const stream = yield* session.open
      yield* peer.send({ type: GoAway, length: 2 })
      const error = yield* Effect.flip(session.closed)
      expect(error.reason).toBe("peer")
      expect(yield* Effect.flip(stream.read)).toStrictEqual(error)
    })
  )

  it.scoped("sends pending data and GoAway before it closes", () =>
    Effect.gen(function* () {
      const [near, far] = yield* transportPair
      const peer = yield* peerOn(far)
      const how = yield* Deferred.make<Exit.Exit<void, SessionEnded>>()
      const transport: Transport = { ...near, close: (exit) => Effect.zipRight(Deferred.succeed(how, exit), near.close(exit)) }
      const scope = yield* Scope.make()
      const session = yield* Scope.extend(Session.make(transport, { role: "client" }), scope)
      const stream = yield* session.open
      const reading = yield* Effect.fork(Effect.flip(stream.read))
      const accepting = yield* Effect.fork(Effect.flip(Effect.scoped(session.accept)))
      const pinging = yield* Effect.fork(Effect.flip(session.ping))
      yield* Effect.yieldNow()
      yield* stream.write(text("last words"))
      yield* Scope.close(scope, Exit.void)
      expect((yield* Fiber.join(reading)).message).toBe("The session is closed")
      expect((yield* Fiber.join(accepting)).reason).toBe("closed")
      expect((yield* Fiber.join(pinging)).message).toBe("The session is closed")
      expect((yield* Effect.flip(session.ping)).message).toBe("The session is closed")
      expect(yield* Deferred.await(how)).toStrictEqual(Exit.void)
      yield* session.closed
      const frames = [yield* peer.next, yield* peer.next, yield* peer.next, yield* peer.next]
      expect(frames.map(({ header }) => header.type)).toStrictEqual([WindowUpdate, Ping, Data, GoAway])
    })
  )

  it.scoped("ends normally when the peer closes the connection", () =>
    Effect.gen(function* () {
      const [near, far] = yield* transportPair
      const session = yield* Session.make(near, { role: "server" })
      yield* far.close(Exit.void)
      yield* session.closed
      expect(yield* Effect.flip(Effect.scoped(session.accept))).toMatchObject({ reason: "closed" })
    })
  )

  it.scoped("ends when the connection breaks", () =>
    Effect.gen(function* () {
      const transport: Transport = {
        receive: () => new TransportError({ cause: new Error("reset by peer") }),
        send: () => Effect.void,
        close: () => Effect.void
      }
      const session = yield* Session.make(transport, { role: "client" })
      expect(yield* Effect.flip(session.closed)).toStrictEqual(
        new SessionEnded({ reason: "connection", message: "The connection broke: reset by peer" })
      )
    })
  )

  it.scoped("ends when the connection takes nothing for 10 seconds", () =>
    Effect.gen(function* () {
      const transport: Transport = { receive: () => Effect.never, send: () => Effect.never, close: () => Effect.void }
      const session = yield* Session.make(transport, { role: "client" })
      const stream = yield* session.open
      const writing = yield* Effect.fork(Effect.flip(stream.write(new Uint8Array(10 * window))))
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      yield* TestClock.adjust("10 seconds")
      expect((yield* Effect.flip(session.closed)).reason).toBe("timeout")
      expect((yield* Fiber.join(writing)).message).toBe("The peer does not read")
    })
  )
})

describe("a hostile peer", () => {
  const breaches = {
    "an unknown version": new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    "an unknown type": new Uint8Array([0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    "data of four gigabytes": Frame.encode({ type: Data, flags: SYN, streamId: 1, length: 0xffffffff }),
    "a stream with an id of the other side": Frame.encode({ type: WindowUpdate, flags: SYN, streamId: 2, length: 0 }),
    "a stream with the id 0": Frame.encode({ type: WindowUpdate, flags: SYN, streamId: 0, length: 0 }),
    "a stream opened twice": Uint8Array.from([
      ...Frame.encode({ type: WindowUpdate, flags: SYN, streamId: 1, length: 0 }),
      ...Frame.encode({ type: WindowUpdate, flags: SYN, streamId: 1, length: 0 })
    ])
  }

  for (const [breach, bytes] of Object.entries(breaches))
    it.scoped(`sending ${breach} is told of a protocol error`, () =>
      Effect.gen(function* () {
        const { session, peer } = yield* facing({ role: "server" })
        yield* peer.sendBytes(bytes)
        expect((yield* peer.next).header).toStrictEqual({ type: GoAway, flags: 0, streamId: 0, length: 1 })
        expect((yield* Effect.flip(session.closed)).reason).toBe("protocol")
      })
    )

  it.scoped("that asks without reading the answers is given up", () =>
    Effect.gen(function* () {
      const ping = Frame.encode({ type: Ping, flags: SYN, streamId: 0, length: 1 })
      const transport: Transport = {
        receive: (take) => Effect.forever(Effect.sync(() => take(ping))),
        send: () => Effect.never,
        close: () => Effect.void
      }
      const session = yield* Session.make(transport, { role: "server" })
      expect(yield* Effect.flip(session.closed)).toStrictEqual(new SessionEnded({ reason: "timeout", message: "The peer does not read" }))
    })
  )

  it.effect("sending any bytes ends the session at most", () => {
    const frame = fc
      .record({
        type: fc.constantFrom(Data, WindowUpdate, Ping, GoAway),
        flags: fc.integer({ min: 0, max: 15 }),
        streamId: fc.integer({ min: 0, max: 9 }),
        length: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 0xffffffff }))
      })
      .map((header) => Frame.encode(header))
    const bytes = fc.array(fc.oneof(fc.uint8Array({ maxLength: 32 }), frame), { maxLength: 30 })
    const reasonAfter = (chunks: ReadonlyArray<Uint8Array>) =>
      Effect.gen(function* () {
        const [near, far] = yield* transportPair
        const session = yield* Session.make(near, { role: "server" })
        yield* echoing(session)
        yield* Effect.forEach(chunks, far.send)
        yield* far.close(Exit.void)
        return yield* Effect.match(session.closed, { onSuccess: () => "closed", onFailure: ({ reason }) => reason })
      }).pipe(Effect.scoped)
    const harmless = fc.asyncProperty(bytes, async (chunks) => {
      const reason = await Effect.runPromise(Effect.catchAll(reasonAfter(chunks), () => Effect.succeed("refused")))
      expect(["closed", "connection", "protocol", "peer", "refused"]).toContain(reason)
    })
    return Effect.promise(() => fc.assert(harmless, { numRuns: 300 }))
  })
})
