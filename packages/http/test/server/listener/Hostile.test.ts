import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpServerResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Layer, Schema, Scope, Stream } from "effect"
import { createServer, IncomingMessage } from "node:http"
import { connect, Socket } from "node:net"
import { PassThrough } from "node:stream"
import { expect } from "vitest"
import { refusals } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { Body, Query, text } from "../../../src/wire/input.js"
import { refuseMalformed, serverOptions } from "../../../src/node/index.js"
import { BodyTimeout } from "../../../src/server/request/body.js"
import { exchange, listen, listening, request, serve } from "../../TestServer.js"

const things = HttpApiGroup.make("things")
  .add(
    HttpApiEndpoint.post("create", "/api/v2/things")
      .setPayload(Body({ name: text }))
      .addSuccess(Schema.Struct({ name: Schema.String }))
  )
  .add(
    HttpApiEndpoint.get("search", "/api/v2/search")
      .setUrlParams(Query({ q: text }))
      .addSuccess(Schema.Struct({ q: Schema.String }))
  )
  .add(HttpApiEndpoint.get("stream", "/api/v2/stream"))

class Api extends HttpApi.make("hostile")
  .add(things)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

const handlersOf = (stream: Stream.Stream<Uint8Array> = Stream.empty, bodyTimeout: Duration.DurationInput = "1 minute") =>
  Handlers.group(things, (handlers) =>
    handlers
      .handle("create", ({ payload }) => Effect.succeed(payload))
      .handle("search", ({ urlParams }) => Effect.succeed(urlParams))
      .handle("stream", () => Effect.succeed(HttpServerResponse.stream(stream)))
  ).pipe(Effect.provide(Layer.succeed(BodyTimeout, Duration.decode(bodyTimeout))))

const handlers = handlersOf()

describe("bodies", () => {
  it.scopedLive("one that does not arrive is given up, and the connection with it", () =>
    Effect.gen(function* () {
      const { port } = yield* serve(Api, handlersOf(Stream.empty, "100 millis"))
      const received = yield* exchange(port, 'POST /api/v2/things HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"name":', /never/)
      expect(received).toMatch(/^HTTP\/1\.1 408 /)
      expect(received).toMatch(/\r\nconnection: close\r\n/i)
    })
  )

  it.scopedLive("one that is cut off ends its request", () =>
    Effect.gen(function* () {
      const { port, url } = yield* serve(Api, handlers)
      yield* Effect.async<void>((resume) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.write('POST /api/v2/things HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"name":', () => {
            socket.destroy()
            resume(Effect.void)
          })
        })
      })
      expect((yield* request(`${url}/api/v2/search`)).status).toBe(200)
    })
  )

  it.scopedLive("bytes that are not text are read as replacement characters, not as an error", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(Api, handlers)
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
      const { json } = yield* request(`${url}/api/v2/things`, { method: "POST", body })
      expect(json()).toEqual({ name: "\uFFFD\uFFFD" })
    })
  )

  it.scopedLive("a method without one may carry one", () =>
    Effect.gen(function* () {
      const { port } = yield* serve(Api, handlers)
      const received = yield* exchange(
        port,
        "GET /api/v2/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
        /\}\n$/
      )
      expect(received).toMatch(/^HTTP\/1\.1 200 /)
    })
  )

  it.scopedLive("one behind an upgrade is not waited for", () =>
    Effect.gen(function* () {
      const { port } = yield* serve(Api, handlers)
      const head = "POST /api/v2/things HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}"
      expect(yield* exchange(port, head)).toMatch(/^HTTP\/1\.1 [24]\d\d /)
    })
  )
})

