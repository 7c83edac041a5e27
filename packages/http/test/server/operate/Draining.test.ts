import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Schema, Scope, Stream } from "effect"
import { createServer, type IncomingMessage, ServerResponse } from "node:http"
import { connect } from "node:net"
import type { Duplex } from "node:stream"
import { expect } from "vitest"
import { WebSocket } from "ws"
import { Streaming } from "../../../src/contract/annotations.js"
import { refusals } from "../../../src/wire/errors.js"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { jsonSocket } from "../../../src/sockets/json.js"
import { anyRight, listen, listening, request } from "../../TestServer.js"

const ok = Schema.Struct({ ok: Schema.Boolean })

const things = HttpApiGroup.make("things")
  .add(HttpApiEndpoint.get("quick", "/api/v2/quick").addSuccess(ok))
  .add(HttpApiEndpoint.get("slow", "/api/v2/slow").addSuccess(ok))
  .add(HttpApiEndpoint.get("watch", "/api/v2/watch").annotate(Streaming, true))

class Api extends HttpApi.make("draining").add(things).addError(refusals("InternalError")) {}

it.scopedLive("a service that leaves answers with Connection: close, and ends sockets with 1012 only when it ends", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const arrived = yield* Deferred.make<void>()
    const answer = Effect.succeed({ ok: true })
    const handlers = Handlers.group(things, (handlers) =>
      handlers
        .handle("quick", () => answer)
        .handle("slow", () => Deferred.succeed(arrived, undefined).pipe(Effect.zipRight(Deferred.await(gate)), Effect.zipRight(answer)))
        .handle("watch", ({ request }) =>
          jsonSocket(request, Schema.String, { right: anyRight, values: Stream.concat(Stream.make("hello"), Stream.never) })
        )
    )
    const scope = yield* Scope.make()
    const { drain, handler, upgrade } = yield* Scope.extend(listen(Api, handlers), scope)
    const { url } = yield* listening(createServer(handler).on("upgrade", upgrade))
    const connectionOf = (path: string) => Effect.map(request(url + path), ({ headers, status }) => [status, headers.get("connection")])
    expect(yield* connectionOf("/api/v2/quick")).toEqual([200, "keep-alive"])

    const underWay = yield* Effect.fork(connectionOf("/api/v2/slow"))
    yield* Deferred.await(arrived)
    const socket = new WebSocket(`${url.replace("http", "ws")}/api/v2/watch`)
    const closed = yield* Effect.fork(
      Effect.async<number>((resume) => void socket.on("close", (code) => resume(Effect.succeed(code))).on("error", () => {}))
    )
    yield* Effect.async<void>((resume) => void socket.once("message", () => resume(Effect.void)))

    yield* Effect.promise(() => drain(0))
    expect(yield* connectionOf("/api/v2/quick")).toEqual([200, "close"])
    yield* Deferred.succeed(gate, undefined)
    expect(yield* Fiber.join(underWay)).toEqual([200, "close"])
    expect(socket.readyState).toBe(WebSocket.OPEN)

    yield* Scope.close(scope, Exit.void)
    expect(yield* Fiber.join(closed)).toBe(1012)
    expect(yield* connectionOf("/api/v2/quick")).toEqual([503, "close"])
  })
)

const prompt = Handlers.group(things, (handlers) =>
  handlers
    .handle("quick", () => Effect.succeed({ ok: true }))
    .handle("slow", () => Effect.succeed({ ok: true }))
    .handle("watch", ({ request }) => jsonSocket(request, Schema.String, { right: anyRight, values: Stream.never }))
)

const upgradeHead =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"

it.scopedLive.each([
  ["request", "GET /api/v2/quick HTTP/1.1\r\nHost: x\r\n\r\n"],
  ["request behind another one", "GET /api/v2/quick HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2)],
  ["upgrade", `GET /api/v2/watch HTTP/1.1\r\nHost: x\r\n${upgradeHead}\r\n`]
] as const)("the end does not wait for a connection that ended before the host passed its %s on", ([, bytes]) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { handler, upgrade } = yield* Scope.extend(listen(Api, prompt, { drainTimeout: "30 seconds" }), scope)
    const gone = yield* Deferred.make<void>()
    const held: Array<() => void> = []
    // As a host does that looks something up before
    const hold = (message: IncomingMessage, pass: () => void): void => {
      held.push(pass)
      message.socket.once("close", () => Deferred.unsafeDone(gone, Effect.void))
      if (held.length === bytes.split("HTTP/1.1").length - 1) message.socket.destroy()
    }
    const server = createServer((message, response: ServerResponse) => hold(message, () => handler(message, response))).on(
      "upgrade",
      (message: IncomingMessage, socket: Duplex, head: Buffer) =>
        hold(message, () =>
          upgrade(
            message,
            socket.on("error", () => {}),
            head
          )
        )
    )
    const { port } = yield* listening(server)
    const client = connect(port, "127.0.0.1", () => client.write(bytes)).on("error", () => {})
    yield* Deferred.await(gone)
    for (const pass of held) pass()
    expect(yield* Effect.option(Effect.timeout(Effect.disconnect(Scope.close(scope, Exit.void)), "15 seconds"))).toEqual(
      Option.some(undefined)
    )
  })
)
