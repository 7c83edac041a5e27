import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpServerResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Schema, Scope, Stream } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Atelier } from "@atelier/http"
import { expect } from "vitest"
import type { Duplex } from "node:stream"
import { WebSocket, WebSocketServer } from "ws"
import { namesOf } from "../../../src/wire/Brand.js"
import { Streaming } from "../../../src/contract/annotations.js"
import { listOfOne, NullableUuid, ReferenceStatus } from "../../../src/wire/dialect.js"
import { refusals } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { Body, text } from "../../../src/wire/input.js"
import { CurrentRequest } from "../../../src/server/request/CurrentRequest.js"
import { jsonSocket } from "../../../src/sockets/json.js"
import { anyRight, listen, listening, memberToken, type Options, request, serve } from "../../TestServer.js"
import { sqlite } from "../../../../../test/store/databases.js"

const Thing = Schema.Struct({ name: Schema.String, parent_id: NullableUuid })

const things = HttpApiGroup.make("things")
  .add(HttpApiEndpoint.get("one", "/api/v2/thing").addSuccess(Thing))
  .add(HttpApiEndpoint.get("wrapped", "/api/v2/wrapped").addSuccess(listOfOne(Thing)))
  .add(
    HttpApiEndpoint.post("echo", "/api/v2/echo")
      .setPayload(Body({ name: text }))
      .addSuccess(Schema.Struct({ name: Schema.String }))
  )
  .add(
    HttpApiEndpoint.post("logSource", "/api/v2/workspaceagents/me/log-source")
      .annotate(ReferenceStatus, 201)
      .addSuccess(Schema.Struct({ ok: Schema.Boolean }))
  )
  .add(HttpApiEndpoint.get("slow", "/api/v2/slow").addSuccess(Schema.Struct({ path: Schema.String })))
  .add(HttpApiEndpoint.get("health", "/healthz").addSuccess(Schema.Struct({ ok: Schema.Boolean })))
  .add(HttpApiEndpoint.get("watch", "/api/v2/watch").annotate(Streaming, true))
  .add(HttpApiEndpoint.get("endless", "/api/v2/endless"))
  .add(HttpApiEndpoint.head("endlessHead", "/api/v2/head"))

class Api extends HttpApi.make("mounting")
  .add(things)
  .addError(refusals("Invalid", "TooLarge", "RequestTimeout", "TooManyRequests", "InternalError")) {}

/** A body that goes on until it is canceled. */
const endless = (ended: Deferred.Deferred<void> | undefined) =>
  Effect.gen(function* () {
    if (ended !== undefined) yield* Effect.addFinalizer(() => Deferred.succeed(ended, undefined))
    return HttpServerResponse.stream(Stream.concat(Stream.make(new Uint8Array([120])), Stream.never))
  })

const handlersOf = (gate: Effect.Effect<void> = Effect.void, { ended }: { readonly ended?: Deferred.Deferred<void> } = {}) =>
  Handlers.group(things, (handlers) =>
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
      .handle("endless", () => endless(ended))
      .handle("endlessHead", () => endless(ended))
      .handle("watch", ({ request }) => jsonSocket(request, Schema.String, { right: anyRight, values: Stream.make("hello") }))
  )

const firstMessage = (url: string) =>
  Effect.async<string>((resume) => {
    const socket = new WebSocket(url)
    socket.on("message", (data) => resume(Effect.succeed(String(data))))
    socket.on("error", (error) => resume(Effect.die(error)))
    return Effect.sync(() => socket.terminate())
  })

/** A WebSocket of the program that embeds the interface, which leaves other paths to others. */
const chat = (incoming: IncomingMessage, socket: Duplex, head: Buffer): void => {
  if (incoming.url !== "/chat") return
  const server = new WebSocketServer({ noServer: true })
  server.handleUpgrade(incoming, socket, head, (opened) => {
    opened.send("the host's")
    opened.close()
  })
}

/** The first messages at the mounts, at a path that both know, and at the program's own. */
const messagesOfAll = (url: string) =>
  Effect.forEach(["/dev/api/v2/watch", "/team/ops/api/v2/watch", "/api/v2/watch", "/chat"], (path) =>
    firstMessage(url.replace("http", "ws") + path)
  )

