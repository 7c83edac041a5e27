import { HttpApi, HttpApiEndpoint, HttpApiGroup, type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Session, type Transport, type TransportError } from "@atelier/agent-protocol"
import { StreamRights } from "@atelier/core/access"
import { DeploymentOptions } from "@atelier/core/deployment"
import { NotFound, StoreUnavailable, Uuid } from "@atelier/core/platform"
import { Deferred, Effect, Exit, Fiber, Logger, Queue, Schema, Scope, Stream, TestClock } from "effect"
import { createServer } from "node:http"
import { connect } from "node:net"
import { expect } from "vitest"
import { WebSocket, type ClientOptions } from "ws"
import { Streaming } from "../../src/contract/annotations.js"
import { Authenticated } from "../../src/contract/authentication.js"
import { NullableUuid } from "../../src/wire/dialect.js"
import { refusals } from "../../src/wire/errors.js"
import * as Handlers from "../../src/handlers/Handlers.js"
import type { FeedRuntime } from "../../src/server/operate/FeedRuntime.js"
import { Path } from "../../src/wire/input.js"
import { type ByteSocket, byteStreamSocket } from "../../src/sockets/byteStream.js"
import { eventsOf, eventSocket, serverSentEvents } from "../../src/sockets/events.js"
import { jsonSocket } from "../../src/sockets/json.js"
import type { Connection } from "../../src/sockets/Connection.js"
import { type Options as SocketOptions, WebSockets } from "../../src/sockets/WebSockets.js"
import { liveness } from "../agents/wireRecordings.js"
import { anyRight, exchange, listen, listening, memberToken, type Options, request } from "../TestServer.js"

const sockets = HttpApiGroup.make("sockets")
  .add(
    HttpApiEndpoint.get("numbers", "/api/v2/numbers/:thing")
      .setPath(Path({ thing: Schema.String }))
      .addError(refusals("NotFound"))
      .annotate(Streaming, true)
  )
  .add(HttpApiEndpoint.get("events", "/api/v2/events").annotate(Streaming, true))
  .add(HttpApiEndpoint.get("sse", "/api/v2/sse").annotate(Streaming, true))
  .add(HttpApiEndpoint.get("bytes", "/api/v2/bytes").annotate(Streaming, true).middleware(Authenticated))
  .add(HttpApiEndpoint.get("raw", "/api/v2/raw").annotate(Streaming, true))

class Api extends HttpApi.make("sockets")
  .add(sockets)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

const Item = Schema.Struct({ value: Schema.Number, parent: NullableUuid })
const item = (value: number) => ({ value, parent: null })

/** The client's bytes until its end. */
const bytesFrom = ({ receive }: ByteSocket) =>
  Stream.asyncPush<Uint8Array, TransportError>(
    (emit) =>
      Effect.forkScoped(
        Effect.matchCause(
          receive((bytes) => void emit.single(bytes)),
          { onFailure: emit.halt, onSuccess: emit.end }
        )
      ),
    { bufferSize: "unbounded" }
  )