describe("upgrades", () => {
  it.scopedLive("that are asked for behind other requests wait for their responses", () =>
    Effect.gen(function* () {
      const { port } = yield* serve(Api, handlers)
      const line = (q: string, headers = "") => `GET /api/v2/search?q=${q} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
      const received = yield* exchange(
        port,
        line("first") + line("second") + line("third", "Connection: Upgrade\r\nUpgrade: h2c\r\n"),
        /never/
      )
      expect(received.match(/"q":"\w+"/g)).toEqual(['"q":"first"', '"q":"second"', '"q":"third"'])
    })
  )

  it.scopedLive("of clients that are gone before their turn are not begun", () =>
    Effect.gen(function* () {
      const { upgrade } = yield* listen(Api, handlers)
      const begun = (isGone: boolean) =>
        Effect.async<boolean>((resume) => {
          let isBegun = false
          const socket = new PassThrough()
          const request = new IncomingMessage(new Socket())
          // The first that an answer asks for
          Object.defineProperty(request, "method", {
            get: () => {
              isBegun = true
              return "GET"
            }
          })
          upgrade(request, socket, Buffer.alloc(0))
          if (isGone) socket.destroy()
          // A request begins in the next turn of the event loop
          setImmediate(() => setImmediate(() => resume(Effect.succeed(isBegun))))
        })
      expect([yield* begun(false), yield* begun(true)]).toStrictEqual([true, false])
    })
  )

  it.scopedLive("that are refused at the service's end may be reset by their clients", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { upgrade } = yield* Scope.extend(listen(Api, handlers), scope)
      yield* Scope.close(scope, Exit.void)
      const socket = new PassThrough()
      const reset = new Error("reset")
      const errors: Array<Error> = []
      upgrade(new IncomingMessage(new Socket()), socket, Buffer.alloc(0))
      const listeners = socket.listenerCount("error")
      yield* Effect.async<void>((resume) => {
        socket.on("error", (error) => errors.push(error)).on("close", () => resume(Effect.void))
        socket.destroy(reset)
      })
      expect([listeners, errors]).toEqual([1, [reset]])
    })
  )
})

describe("heads", () => {
  it.scopedLive("a URL may be long, but not endless", () =>
    Effect.gen(function* () {
      const { handler } = yield* listen(Api, handlers)
      const { url } = yield* listening(createServer({ maxHeaderSize: 128 * 1024 }, handler))
      expect((yield* request(`${url}/api/v2/search?ignored=${"x".repeat(15_000)}`)).status).toBe(200)
      const refused = yield* request(`${url}/api/v2/search?q=${"x".repeat(17_000)}`)
      expect([refused.status, refused.headers.get("content-type")]).toEqual([414, "application/json; charset=utf-8"])
    })
  )

  it.scopedLive("a parameter has at most 4,096 characters", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(Api, handlers)
      const statuses = yield* Effect.forEach([4_096, 4_097], (length) =>
        Effect.map(request(`${url}/api/v2/search?q=${"x".repeat(length)}`), ({ status }) => status)
      )
      expect(statuses).toEqual([200, 400])
    })
  )

  it.scopedLive("giant headers are refused by the server's options", () =>
    Effect.gen(function* () {
      const { handler } = yield* listen(Api, handlers)
      const { port, url } = yield* listening(createServer(serverOptions, handler))
      const received = yield* exchange(port, `GET /api/v2/search HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(64 * 1024)}\r\n\r\n`)
      expect(received).toMatch(/^HTTP\/1\.1 431 /)
      expect((yield* request(`${url}/api/v2/search`, { headers: { cookie: "a=b; ".repeat(4000) } })).status).toBe(200)
    })
  )

  it.scopedLive.each([
    ["a request line of nonsense", "\x00\x01\x02 HTTP/1.1\r\n\r\n"],
    ["two lengths", "POST /api/v2/things HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"],
    ["a length and chunks", "POST /api/v2/things HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a header with a line feed", "GET /api/v2/search HTTP/1.1\r\nHost: x\r\nX: a\nb\r\n\r\n"]
  ])("%s reaches no handler", ([, bytes = ""]) =>
    Effect.gen(function* () {
      const { port } = yield* serve(Api, handlers)
      expect(yield* exchange(port, bytes)).toMatch(/^(HTTP\/1\.1 400 |$)/)
    })
  )

  it.scopedLive.each([
    ["what is not HTTP", "\x16\x03\x01\x02\r\n\r\n", 400],
    ["an unknown method", "FOO / HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["a head that is too large", `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(64 * 1024)}\r\n\r\n`, 431],
    [
      "chunks of too many words",
      `POST /api/v2/things HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;${"x".repeat(64 * 1024)}\r\n{}\r\n0\r\n\r\n`,
      413
    ]
  ] as const)("%s is answered with a Response", ([, bytes, status]) =>
    Effect.gen(function* () {
      const { handler } = yield* listen(Api, handlers)
      const { port } = yield* listening(createServer(serverOptions, handler).on("clientError", refuseMalformed))
      const received = yield* exchange(port, bytes, /\}\n$/)
      expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(received).toContain("\r\nContent-Type: application/json; charset=utf-8\r\n")
      expect(JSON.parse(received.split("\r\n\r\n")[1] ?? "")).toEqual({ message: expect.any(String) })
    })
  )

  it.scopedLive("a client that sends on after its refusal reads it, and its connection is not reset", () =>
    Effect.gen(function* () {
      const { handler } = yield* listen(Api, handlers)
      const { port } = yield* listening(createServer(serverOptions, handler).on("clientError", refuseMalformed))
      const received = yield* Effect.async<string, Error>((resume) => {
        let text = ""
        const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
        socket.on("error", (error) => resume(Effect.fail(error)))
        socket.on("data", (data) => (text += String(data)))
        socket.on("close", () => resume(Effect.succeed(text)))
        socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${"x".repeat(64 * 1024)}`)
        socket.on("end", () => socket.write("x".repeat(64 * 1024), () => socket.end("x".repeat(64 * 1024))))
      })
      expect(received).toMatch(/^HTTP\/1\.1 431 /)
      expect(received).toMatch(/\}\n$/)
    })
  )

  it.scopedLive("garbage behind a response that has begun does not get into it", () =>
    Effect.gen(function* () {
      const endless = Stream.concat(Stream.succeed(new TextEncoder().encode("begun")), Stream.never)
      const { handler } = yield* listen(Api, handlersOf(endless))
      const { port } = yield* listening(createServer(serverOptions, handler).on("clientError", refuseMalformed))
      const received = yield* Effect.async<string>((resume) => {
        const socket = connect(port, "127.0.0.1", () => socket.write("GET /api/v2/stream HTTP/1.1\r\nHost: x\r\n\r\n"))
        let text = ""
        socket.on("data", (chunk) => {
          text += chunk.toString("latin1")
          if (text.includes("begun")) socket.write("\x00\x00\r\n\r\n")
        })
        socket.on("error", () => {})
        socket.on("close", () => resume(Effect.succeed(text)))
      })
      expect(received).toMatch(/begun\r\n$/)
    })
  )

  it.scopedLive.each([
    ["an absolute target", "GET http://x/api/v2/search?q=a HTTP/1.1", 200],
    ["an asterisk", "OPTIONS * HTTP/1.1", 404],
    ["a path out of the tree", "GET /../../api/v2/search HTTP/1.1", 404],
    ["a fragment", "GET /api/v2/search#x HTTP/1.1", 404],
    ["a thousand percent signs", `GET /api/v2/${"%25".repeat(4000)} HTTP/1.1`, 404],
    ["a thousand slashes", `GET /api/v2${"/".repeat(8000)}search HTTP/1.1`, 200],
    ["a query of nothing but separators", `GET /api/v2/search?${"&".repeat(4000)}${"=".repeat(4000)} HTTP/1.1`, 200],
    ["a query that names the prototype", "GET /api/v2/search?__proto__=1&constructor=2&q=3 HTTP/1.1", 200],
    ["a query that is badly encoded", "GET /api/v2/search?q=%zz%ff HTTP/1.1", 200],
    ["U+0000 in a query", "GET /api/v2/search?q=%00 HTTP/1.1", 400]
  ] as const)("%s is answered", ([, line, status]) =>
    Effect.gen(function* () {
      const { port } = yield* serve(Api, handlers)
      const received = yield* exchange(port, `${line}\r\nHost: x\r\nConnection: close\r\n\r\n`, /\n$/)
      expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    })
  )

  it.scopedLive("cookies and tokens of any form cause no error", () =>
    Effect.gen(function* () {
      const { port } = yield* serve(Api, handlers)
      for (const header of [
        "Cookie: service_session_token=%zz; csrf_token=%E0%A4%A; =; ;;",
        "Cookie: service_session_token",
        "Authorization: Bearer",
        "Authorization: Basic \xff",
        `Service-Session-Token: ${"x".repeat(10_000)}`,
        "X-Forwarded-For: ,,,",
        "Origin: \xff"
      ]) {
        const received = yield* exchange(port, `GET /api/v2/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${header}\r\n\r\n`, /\n$/)
        expect([header, received.slice(0, 13)]).toEqual([header, "HTTP/1.1 200 "])
      }
    })
  )
})