describe("mounted in a Node server", () => {
  it.scopedLive("a URL is understood with the mount's prefix and without it", () =>
    Effect.gen(function* () {
      const { url } = yield* serve(Api, handlersOf(), { basePath: "/dev" })
      for (const path of [
        "/dev/api/v2/thing",
        "/api/v2/thing",
        "/dev/healthz",
        "/healthz",
        "//dev//api//v2/thing",
        "/d%65v/api/v2/thing"
      ]) {
        expect([path, (yield* request(url + path)).status]).toEqual([path, 200])
      }
      for (const path of ["/device/api/v2/thing", "/dev/dev/api/v2/thing", "/devapi/v2/thing", "/dev", "/"]) {
        expect([path, (yield* request(url + path)).status]).toEqual([path, 404])
      }
      for (const path of ["/dev/api/v2/watch", "/api/v2/watch"]) {
        expect(yield* firstMessage(url.replace("http", "ws") + path)).toBe('"hello"\n')
      }
    })
  )

  it.scopedLive("a prefix may be the beginning of the interface's own paths", () =>
    Effect.gen(function* () {
      for (const basePath of ["/api", "/api/v2", "/healthz"]) {
        const { url } = yield* serve(Api, handlersOf(), { basePath })
        for (const path of [`${basePath}/api/v2/thing`, "/api/v2/thing", `${basePath}/healthz`, "/healthz"]) {
          expect([basePath, path, (yield* request(url + path)).status]).toEqual([basePath, path, 200])
        }
      }
    })
  )

  it.scopedLive.each([
    { prefix: "removed", passedOn: (url: string) => url.slice("/dev".length) },
    { prefix: "left", passedOn: (url: string) => url }
  ])("paths that are not the interface's go to a host that has $prefix the prefix", ({ passedOn }) =>
    Effect.gen(function* () {
      const { handler } = yield* listen(Api, handlersOf(), { basePath: "/dev" })
      const host = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
        const next = (): void => {
          outgoing.writeHead(200, { "content-type": "text/plain" }).end(`the host's ${incoming.url}`)
        }
        if (!incoming.url?.startsWith("/dev/")) return next()
        incoming.url = passedOn(incoming.url)
        handler(incoming, outgoing, next)
      }
      const { url } = yield* listening(createServer(host))
      expect((yield* request(`${url}/dev/api/v2/thing`)).status).toBe(200)
      expect((yield* request(`${url}/dev/api/v2/nothing`)).status).toBe(404)
      expect((yield* request(`${url}/dev/healthz`, { method: "POST" })).status).toBe(405)
      expect((yield* request(`${url}/dev/index.html`)).text).toBe(`the host's ${passedOn("/dev/index.html")}`)
      expect((yield* request(`${url}/elsewhere`)).text).toBe("the host's /elsewhere")
    })
  )

  it.scopedLive("an upgrade that is not the interface's goes to the program that embeds it", () =>
    Effect.gen(function* () {
      const first = yield* listen(Api, handlersOf(), { basePath: "/dev" })
      const second = yield* listen(Api, handlersOf(), { basePath: "/team/ops" })
      const server = createServer().on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
        first.upgrade(incoming, socket, head, () => second.upgrade(incoming, socket, head, () => chat(incoming, socket, head)))
      )
      const { url } = yield* listening(server)
      expect(yield* messagesOfAll(url)).toEqual(['"hello"\n', '"hello"\n', '"hello"\n', "the host's"])
    })
  )

  it.scopedLive("upgrades of several services and of the program itself share a server", () =>
    Effect.gen(function* () {
      const first = yield* listen(Api, handlersOf(), { basePath: "/dev" })
      const second = yield* listen(Api, handlersOf(), { basePath: "/team/ops" })
      const server = createServer().on("upgrade", first.upgrade).on("upgrade", second.upgrade).on("upgrade", chat)
      const { url } = yield* listening(server)
      expect(yield* messagesOfAll(url)).toEqual(['"hello"\n', '"hello"\n', '"hello"\n', "the host's"])
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
      const standard = yield* serve(Api, handlersOf())
      const reference = yield* serve(Api, handlersOf(), { names: namesOf("Coder"), wire: "reference" })
      const [first, second] = yield* Effect.all([request(`${standard.url}/api/v2/thing`), request(`${reference.url}/api/v2/thing`)])
      expect(first.json()).toEqual({ name: "a", parent_id: { uuid: "00000000-0000-0000-0000-000000000000", valid: false } })
      expect(second.json()).toEqual({ name: "a", parent_id: null })
      expect(first.headers.has("x-service-request-id")).toBe(true)
      expect(second.headers.has("x-coder-request-id")).toBe(true)
      expect((yield* request(`${standard.url}/api/v2/wrapped`)).json()).toMatchObject([{ name: "a" }])
      expect((yield* request(`${reference.url}/api/v2/wrapped`)).json()).toMatchObject({ name: "a" })
      const post = (url: string) => request(`${url}/api/v2/workspaceagents/me/log-source`, { method: "POST" })
      expect([(yield* post(standard.url)).status, (yield* post(reference.url)).status]).toEqual([200, 201])
    })
  )
})

