import { createServer, type Server, type Socket } from "node:net"
import { expect, it } from "@effect/vitest"
import { ReverseStream, type StreamError } from "@atelier/agent-protocol"
import { Effect, Option, type Scope } from "effect"
import { runAgent, serve } from "../TestServer.js"
import { readAll } from "../../../../test/http/streams.js"

/** A program that listens on the loopback interface; answers its port. */
const program = (onConnection: (socket: Socket) => void): Effect.Effect<number, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<Server>((resume) => {
        const server = createServer({ allowHalfOpen: true }, (socket) => {
          socket.on("error", () => undefined)
          onConnection(socket)
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => void server.close())
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  )

/** The session with an agent that is ready. */
const connectedAgent = Effect.gen(function* () {
  const server = yield* serve({})
  yield* runAgent(server)
  yield* server.until(() => server.states().includes("READY"))
  return yield* Effect.fromNullable(server.session())
})

it.scopedLive("a stream carries bytes to a port and back, each direction with an end of its own", () =>
  Effect.gen(function* () {
    const session = yield* connectedAgent
    const port = yield* program((socket) => {
      const chunks: Array<Buffer> = []
      socket.on("data", (chunk: Buffer) => chunks.push(chunk))
      socket.on("end", () => socket.end(Buffer.concat(chunks)))
    })
    const stream = yield* ReverseStream.open(session, { kind: "tcp", port })
    const sent = Buffer.alloc(1_000_000, "atelier")
    yield* stream.write(sent)
    yield* stream.finish
    expect((yield* readAll(stream)).equals(sent)).toBe(true)
  })
)

it.scopedLive("a stream to a port without a program is refused with the reason", () =>
  Effect.gen(function* () {
    const session = yield* connectedAgent
    const port = yield* Effect.scoped(program(() => undefined))
    const error = yield* Effect.flip(ReverseStream.open(session, { kind: "tcp", port }))
    expect(error).toMatchObject({ _tag: "Unreachable", message: `No program listens on port ${port} of the workspace.` })
  })
)

it.scopedLive("a stream that is not read stalls no other stream, and stops its program", () =>
  Effect.gen(function* () {
    const session = yield* connectedAgent
    const size = 64 * 1024 * 1024
    let written = 0
    const endless = yield* program((socket) => {
      const push = () => {
        while (written < size) {
          written += 65_536
          if (!socket.write(Buffer.alloc(65_536))) return void socket.once("drain", push)
        }
        socket.end()
      }
      push()
    })
    const echo = yield* program((socket) => void socket.pipe(socket))
    yield* ReverseStream.open(session, { kind: "tcp", port: endless })
    const other = yield* ReverseStream.open(session, { kind: "tcp", port: echo })
    yield* other.write(Buffer.from("hello"))
    yield* other.finish
    expect((yield* readAll(other)).toString()).toBe("hello")
    expect(written).toBeLessThan(size)
  })
)

it.scopedLive("a program that ends while its last bytes wait for the reader loses none", () =>
  Effect.gen(function* () {
    const session = yield* connectedAgent
    // The window of a new stream, and bytes that have to wait
    const sent = Buffer.alloc(256 * 1024 + 10_000, "atelier")
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const port = yield* program((socket) => void socket.end(sent, () => finish()))
    const stream = yield* ReverseStream.open(session, { kind: "tcp", port })
    yield* Effect.promise(() => finished)
    for (let turn = 0; turn < 100; turn++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    expect((yield* readAll(stream)).equals(sent)).toBe(true)
  })
)

it.scopedLive("a program that answers a finished stream and closes loses no bytes that wait", () =>
  Effect.gen(function* () {
    const session = yield* connectedAgent
    // The window of a new stream has room for all but the last bytes: a part of it was for the answer of the agent
    const sent = Buffer.alloc(256 * 1024, "atelier")
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const port = yield* program((socket) => {
      socket.resume().on("end", () => socket.end(sent))
      socket.on("close", () => finish())
    })
    const stream = yield* ReverseStream.open(session, { kind: "tcp", port })
    yield* stream.finish
    yield* Effect.promise(() => finished)
    for (let turn = 0; turn < 100; turn++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    expect((yield* readAll(stream)).equals(sent)).toBe(true)
  })
)

it.scopedLive("closing a stream closes its connection to the program", () =>
  Effect.gen(function* () {
    const session = yield* connectedAgent
    let closed = () => {}
    const closing = new Promise<void>((resolve) => (closed = resolve))
    const port = yield* program((socket) => void socket.on("end", closed).resume())
    yield* Effect.scoped(ReverseStream.open(session, { kind: "tcp", port }))
    yield* Effect.promise(() => closing)
  })
)

it.scopedLive("a malformed request resets its stream and leaves the session whole", () =>
  Effect.gen(function* () {
    const session = yield* connectedAgent
    for (const text of ["{}", '{"kind":"tcp","port":0}', '{"kind":"file","port":80}', "x".repeat(2000)]) {
      const stream = yield* session.open
      const length = Buffer.alloc(2)
      length.writeUInt16BE(text.length)
      yield* stream.write(Buffer.concat([length, Buffer.from(text)]))
      expect(yield* Effect.flip(stream.read)).toMatchObject({ _tag: "StreamReset", by: "peer" })
    }
    const port = yield* program((socket) => void socket.end("here"))
    expect((yield* readAll(yield* ReverseStream.open(session, { kind: "tcp", port }))).toString()).toBe("here")
  })
)

it.scopedLive("a stream brings each byte of a program once and in its order, whatever the speed of its reader", () =>
  Effect.gen(function* () {
    const session = yield* connectedAgent
    const count = 4_000_000
    const numbers = new Uint32Array(count).map((_, at) => at)
    const port = yield* program((socket) => void socket.end(Buffer.from(numbers.buffer)))
    const stream = yield* ReverseStream.open(session, { kind: "tcp", port })
    const pieces: Array<Uint8Array> = []
    const next: Effect.Effect<void, StreamError> = Effect.flatMap(stream.read, (bytes) => {
      if (Option.isNone(bytes)) return Effect.void
      pieces.push(bytes.value)
      // Now and then other work comes first, so that the window is used up
      return pieces.length % 16 === 0
        ? Effect.zipRight(
            Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
            next
          )
        : next
    })
    yield* next
    const bytes = Buffer.concat(pieces)
    expect(bytes).toHaveLength(count * 4)
    expect(bytes.equals(Buffer.from(numbers.buffer))).toBe(true)
  })
)
