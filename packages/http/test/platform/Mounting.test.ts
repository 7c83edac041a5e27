import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { expect } from "vitest"
import { WebSocket } from "ws"
import { namesOf } from "../../src/Brand.js"
import { listOfOne, NullableUuid } from "../../src/dialect.js"
import { refusals } from "../../src/errors.js"
import * as Handlers from "../../src/handlers/Handlers.js"
import { Body, text } from "../../src/input.js"
import { CurrentRequest } from "../../src/server/CurrentRequest.js"
import { jsonSocket } from "../../src/sockets/json.js"
import { listen, listening, memberToken, type Options, request, serve } from "./TestServer.js"

const Thing = Schema.Struct({ name: Schema.String, parent_id: NullableUuid })

const things = HttpApiGroup.make("things")
  .add(HttpApiEndpoint.get("one", "/api/v2/thing").addSuccess(Thing))
  .add(HttpApiEndpoint.get("wrapped", "/api/v2/wrapped").addSuccess(listOfOne(Thing)))
  .add(
    HttpApiEndpoint.post("echo", "/api/v2/echo")
      .setPayload(Body({ name: text }))
      .addSuccess(Schema.Struct({ name: Schema.String }))
  )
  .add(HttpApiEndpoint.post("logSource", "/api/v2/workspaceagents/me/log-source").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
  .add(HttpApiEndpoint.get("slow", "/api/v2/slow").addSuccess(Schema.Struct({ path: Schema.String })))
  .add(HttpApiEndpoint.get("health", "/healthz").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
  .add(HttpApiEndpoint.get("watch", "/api/v2/watch"))

class Api extends HttpApi.make("mounting")
  .add(things)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

const handlersOf = (gate: Effect.Effect<void> = Effect.void) =>
  Handlers.group(Api, "things", (handlers) =>
    handlers
      .handle("one", () => Effect.succeed({ name: "a", parent_id: null }))
      .handle("wrapped", () => Effect.succeed({ name: "a", parent_id: null }))
      .handle("echo", ({ payload }) => Effect.succeed(payload))
      .handle("logSource", () => Effect.succeed({ ok: true }))
      .handle("slow", () =>
        Effect.zipRight(
          gate,
          Effect.map(CurrentRequest, ({ path }) => ({ path }))
        )
      )
      .handle("health", () => Effect.succeed({ ok: true }))
      .handle("watch", ({ request }) => jsonSocket(request, Schema.String, Stream.make("hello")))
  )

const firstMessage = (url: string) =>
  Effect.async<string>((resume) => {
    const socket = new WebSocket(url)
    socket.on("message", (data) => resume(Effect.succeed(String(data))))
    socket.on("error", (error) => resume(Effect.die(error)))
    return Effect.sync(() => socket.terminate())
  })

describe("mounted in a Node server", () => {
  it.scopedLive("the interface may live below a path that stays in the URL", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(Api, handlersOf(), { basePath: "/dev" })
      expect((yield* request(`${url}/dev/api/v2/thing`)).status).toBe(200)
      expect((yield* request(`${url}/dev/healthz`)).status).toBe(200)
      for (const path of ["/api/v2/thing", "/device/api/v2/thing", "/dev", "/"]) {
        expect([path, (yield* request(url + path)).status]).toEqual([path, 404])
      }
      expect(yield* firstMessage(`${url.replace("http", "ws")}/dev/api/v2/watch`)).toBe('"hello"')
    })
  )

  it.scopedLive("the interface may live below a path that the host takes off, and leave other paths to it", () =>
    Effect.gen(function* () {
      const { handler } = yield* listen(Api, handlersOf())
      const host = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
        const next = (): void => {
          outgoing.writeHead(200, { "content-type": "text/plain" }).end(`the host's ${incoming.url}`)
        }
        if (!incoming.url?.startsWith("/dev/")) return next()
        incoming.url = incoming.url.slice("/dev".length)
        handler(incoming, outgoing, next)
      }
      const { url } = yield* listening(createServer(host))
      expect((yield* request(`${url}/dev/api/v2/thing`)).status).toBe(200)
      expect((yield* request(`${url}/dev/api/v2/nothing`)).status).toBe(404)
      expect((yield* request(`${url}/dev/healthz`, { method: "POST" })).status).toBe(405)
      expect((yield* request(`${url}/dev/index.html`)).text).toBe("the host's /index.html")
      expect((yield* request(`${url}/elsewhere`)).text).toBe("the host's /elsewhere")
    })
  )

  it.scopedLive("a body that the host has read is taken from it", () =>
    Effect.gen(function* () {
      const { handler } = yield* listen(Api, handlersOf())
      const host = (incoming: IncomingMessage & { body?: unknown }, outgoing: ServerResponse): void => {
        let read = ""
        incoming.on("data", (chunk) => (read += String(chunk)))
        incoming.on("end", () => {
          incoming.body = JSON.parse(read)
          setImmediate(() => handler(incoming, outgoing))
        })
      }
      const { url } = yield* listening(createServer(host))
      const { json } = yield* request(`${url}/api/v2/echo`, { method: "POST", body: '{"name":"read"}' })
      expect(json()).toEqual({ name: "read" })
    })
  )

  it.scopedLive("two services with other brands and dialects do not meet", () =>
    Effect.gen(function* () {
      const seeds = yield* serve(Api, handlersOf())
      const reference = yield* serve(Api, handlersOf(), { names: namesOf("Coder"), wire: "reference" })
      const [first, second] = yield* Effect.all([request(`${seeds.url}/api/v2/thing`), request(`${reference.url}/api/v2/thing`)])
      expect(first.json()).toEqual({ name: "a", parent_id: { uuid: "00000000-0000-0000-0000-000000000000", valid: false } })
      expect(second.json()).toEqual({ name: "a", parent_id: null })
      expect(first.headers.has("x-service-request-id")).toBe(true)
      expect(second.headers.has("x-coder-request-id")).toBe(true)
      expect((yield* request(`${seeds.url}/api/v2/wrapped`)).json()).toMatchObject([{ name: "a" }])
      expect((yield* request(`${reference.url}/api/v2/wrapped`)).json()).toMatchObject({ name: "a" })
      const post = (url: string) => request(`${url}/api/v2/workspaceagents/me/log-source`, { method: "POST" })
      expect([(yield* post(seeds.url)).status, (yield* post(reference.url)).status]).toEqual([200, 201])
    })
  )
})