describe("the path of a mount", () => {
  const storage = sqlite

  it.each(["workspaces", "workspaces/", "http://atelier.test/workspaces", "/workspaces?a=b", "/workspaces#a"])(
    "%s is refused with the option's name",
    async (basePath) => {
      const made = Atelier.make({ accessUrl: "http://atelier.test", basePath, storage })
      await expect(made).rejects.toThrow(`basePath "${basePath}": must be a path that begins with a slash`)
    }
  )

  it.each([
    ["http://atelier.test/d%65v%20x/", undefined, "/dev%20x/api/v2/buildinfo"],
    ["http://atelier.test/dev", "/inner/", "/inner/api/v2/buildinfo"]
  ])("of %s with basePath %s holds %s", async (accessUrl, basePath, path) => {
    const { dispose, fetch } = await Atelier.make({ accessUrl, storage, logLevel: "none", ...(basePath === undefined ? {} : { basePath }) })
    try {
      expect((await fetch(new Request(`http://atelier.test${path}`))).status).toBe(200)
    } finally {
      await dispose()
    }
  })
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
      const { url } = yield* serve(Api, handlersOf())
      const found = yield* ask("/api/v2/thing")
      expect([found.status, found.headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"])
      expect(found.headers.get("x-service-build-version")).toBe("v1.2.3")
      expect(found.headers.getSetCookie()).toHaveLength(1)
      const echoed = yield* ask("/api/v2/echo", { method: "POST", body: '{"name":"x"}' })
      expect(yield* Effect.promise(() => echoed.json())).toEqual({ name: "x" })
      expect((yield* ask("/api/v2/thing", { method: "DELETE" })).status).toBe(405)
      const bodiless = yield* ask("/api/v2/echo", { method: "POST" })
      const { json: onSocket } = yield* request(`${url}/api/v2/echo`, { method: "POST" })
      expect(yield* Effect.promise(() => bodiless.json())).toEqual(onSocket())
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

describe("a fetch-style host's request", () => {
  it.scopedLive("is answered whichever way its URL is spelled", () =>
    Effect.gen(function* () {
      const { fetch } = yield* listen(Api, handlersOf(), { basePath: "/dev" })
      for (const path of ["/dev/api/v2/thing", "/api/v2/thing", "//api/v2/thing", "/dev/api/v2/%74hing", "/dev/api/v2/thing?a=;%23"]) {
        const { status } = yield* Effect.promise(() => fetch(new Request(`http://host.test${path}`)))
        expect([path, status]).toEqual([path, 200])
      }
      const missing = yield* Effect.promise(() => fetch(new Request("http://host.test//dev/api/v2/none")))
      expect(missing.status).toBe(404)
    })
  )

  it.scopedLive("with method HEAD leaves no stream open", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const { fetch } = yield* listen(Api, handlersOf(Effect.void, { ended }))
      const { body, status } = yield* Effect.promise(() => fetch(new Request("http://host.test/api/v2/head", { method: "HEAD" })))
      expect([status, body]).toEqual([200, null])
      yield* Deferred.await(ended)
    })
  )

  it.scopedLive("ends with its body, for which the service's end waits", () =>
    Effect.gen(function* () {
      const ended = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const { fetch } = yield* Scope.extend(listen(Api, handlersOf(Effect.void, { ended })), scope)
      const response = yield* Effect.promise(() => fetch(new Request("http://host.test//api/v2/endless")))
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow().pipe(Effect.repeatN(50))
      expect(yield* Fiber.poll(closing)).toEqual(Option.none())
      yield* Effect.promise(async () => response.body?.cancel())
      yield* Deferred.await(ended)
      yield* Fiber.join(closing)
    })
  )

  it.scopedLive("ends when its client goes while it is worked on", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const { fetch } = yield* listen(Api, handlersOf(Effect.zipRight(Deferred.succeed(arrived, undefined), Effect.never)))
      const client = new AbortController()
      const answer = fetch(new Request("http://host.test/api/v2/slow", { signal: client.signal }))
      yield* Deferred.await(arrived)
      client.abort()
      expect((yield* Effect.promise(() => answer)).status).toBe(499)
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