interface Behaviour {
  readonly items?: Stream.Stream<{ readonly value: number; readonly parent: Uuid.Uuid | null }, NotFound>
  readonly bytes?: (socket: ByteSocket) => Effect.Effect<void, { readonly message: string }>
  readonly raw?: (connection: Connection) => Effect.Effect<void, unknown>
  readonly socket?: SocketOptions
  /** Answers in place of `raw`. */
  readonly answer?: (
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, WebSockets | StreamRights | FeedRuntime>
}

const handlersOf = ({ answer, bytes = () => Effect.void, items = Stream.empty, raw = () => Effect.void, socket }: Behaviour) =>
  Handlers.group(sockets, (handlers) =>
    Effect.map(Effect.context<StreamRights | FeedRuntime>(), (given) =>
      handlers
        .handle("numbers", ({ path, request }) =>
          path.thing === "missing" ? new NotFound() : jsonSocket(request, Item, { right: anyRight, values: items }, socket)
        )
        .handle("events", ({ request }) => eventSocket(request, Item, eventsOf({ right: anyRight, values: items }), socket))
        .handle("sse", () => serverSentEvents(Item, eventsOf({ right: anyRight, values: items })))
        .handle("bytes", ({ request }) => byteStreamSocket(request, anyRight, bytes, socket))
        .handle(
          "raw",
          ({ request }) =>
            (answer && Effect.provide(answer(request), given)) ??
            Effect.flatMap(WebSockets, ({ serve }) => serve(request, anyRight, raw, socket))
        )
    )
  )

/** A service whose scope the test may close by itself. */
const start = (behaviour: Behaviour = {}, options: Options = {}) =>
  Effect.gen(function* () {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const { handler, upgrade } = yield* Scope.extend(listen(Api, handlersOf(behaviour), options), scope)
    const { port, url } = yield* listening(createServer(handler).on("upgrade", upgrade))
    return { port, url, ws: url.replace("http", "ws"), dispose: Scope.close(scope, Exit.void) }
  })

/** A client, what it receives, and how it ends. */
const client = (url: string, options: ClientOptions = {}) =>
  Effect.gen(function* () {
    const messages = yield* Queue.unbounded<string>()
    const closed = yield* Deferred.make<{ readonly code: number; readonly reason: string }>()
    const refused = yield* Deferred.make<{ readonly status: number; readonly body: string; readonly headers: Record<string, unknown> }>()
    const opened = yield* Deferred.make<void>()
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => new WebSocket(url, options)),
      (socket) => Effect.sync(() => socket.terminate())
    )
    socket.on("open", () => Deferred.unsafeDone(opened, Effect.void))
    socket.on("message", (data, isBinary) => messages.unsafeOffer(isBinary ? `binary:${data.toString("hex")}` : data.toString()))
    socket.on("close", (code, reason) => Deferred.unsafeDone(closed, Effect.succeed({ code, reason: reason.toString() })))
    socket.on("error", () => {})
    socket.on("unexpected-response", (_request, response) => {
      let body = ""
      response.on("data", (chunk) => (body += String(chunk)))
      response.on("end", () =>
        Deferred.unsafeDone(refused, Effect.succeed({ status: response.statusCode ?? 0, body, headers: response.headers }))
      )
    })
    return { socket, messages, closed: Deferred.await(closed), refused: Deferred.await(refused), opened: Deferred.await(opened) }
  })

const handshake = (path: string, lines: ReadonlyArray<string>, method = "GET") =>
  [`${method} ${path} HTTP/1.1`, "Host: atelier.test", ...lines, "", ""].join("\r\n")
const upgradeLines = [
  "Connection: keep-alive, Upgrade",
  "Upgrade: WebSocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
]
const without = (name: string, ...instead: ReadonlyArray<string>) => [...upgradeLines.filter((line) => !line.startsWith(name)), ...instead]

/** Waits until a fiber of the service sleeps until an instant. */
const until = (at: number) =>
  Effect.promise(() => new Promise((resolve) => setImmediate(resolve))).pipe(
    Effect.zipRight(TestClock.sleeps()),
    Effect.repeat({ until: (sleeps) => [...sleeps].includes(at) })
  )