describe("as a fetch function", () => {
  const fetching = (options?: Options) =>
    Effect.map(
      listen(Api, handlersOf(), options),
      ({ fetch }) =>
        (path: string, init?: RequestInit) =>
          Effect.promise(() => fetch(new Request(`http://host.test${path}`, init)))
    )

  it.scopedLive("it answers what the socket would", () =>
    Effect.gen(function* () {
      const ask = yield* fetching()
      const found = yield* ask("/api/v2/thing")
      expect([found.status, found.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"])
      expect(found.headers.get("x-service-build-version")).toBe("v1.2.3")
      expect(found.headers.getSetCookie()).toHaveLength(1)
      const echoed = yield* ask("/api/v2/echo", { method: "POST", body: '{"name":"x"}' })
      expect(yield* Effect.promise(() => echoed.json())).toEqual({ name: "x" })
      expect((yield* ask("/api/v2/thing", { method: "DELETE" })).status).toBe(405)
      expect((yield* ask("/api/v2/echo", { method: "POST", body: "x".repeat(5 * 1024 * 1024) })).status).toBe(413)
      const upgrade = {
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="
      }
      expect((yield* ask("/api/v2/watch", { headers: upgrade })).status).toBe(426)
      expect((yield* ask("/api/v2/thing", { headers: { "Service-Session-Token": memberToken } })).status).toBe(200)
    })
  )
})

describe("an address that only the host knows", () => {
  it.scopedLive("is the client's", () =>
    Effect.gen(function* () {
      const { fetch } = yield* listen(Api, handlersOf(), { rateLimit: { api: 1, disableAll: false } })
      const from = (remoteAddress: string) =>
        Effect.promise(() => fetch(new Request("http://host.test/api/v2/thing"), { remoteAddress }).then(({ status }) => status))
      expect([yield* from("192.0.2.1"), yield* from("192.0.2.2"), yield* from("192.0.2.1")]).toEqual([200, 200, 429])
    })
  )
})

describe("the service's end", () => {
  it.scopedLive("waits for requests that run", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const arrived = yield* Deferred.make<void>()
      const events: Array<string> = []
      const server = yield* Deferred.make<string>()
      const service = yield* Effect.fork(
        Effect.scoped(
          Effect.gen(function* () {
            const { handler } = yield* listen(Api, handlersOf(Effect.zipRight(Deferred.succeed(arrived, undefined), Deferred.await(gate))))
            const node = createServer(handler)
            yield* Effect.async<void>((resume) => {
              node.listen(0, () => resume(Effect.void))
            })
            const address = node.address()
            yield* Deferred.succeed(server, `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`)
            yield* Deferred.await(arrived)
          })
        ).pipe(Effect.ensuring(Effect.sync(() => events.push("disposed"))))
      )
      const url = yield* Deferred.await(server)
      const slow = yield* Effect.fork(Effect.tap(request(`${url}/api/v2/slow`), () => Effect.sync(() => events.push("answered"))))
      yield* Deferred.await(arrived)
      yield* Effect.yieldNow().pipe(Effect.repeatN(50))
      expect(events).toEqual([])
      yield* Deferred.succeed(gate, undefined)
      expect((yield* Fiber.join(slow)).status).toBe(200)
      yield* Fiber.join(service)
      expect(events).toHaveLength(2)
    })
  )
})
