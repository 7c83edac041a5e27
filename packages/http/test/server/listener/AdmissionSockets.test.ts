import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "@effect/platform"
import { it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import { connect, type Socket } from "node:net"
import { expect } from "vitest"
import * as Handlers from "../../../src/handlers/Handlers.js"
import { Query, text } from "../../../src/wire/input.js"
import { listen, listening } from "../../TestServer.js"

const things = HttpApiGroup.make("things")
  .add(
    HttpApiEndpoint.get("search", "/api/v2/search")
      .setUrlParams(Query({ q: text }))
      .addSuccess(Schema.Struct({ q: Schema.String }))
  )
  .add(HttpApiEndpoint.get("agent", "/api/v2/workspaceagents/me/rpc").addSuccess(Schema.Struct({ q: Schema.String })))

class Api extends HttpApi.make("admission").add(things) {}

const head = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n`

/** A server that tells which requests have begun, and connections to it whose requests wait for each other. */
const setUp = Effect.gen(function* () {
  const begun: Array<string> = []
  const begin = (q: string) => Effect.sync(() => void begun.push(q)).pipe(Effect.as({ q }))
  const { handler, upgrade } = yield* listen(
    Api,
    Handlers.group(things, (handlers) =>
      handlers.handle("search", ({ urlParams }) => begin(urlParams.q)).handle("agent", () => begin("agent"))
    )
  )
  const server = createServer(handler).on("upgrade", upgrade)
  const { port } = yield* listening(server)
  const open = (count: number) =>
    Effect.promise(async () => {
      let left = count
      // Node may accept one connection in each turn: requests would arrive as slowly as they are let in
      const accepted = new Promise<void>((resolve) => {
        server.on("connection", () => void (--left === 0 && resolve()))
      })
      const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"))
      await Promise.all([accepted, ...sockets.map((socket) => once(socket, "connect"))])
      return sockets
    })
  const closed = (sockets: ReadonlyArray<Socket>) =>
    Effect.promise(() => Promise.all(sockets.map((socket) => (socket.closed ? undefined : once(socket.resume(), "close")))))
  // The first request loads code
  const first = yield* open(1)
  for (const socket of first) socket.write(head("/api/v2/search?q=first"))
  yield* closed(first)
  return { begun, closed, open }
})

const waiting = 100

it.scopedLive("a client that ends its connection while it waits is not answered", () =>
  Effect.gen(function* () {
    const { begun, closed, open } = yield* setUp
    const before = yield* open(waiting)
    const [gone, after] = yield* open(2)
    for (const socket of before) socket.write(head("/api/v2/search?q=before"))
    gone?.end(head("/api/v2/search?q=gone"))
    after?.write(head("/api/v2/search?q=after"))
    yield* closed([...before, ...[gone, after].flatMap((socket) => socket ?? [])])
    expect(begun.filter((q) => q === "before")).toHaveLength(waiting)
    expect(begun).toContain("after")
    expect(begun).not.toContain("gone")
  })
)

it.scopedLive("a user does not wait until all agents have had their turn", () =>
  Effect.gen(function* () {
    const { begun, closed, open } = yield* setUp
    const agents = yield* open(waiting)
    const users = yield* open(1)
    for (const socket of agents) socket.write(head("/api/v2/workspaceagents/me/rpc"))
    for (const socket of users) socket.write(head("/api/v2/search?q=user"))
    yield* closed([...agents, ...users])
    expect(begun).toHaveLength(1 + waiting + 1)
    expect(begun.indexOf("user")).toBeLessThan(waiting / 2)
  })
)