describe("the handshake", () => {
  it.scopedLive("is answered with 101 and the service's headers", () =>
    Effect.gen(function* () {
      const { port } = yield* start({ items: Stream.never })
      const answer = yield* exchange(port, handshake("/api/v2/numbers/a", upgradeLines))
      expect(answer).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
      expect(answer).toContain("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      expect(answer).toContain("X-Service-Build-Version: v1.2.3")
      expect(answer).not.toContain("Sec-WebSocket-Extensions")
      expect(answer).not.toContain("Sec-WebSocket-Protocol")
    })
  )

  it.scopedLive.each([
    ["a plain GET", handshake("/api/v2/numbers/a", ["Connection: close"]), 426, /Connection: Upgrade\r\n[^]*Upgrade: websocket/i],
    ["another protocol", handshake("/api/v2/numbers/a", without("Upgrade:", "Upgrade: h2c")), 426, /upgrade: websocket/i],
    ["no Connection header", handshake("/api/v2/numbers/a", without("Connection:", "Connection: close")), 426, /upgrade: websocket/i],
    [
      "an old version",
      handshake("/api/v2/numbers/a", without("Sec-WebSocket-Version", "Sec-WebSocket-Version: 8")),
      400,
      /Sec-WebSocket-Version: 13/i
    ],
    ["no version", handshake("/api/v2/numbers/a", without("Sec-WebSocket-Version")), 400, /Sec-WebSocket-Version: 13/i],
    ["no key", handshake("/api/v2/numbers/a", without("Sec-WebSocket-Key")), 400, /application\/json/],
    ["a short key", handshake("/api/v2/numbers/a", without("Sec-WebSocket-Key", "Sec-WebSocket-Key: c2hvcnQ=")), 400, /application\/json/],
    ["another method", handshake("/api/v2/numbers/a", upgradeLines, "POST"), 405, /Allow: GET/i],
    ["a page of another host", handshake("/api/v2/numbers/a", [...upgradeLines, "Origin: https://evil.test"]), 403, /application\/json/],
    ["an origin that is none", handshake("/api/v2/numbers/a", [...upgradeLines, "Origin: null"]), 403, /application\/json/],
    ["a refusal of the endpoint", handshake("/api/v2/numbers/missing", upgradeLines), 404, /application\/json; charset=utf-8/],
    ["nobody", handshake("/api/v2/bytes", upgradeLines), 401, /WWW-Authenticate: Bearer/i],
    ["an unknown route", handshake("/api/v2/nothing", upgradeLines), 404, /Route not found/]
  ] as const)("%s is refused over HTTP", ([, bytes, status, expected]) =>
    Effect.gen(function* () {
      const { port } = yield* start({ items: Stream.never })
      const answer = yield* exchange(port, bytes, /\r\n\r\n.*\n$/s)
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(answer).toMatch(expected)
    })
  )

  it.scopedLive("a page of the same host, in any case, and hosts that are named may connect", () =>
    Effect.gen(function* () {
      const { port } = yield* start({ items: Stream.never, socket: { origins: ["dash.test"] } })
      for (const origin of ["http://ATELIER.test", "https://dash.test"]) {
        expect(yield* exchange(port, handshake("/api/v2/numbers/a", [...upgradeLines, `Origin: ${origin}`]))).toContain(" 101 ")
      }
    })
  )

  it.scopedLive("a subprotocol is selected only where the endpoint speaks it", () =>
    Effect.gen(function* () {
      const { port } = yield* start({ items: Stream.never, socket: { subprotocols: ["derp"] } })
      const lines = [...upgradeLines, "Sec-WebSocket-Protocol: chat, derp"]
      expect(yield* exchange(port, handshake("/api/v2/numbers/a", lines))).toContain("Sec-WebSocket-Protocol: derp\r\n")
    })
  )

  it.scopedLive("a refused one costs no connection, even when the client keeps its end open", () =>
    Effect.gen(function* () {
      const { handler, upgrade } = yield* listen(Api, handlersOf({}))
      const server = createServer(handler)
      const closed = yield* Deferred.make<void>()
      server.on("upgrade", (request, socket, head) => {
        socket.on("close", () => Deferred.unsafeDone(closed, Effect.void))
        upgrade(request, socket, head)
      })
      const { port } = yield* listening(server)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
          client.on("error", () => {}).resume()
          client.write(handshake("/api/v2/numbers/missing", ["Connection: Upgrade", "Upgrade: websocket"]))
          return client
        }),
        (client) => Effect.sync(() => client.destroy())
      )
      yield* Deferred.await(closed)
    })
  )

  it.scopedLive("an ordinary endpoint answers requests that offer an upgrade", () =>
    Effect.gen(function* () {
      const { port } = yield* start()
      const answer = yield* exchange(port, handshake("/api/v2/sse", ["Connection: Upgrade", "Upgrade: h2c"]))
      expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    })
  )
})