describe("responses", () => {
  it.scopedLive("that wait behind another one end with their connection", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      let streams = 0
      const stuck = Stream.suspend(() => {
        if (++streams === 3) Deferred.unsafeDone(started, Effect.void)
        return Stream.ensuring(
          Stream.never,
          Effect.suspend(() => (--streams === 0 ? Deferred.succeed(ended, undefined) : Effect.void))
        )
      })
      const scope = yield* Scope.make()
      const { handler } = yield* Scope.extend(listen(Api, handlersOf(stuck), { drainTimeout: "1 hour" }), scope)
      let finished = 0
      const server = createServer(serverOptions, handler).on("request", (_, response) => response.once("finish", () => finished++))
      const { port } = yield* listening(server)
      const line = (path: string) => `GET /api/v2/${path} HTTP/1.1\r\nHost: x\r\n\r\n`
      const socket = connect(port, "127.0.0.1", () => socket.write(line("stream").repeat(3) + line("search").repeat(20)))
      yield* Deferred.await(started)
      socket.destroy()
      yield* Deferred.await(ended)
      // Answered or not, none is left to wait for
      yield* Scope.close(scope, Exit.void)
      // And who answered is told so
      expect(finished).toBeGreaterThanOrEqual(20)
    })
  )

  it.scopedLive("a stream waits for its reader and ends with it", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      let produced = 0
      const endless = Stream.repeatEffect(Effect.sync(() => new Uint8Array(64 * 1024).fill(produced++))).pipe(
        Stream.ensuring(Deferred.succeed(ended, undefined))
      )
      const { port } = yield* serve(Api, handlersOf(endless))
      yield* Effect.async<void>((resume) => {
        const socket = connect(port, "127.0.0.1", () => socket.write("GET /api/v2/stream HTTP/1.1\r\nHost: x\r\n\r\n"))
        let before = -1
        // No reader: once no more is produced between two looks, everything in between is full
        const look = setInterval(() => {
          if (produced > 0 && produced === before) {
            clearInterval(look)
            socket.destroy()
            resume(Effect.void)
          }
          before = produced
        }, 50)
      })
      yield* Deferred.await(ended)
      expect(produced * 64).toBeLessThan(64 * 1024)
    })
  )
})
