import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import { connect } from "node:net"
import { expect } from "vitest"
import { refusals } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { Body, text } from "../../../src/wire/input.js"
import { makeServer } from "../../../src/node/index.js"
import { BodyStall, readBody } from "../../../src/server/request/body.js"
import { json } from "../../../src/server/codec/respond.js"
import { exchange, listen, listening, type Options } from "../../TestServer.js"

const things = HttpApiGroup.make("things")
  .add(
    HttpApiEndpoint.post("create", "/api/v2/things")
      .setPayload(Body({ name: text }))
      .addSuccess(Schema.Struct({ name: Schema.String }))
  )
  .add(HttpApiEndpoint.post("upload", "/api/v2/upload"))
  .add(HttpApiEndpoint.post("close", "/api/v2/unread"))

class Api extends HttpApi.make("heads")
  .add(things)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

/** Bytes of an upload. */
const limit = 100_000

const handlers = Handlers.group(things, (handlers) =>
  handlers
    .handle("create", ({ payload }) => Effect.succeed(payload))
    .handle("upload", ({ request }) =>
      Effect.map(Effect.provideService(readBody(request, limit), BodyStall, Duration.millis(200)), ({ length }) => json(200, { length }))
    )
    .handle("close", () => Effect.succeed(json(200, {})))
)

const serving = (options: Options = {}) =>
  Effect.flatMap(listen(Api, handlers, options), ({ handler, upgrade }) =>
    listening(makeServer().on("request", handler).on("upgrade", upgrade))
  )

/** Heads of a response, and its body as JSON. */
const parse = (received: string) => {
  const [head = "", body = ""] = received.split("\r\n\r\n").slice(-2)
  return { status: Number(head.split(" ")[1]), closes: /\r\nconnection: close/i.test(head), body: JSON.parse(body) as unknown }
}

const post = (path: string, headers: string, body = ""): string => `POST /api/v2/${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`

describe("a head", () => {
  const many = (count: number): string => Array.from({ length: count }, (_, index) => `X-${index}: a`).join("\r\n")

  it.scopedLive.each([
    ["two Host headers", "Host: x\r\nHost: y\r\nContent-Length: 2", 400],
    ["two Host headers that are equal", "Host: x\r\nhost: x\r\nContent-Length: 2", 400],
    ["no Host header", "Content-Length: 2", 400],
    ["more than 1,000 headers", `Host: x\r\nContent-Length: 2\r\n${many(999)}`, 431],
    ["a transfer coding besides chunked", "Host: x\r\nTransfer-Encoding: gzip, chunked", 501],
    ["an unknown expectation", "Host: x\r\nExpect: miracle\r\nContent-Length: 2", 417]
  ] as const)("with %s is refused with a Response, and the connection closes", ([, headers, status]) =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const answer = parse(yield* exchange(port, post("things", headers, "{}"), /\}\n$/))
      expect(answer).toEqual({ status, closes: true, body: { message: expect.any(String) } })
    })
  )

  it.scopedLive("with 1,000 headers is read to its last one", () =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const received = yield* exchange(port, post("things", `Host: x\r\n${many(998)}\r\nContent-Length: 12`, '{"name":"x"}'), /\}\n$/)
      expect(parse(received)).toMatchObject({ status: 200, body: { name: "x" } })
    })
  )

  it.scopedLive("of HTTP/1.0 needs no Host header", () =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const received = yield* exchange(port, post("things", "Content-Length: 2", "{}").replace("1.1", "1.0"), /\}\n$/)
      expect(parse(received).status).toBe(200)
    })
  )

  it.scopedLive("may be refused for its host before an upgrade", () =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const headers = "Host: x\r\nHost: y\r\nConnection: Upgrade\r\nUpgrade: websocket"
      expect(parse(yield* exchange(port, post("things", headers), /\}\n$/)).status).toBe(400)
    })
  )
})

describe("an expected 100 Continue", () => {
  const headers = (length: number): string => `Host: x\r\nExpect: 100-continue\r\nContent-Length: ${length}`

  it.scopedLive("comes when the body is read", () =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const received = yield* exchange(port, post("upload", headers(5), "hello"), /\}\n$/)
      expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
      expect(parse(received)).toMatchObject({ closes: false, body: { length: 5 } })
    })
  )

  it.scopedLive.each([
    ["too large", "upload", limit + 1, 413],
    ["far too large", "upload", 1_000_000_000, 413],
    ["not read", "unread", 5, 200]
  ] as const)("does not come for a body that is %s", ([, path, length, status]) =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const received = yield* exchange(port, post(path, headers(length)), /\}\n$/)
      expect(received).not.toContain("100 Continue")
      expect(parse(received)).toMatchObject({ status, closes: true })
    })
  )
})

describe("a body", () => {
  it.scopedLive("that goes on after its answer loses its connection", () =>
    Effect.gen(function* () {
      const { port } = yield* serving({ lingerTimeout: "50 millis" })
      const received = yield* exchange(port, post("unread", "Host: x\r\nContent-Length: 100", "{"), /never/)
      expect(parse(received)).toMatchObject({ status: 200, closes: false })
    })
  )

  it.scopedLive("that ends after its answer keeps its connection", () =>
    Effect.gen(function* () {
      const { port } = yield* serving({ lingerTimeout: "30 seconds" })
      const received = yield* Effect.async<string>((resume) => {
        const socket = connect(port, "127.0.0.1", () => socket.write(post("unread", "Host: x\r\nContent-Length: 2", "{")))
        let text = ""
        socket.on("data", (chunk) => {
          text += chunk.toString()
          if (text.split("HTTP/1.1 200").length === 3) resume(Effect.succeed(text))
          else if (text.endsWith("}\n")) socket.write(`}${post("unread", "Host: x\r\nContent-Length: 0")}`)
        })
        socket.on("close", () => resume(Effect.succeed(text)))
        return Effect.sync(() => socket.destroy())
      })
      expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    })
  )

  it.scopedLive("that stalls or trickles is given up before its time", () =>
    Effect.gen(function* () {
      const { port } = yield* serving()
      const received = yield* Effect.async<string>((resume) => {
        const socket = connect(port, "127.0.0.1", () => socket.write(post("upload", "Host: x\r\nContent-Length: 1000")))
        const trickle = setInterval(() => socket.write("x"), 20)
        let text = ""
        socket.on("data", (chunk) => (text += chunk.toString()))
        socket.on("error", () => {})
        socket.on("close", () => resume(Effect.succeed(text)))
        return Effect.sync(() => {
          clearInterval(trickle)
          socket.destroy()
        })
      })
      expect(parse(received)).toMatchObject({ status: 408, closes: true })
    })
  )
})