describe("a JSON socket", () => {
  it.scopedLive("sends one document per text message, in the dialect in force, and closes with 1000", () =>
    Effect.gen(function* () {
      for (const [wire, parent] of [
        ["standard", { uuid: Uuid.nil, valid: false }],
        ["reference", null]
      ] as const) {
        const { ws } = yield* start({ items: Stream.make(item(1), item(2)) }, { wire })
        const { closed, messages } = yield* client(`${ws}/api/v2/numbers/a`)
        expect(JSON.parse(yield* Queue.take(messages))).toEqual({ value: 1, parent })
        expect(JSON.parse(yield* Queue.take(messages))).toEqual({ value: 2, parent })
        expect(yield* closed).toEqual({ code: 1000, reason: "done" })
      }
    })
  )

  it.scopedLive("ends its stream when the client goes", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const items = Stream.concat(Stream.make(item(1)), Stream.never).pipe(Stream.ensuring(Deferred.succeed(ended, undefined)))
      for (const leave of [(socket: WebSocket) => socket.close(1000), (socket: WebSocket) => socket.terminate()]) {
        const { ws } = yield* start({ items })
        const { messages, socket } = yield* client(`${ws}/api/v2/numbers/a`)
        yield* Queue.take(messages)
        leave(socket)
        yield* Deferred.await(ended)
      }
    })
  )

  it.scopedLive("is closed with 1008 when the client sends anything", () =>
    Effect.gen(function* () {
      const { ws } = yield* start({ items: Stream.never })
      const { closed, opened, socket } = yield* client(`${ws}/api/v2/numbers/a`)
      yield* opened
      socket.send("hello")
      expect(yield* closed).toStrictEqual({ code: 1008, reason: "unexpected data message" })
    })
  )

  it.scopedLive("closes with 1011 and the message when it fails", () =>
    Effect.gen(function* () {
      const { ws } = yield* start({ items: Stream.fail(new NotFound({ message: `${"ü".repeat(80)}` })) })
      const { closed } = yield* client(`${ws}/api/v2/numbers/a`)
      const { code, reason } = yield* closed
      expect([code, reason]).toEqual([1011, "ü".repeat(61)])
    })
  )

  it.scopedLive.each(["away", "exhausted", "full"] as const)("closes with 1013 when the store is %s", (reason) =>
    Effect.gen(function* () {
      const { ws } = yield* start({ items: Stream.die(new StoreUnavailable({ reason, cause: "refused" })) })
      const { closed } = yield* client(`${ws}/api/v2/numbers/a`)
      expect((yield* closed).code).toBe(1013)
    })
  )

  it.scopedLive("is closed with 1001 when the client does not answer pings", () =>
    Effect.gen(function* () {
      const { ws } = yield* start({ items: Stream.never, socket: { pingEvery: "20 millis", pongWithin: "50 millis" } })
      const { closed } = yield* client(`${ws}/api/v2/numbers/a`, { autoPong: false })
      expect(yield* closed).toStrictEqual({ code: 1001, reason: "liveness probe failed" })
    })
  )

  it.scoped("is asked again at the usual time after each answer of the client", () =>
    Effect.gen(function* () {
      const { ws } = yield* start(
        { items: Stream.never, socket: { pingEvery: "30 seconds", pongWithin: "1 minute" } },
        { clock: yield* Effect.clock }
      )
      const { opened, socket } = yield* client(`${ws}/api/v2/numbers/a`)
      const asked = yield* Queue.unbounded<string>()
      socket.on("ping", (data) => asked.unsafeOffer(data.toString()))
      yield* opened
      for (let count = 1; count <= 5; count++) {
        // Sooner than the client's time to answer ends
        yield* until(count * 30_000)
        yield* TestClock.adjust("30 seconds")
        expect(yield* Queue.take(asked)).toBe(String(count))
      }
      expect(socket.readyState).toBe(WebSocket.OPEN)
    })
  )

  it.scopedLive("makes its stream wait for a client that does not read, and lets go of one that never does", () =>
    Effect.gen(function* () {
      let produced = 0
      const ended = yield* Deferred.make<void>()
      const items = Stream.repeatEffect(Effect.sync(() => item(produced++))).pipe(Stream.ensuring(Deferred.succeed(ended, undefined)))
      const { port } = yield* start({ items, socket: { sendWithin: "300 millis" } })
      const socket = connect(port, "127.0.0.1", () => socket.write(handshake("/api/v2/numbers/a", upgradeLines)))
      socket.on("error", () => {})
      socket.pause()
      yield* Deferred.await(ended)
      // What the operating system buffers of some 60 bytes each
      expect(produced).toBeLessThan(1_000_000)
      socket.destroy()
    })
  )
})

describe("an event socket", () => {
  it.scopedLive("wraps values and the final error", () =>
    Effect.gen(function* () {
      const { ws } = yield* start(
        { items: Stream.concat(Stream.make(item(1)), Stream.fail(new NotFound({ message: "gone" }))) },
        { wire: "reference" }
      )
      const { closed, messages } = yield* client(`${ws}/api/v2/events`)
      expect(JSON.parse(yield* Queue.take(messages))).toEqual({ type: "data", data: { value: 1, parent: null } })
      expect(JSON.parse(yield* Queue.take(messages))).toEqual({ type: "error", data: { message: "gone" } })
      expect((yield* closed).code).toBe(1000)
    })
  )

  it.scopedLive("closes with 1002 on a client that speaks", () =>
    Effect.gen(function* () {
      const { ws } = yield* start({ items: Stream.never })
      const { closed, opened, socket } = yield* client(`${ws}/api/v2/events`)
      yield* opened
      socket.send("hello")
      expect(yield* closed).toStrictEqual({ code: 1002, reason: "Clients cannot send messages for one-way WebSockets" })
    })
  )
})

describe("server-sent events", () => {
  it.scopedLive("have exactly the frames and headers that readers know", () =>
    Effect.gen(function* () {
      const { url } = yield* start(
        { items: Stream.concat(Stream.make(item(1)), Stream.fail(new NotFound({ message: "<gone>\n" }))) },
        { wire: "reference" }
      )
      const { headers, status, text } = yield* request(`${url}/api/v2/sse`)
      expect(status).toBe(200)
      expect(headers.get("content-type")).toBe("text/event-stream")
      expect(headers.get("cache-control")).toBe("no-cache, no-transform")
      expect(headers.get("x-accel-buffering")).toBe("no")
      expect(text).toBe('event: data\ndata: {"value":1,"parent":null}\n\nevent: error\ndata: {"message":"\\u003cgone\\u003e\\n"}\n\n')
    })
  )

  it.scoped("are joined by a ping every 15 seconds", () =>
    Effect.gen(function* () {
      const { port } = yield* start({ items: Stream.concat(Stream.make(item(1)), Stream.never) }, { clock: yield* Effect.clock })
      const ask = "GET /api/v2/sse HTTP/1.1\r\nHost: x\r\n\r\n"
      const waiting = yield* Effect.fork(exchange(port, ask, /(?:event: ping\n\n[^]*){2}/))
      for (const at of [15_000, 30_000]) {
        yield* until(at)
        yield* TestClock.adjust("15 seconds")
      }
      const text = yield* Fiber.join(waiting)
      expect(text.match(/event: (?:data|ping)\n/g)).toStrictEqual(["event: data\n", "event: ping\n", "event: ping\n"])
    })
  )

  it.scopedLive("end when the client goes and when the service ends", () =>
    Effect.gen(function* () {
      const begun = yield* Queue.unbounded<void>()
      const ended = yield* Queue.unbounded<void>()
      const items = Stream.concat(
        Stream.make(item(1)),
        Stream.fromEffect(Effect.zipRight(Queue.offer(begun, undefined), Effect.never))
      ).pipe(Stream.ensuring(Queue.offer(ended, undefined)))
      const { dispose, port } = yield* start({ items })
      const ask = "GET /api/v2/sse HTTP/1.1\r\nHost: x\r\n\r\n"
      yield* exchange(port, ask, /data: /)
      yield* Queue.take(begun)
      yield* Queue.take(ended)
      const waiting = yield* Effect.fork(exchange(port, ask, /\r\n0\r\n\r\n/))
      yield* Queue.take(begun)
      yield* dispose
      yield* Queue.take(ended)
      expect(yield* Fiber.join(waiting)).toMatch(/\r\n0\r\n\r\n$/)
    })
  )
})

describe("a byte stream", () => {
  it.scopedLive("leaves others their turn while the system takes all that it sends", () =>
    Effect.gen(function* () {
      const longest = yield* Deferred.make<number>()
      const payload = new Uint8Array(64 * 1024)
      const { ws } = yield* start({
        bytes: ({ send }) =>
          Effect.gen(function* () {
            let most = 0
            let sent = 0
            const look = (): void => {
              most = Math.max(most, sent)
              sent = 0
              next = setImmediate(look)
            }
            let next = setImmediate(look)
            const counted = Effect.map(send(payload), () => void sent++)
            yield* Effect.replicateEffect(counted, 64, { discard: true })
            clearImmediate(next)
            yield* Deferred.succeed(longest, Math.max(most, sent))
          })
      })
      yield* client(`${ws}/api/v2/bytes`, { headers })
      // 512 KiB
      expect(yield* Deferred.await(longest)).toBeLessThanOrEqual(8)
    })
  )

  const headers = { "Service-Session-Token": memberToken }

  it.scopedLive("has no borders, ends with 1000 and answers in kind", () =>
    Effect.gen(function* () {
      const { ws } = yield* start({
        bytes: (socket) => Stream.runForEach(bytesFrom(socket), (bytes) => socket.send(bytes.map((byte) => byte + 1)))
      })
      const { closed, messages, opened, socket } = yield* client(`${ws}/api/v2/bytes`, { headers })
      yield* opened
      socket.send(Buffer.from([1, 2]))
      socket.send(Buffer.from([3]))
      expect([yield* Queue.take(messages), yield* Queue.take(messages)]).toEqual(["binary:0203", "binary:04"])
      socket.close(1000)
      expect((yield* closed).code).toBe(1000)
    })
  )

  const framings: ReadonlyArray<{ readonly title: string; readonly options: ClientOptions }> = [
    { title: "that hide their bytes", options: {} },
    { title: "that do not", options: { generateMask: (mask) => void mask.fill(0) } }
  ]
  it.scopedLive.each(framings)("reads everything that was sent before a proper end, in frames $title", ({ options }) =>
    Effect.gen(function* () {
      const received = yield* Deferred.make<number>()
      const { ws } = yield* start({
        bytes: (socket) =>
          Stream.runFold(bytesFrom(socket), 0, (sum, bytes) => sum + bytes.length).pipe(
            Effect.flatMap((sum) => Deferred.succeed(received, sum)),
            Effect.asVoid
          )
      })
      const { opened, socket } = yield* client(`${ws}/api/v2/bytes`, { ...options, headers })
      yield* opened
      for (let count = 0; count < 100; count++) socket.send(Buffer.alloc(100_000))
      socket.close(1001)
      expect(yield* Deferred.await(received)).toBe(10_000_000)
    })
  )

  it.scopedLive("fails when the client is cut off", () =>
    Effect.gen(function* () {
      const outcome = yield* Deferred.make<string>()
      const { ws } = yield* start({
        bytes: (socket) =>
          Stream.runDrain(bytesFrom(socket)).pipe(
            Effect.matchEffect({
              onFailure: ({ message }) => Deferred.succeed(outcome, message),
              onSuccess: () => Deferred.succeed(outcome, "ended")
            }),
            Effect.asVoid
          )
      })
      const { opened, socket } = yield* client(`${ws}/api/v2/bytes`, { headers })
      yield* opened
      socket.terminate()
      expect(yield* Deferred.await(outcome)).toMatch(/broke/)
    })
  )

  it.scopedLive("logs no error when its client is cut off, whether it reads or sends", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel.label} ${String(message)}`))
      const ended = yield* Queue.unbounded<void>()
      const sending = ({ send }: ByteSocket) => Effect.forever(send(new Uint8Array(65_536)))
      const reading = (socket: ByteSocket) => Effect.zipRight(socket.send(new Uint8Array(1)), Stream.runDrain(bytesFrom(socket)))
      for (const behaviour of [sending, reading]) {
        const bytes = (socket: ByteSocket) => Effect.ensuring(behaviour(socket), ended.offer(undefined))
        const { dispose, ws } = yield* start({ bytes }, { logger })
        const { messages, socket } = yield* client(`${ws}/api/v2/bytes`, { headers })
        yield* Queue.take(messages)
        socket.terminate()
        yield* ended.take
        yield* dispose
      }
      expect(logged.filter((line) => line.startsWith("ERROR"))).toStrictEqual([])
    })
  )

  it.scopedLive("closes with 1003 on text and with 1011 on failure", () =>
    Effect.gen(function* () {
      const reading = yield* start({ bytes: (socket) => Stream.runDrain(bytesFrom(socket)) })
      const texting = yield* client(`${reading.ws}/api/v2/bytes`, { headers })
      yield* texting.opened
      texting.socket.send("text")
      expect((yield* texting.closed).code).toBe(1003)

      const failing = yield* start({ bytes: () => Effect.fail({ message: "out of streams" }) })
      const failed = yield* client(`${failing.ws}/api/v2/bytes`, { headers })
      expect((yield* failed.closed).code).toBe(1011)
    })
  )

  it.scopedLive("makes a fast client wait for a slow reader", () =>
    Effect.gen(function* () {
      const go = yield* Deferred.make<void>()
      const done = yield* Deferred.make<number>()
      const { ws } = yield* start({
        bytes: (socket) =>
          Deferred.await(go).pipe(
            Effect.zipRight(Stream.runFold(bytesFrom(socket), 0, (sum, bytes) => sum + bytes.length)),
            Effect.flatMap((sum) => Deferred.succeed(done, sum)),
            Effect.asVoid
          )
      })
      const { opened, socket } = yield* client(`${ws}/api/v2/bytes`, { headers })
      yield* opened
      for (let count = 0; count < 640; count++) socket.send(Buffer.alloc(100_000))
      // 64 MB were sent: all but what fits into the inbox and the operating system's buffers wait at the client until the service reads
      const inTurns = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* Effect.iterate(Number.POSITIVE_INFINITY, {
        while: (before) => socket.bufferedAmount < before,
        body: () => Effect.as(Effect.repeatN(inTurns, 1_000), socket.bufferedAmount)
      })
      expect(socket.bufferedAmount).toBeGreaterThan(32_000_000)
      yield* Deferred.succeed(go, undefined)
      socket.close(1000)
      expect(yield* Deferred.await(done)).toBe(64_000_000)
    })
  )
})

describe("a client that answers no pings", () => {
  const paths = { documents: "/api/v2/numbers/a", events: "/api/v2/events", agent: "/api/v2/bytes" } as const

  it.scoped.each(liveness.sockets)("is closed as recorded on a socket of $kind", ({ close, kind, pings }) =>
    Effect.gen(function* () {
      const bytes = (transport: Transport) =>
        Session.make(transport, { role: "server" }).pipe(
          Effect.flatMap(({ closed }) => closed),
          Effect.scoped,
          Effect.catchTag("SessionEnded", () => Effect.void)
        )
      const { ws } = yield* start({ bytes, items: Stream.never }, { clock: yield* Effect.clock })
      const { closed, messages, opened, socket } = yield* client(`${ws}${paths[kind]}`, {
        autoPong: false,
        headers: { "Service-Session-Token": memberToken }
      })
      const asked = yield* Queue.unbounded<void>()
      socket.on("ping", () => asked.unsafeOffer())
      yield* opened
      let now = 0
      /** The yamux session counts the seconds. */
      const step = kind === "agent" ? 1_000 : Number.POSITIVE_INFINITY
      const goTo = (time: number) =>
        Effect.gen(function* () {
          while (now < time) {
            const next = Math.min(time, now + step)
            yield* until(next)
            const before = next === close.at ? 1 : 0
            yield* TestClock.adjust(next - now - before)
            now = next
          }
        })
      for (const at of pings) {
        yield* goTo(at)
        yield* kind === "agent" ? Queue.take(messages) : Queue.take(asked)
      }
      // But for the last millisecond
      yield* goTo(close.at)
      expect(socket.readyState).toBe(WebSocket.OPEN)
      yield* TestClock.adjust(1)
      expect(yield* closed).toStrictEqual({ code: close.code, reason: close.reason })
    })
  )
})

describe("a socket that is attached", () => {
  it.scopedLive("ends what was prepared where that refuses the request, and with the socket", () =>
    Effect.gen(function* () {
      const ended: Array<string> = []
      const prepared = (name: string) => Effect.addFinalizer(() => Effect.sync(() => ended.push(name)))
      const isEnded = yield* Deferred.make<void>()
      const { ws } = yield* start({
        answer: (request) =>
          Effect.gen(function* () {
            const { attach } = yield* WebSockets
            const refused = yield* Effect.exit(attach(request, anyRight, Effect.zipRight(prepared("refused"), Effect.fail("no"))))
            expect({ ended, refused }).toStrictEqual({ ended: ["refused"], refused: Exit.fail("no") })
            const prepare = Effect.as(prepared("served"), ({ end }: Connection) => Effect.sync(() => end(Exit.void)))
            const closed = Effect.addFinalizer(() => Deferred.succeed(isEnded, undefined))
            return yield* Effect.orDie(attach(request, anyRight, Effect.zipRight(closed, prepare)))
          })
      })
      const { closed } = yield* client(`${ws}/api/v2/raw`)
      expect((yield* closed).code).toBe(1000)
      yield* Deferred.await(isEnded)
      expect(ended).toStrictEqual(["refused", "served"])
    })
  )

  it.scopedLive("leaves its right where the upgrade fails", () =>
    Effect.gen(function* () {
      const refusals = yield* Deferred.make<number>()
      const headers = {
        get broken(): string {
          throw new Error("There is no such header.")
        }
      }
      const { ws } = yield* start({
        answer: (request) =>
          Effect.gen(function* () {
            const { attach } = yield* WebSockets
            const { begin } = yield* StreamRights
            const { streamsPerCaller } = yield* DeploymentOptions
            const exit = yield* Effect.exit(
              attach(
                request,
                anyRight,
                Effect.succeed(() => Effect.void),
                { headers }
              )
            )
            expect(Exit.isFailure(exit)).toBe(true)
            const begun = Array.from({ length: streamsPerCaller }, () => begin(anyRight, () => undefined))
            for (const leave of begun) if (typeof leave === "function") leave()
            yield* Deferred.succeed(refusals, begun.filter((leave) => typeof leave !== "function").length)
            return HttpServerResponse.empty()
          })
      })
      yield* client(`${ws}/api/v2/raw`)
      expect(yield* Deferred.await(refusals)).toBe(0)
    })
  )
})

describe("hostile clients", () => {
  const frame = (...bytes: ReadonlyArray<number>) =>
    Buffer.concat([Buffer.from(handshake("/api/v2/raw", upgradeLines)), Buffer.from(bytes)])
  const closeCode = (received: string) => {
    const at = received.lastIndexOf("\x88")
    return received.charCodeAt(at + 2) * 256 + received.charCodeAt(at + 3)
  }

  it.scopedLive.each([
    ["a frame without a mask", [0x81, 0x01, 0x61], 1002],
    ["reserved bits", [0xf1, 0x80, 0, 0, 0, 0], 1002],
    ["an unknown opcode", [0x83, 0x80, 0, 0, 0, 0], 1002],
    ["a long control frame", [0x89, 0xfe, 0x00, 0x80, 0, 0, 0, 0], 1002],
    ["a frame that never ends", [0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0], 1009],
    ["a message over the limit", [0x82, 0xff, 0, 0, 0, 0, 0, 0x40, 0, 0x01, 0, 0, 0, 0], 1009],
    ["text that is not UTF-8", [0x81, 0x81, 0, 0, 0, 0, 0xff], 1007],
    ["a continuation of nothing", [0x80, 0x80, 0, 0, 0, 0], 1002]
  ] as const)("%s closes the socket and ends its handler", ([, bytes, code]) =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const { port } = yield* start({
        raw: ({ messages }) => Effect.ensuring(Stream.runDrain(messages), Deferred.succeed(ended, undefined))
      })
      const received = yield* exchange(port, frame(...bytes), /\x88[^]{3,}$/)
      yield* Deferred.await(ended)
      expect(closeCode(received)).toBe(code)
    })
  )

  it.scopedLive("a close ends the handler before the client ends its connection", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<Exit.Exit<void, unknown>>()
      const { port } = yield* start({
        raw: ({ messages }) => Effect.onExit(Stream.runDrain(messages), (exit) => Deferred.succeed(ended, exit))
      })
      const connection = yield* Effect.acquireRelease(
        Effect.sync(() => connect({ port, host: "127.0.0.1", allowHalfOpen: true })),
        (connection) => Effect.sync(() => connection.destroy())
      )
      connection.resume().write(frame(0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8))
      expect(yield* Deferred.await(ended)).toStrictEqual(Exit.void)
    })
  )

  it.scopedLive("messages of 4 MiB are taken", () =>
    Effect.gen(function* () {
      const size = yield* Deferred.make<number>()
      const { ws } = yield* start({
        raw: ({ messages }) => Stream.runForEach(messages, (message) => Deferred.succeed(size, message.length))
      })
      const { opened, socket } = yield* client(`${ws}/api/v2/raw`)
      yield* opened
      socket.send(Buffer.alloc(4 * 1024 * 1024))
      expect(yield* Deferred.await(size)).toBe(4 * 1024 * 1024)
    })
  )
})

describe("the service's end", () => {
  it.scopedLive("closes sockets with 1012 and waits for their handlers", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const { dispose, ws } = yield* start({
        raw: ({ messages }) =>
          Effect.ensuring(
            Stream.runDrain(messages),
            Effect.yieldNow().pipe(Effect.repeatN(100), Effect.zipRight(Effect.sync(() => events.push("handler ended"))))
          )
      })
      const { closed, opened } = yield* client(`${ws}/api/v2/raw`)
      yield* opened
      yield* dispose
      events.push("disposed")
      expect(events).toEqual(["handler ended", "disposed"])
      expect((yield* closed).code).toBe(1012)
    })
  )

  it.scopedLive("refuses new requests and sockets", () =>
    Effect.gen(function* () {
      const { dispose, port, url } = yield* start()
      yield* dispose
      expect((yield* request(`${url}/api/v2/sse`)).status).toBe(503)
      expect(yield* exchange(port, handshake("/api/v2/raw", upgradeLines))).toMatch(/^HTTP\/1\.1 503 /)
    })
  )
})
