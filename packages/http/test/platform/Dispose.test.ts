import { Background } from "@atelier/core/platform"
import { Atelier } from "@atelier/http"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Effect, Layer, Logger } from "effect"
import { expect, it } from "vitest"
import { sqlite } from "../../../../test/store/databases.js"

it("the service ends although a request does not", async () => {
  const atelier = await Atelier.make({
    accessUrl: "http://127.0.0.1:3000",
    storage: sqlite,
    logLevel: "error",
    drainTimeout: "50 millis"
  })
  const server = createServer(atelier.handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1", () => {
    socket.write("POST /api/v2/users/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
  })
  socket.on("error", () => {})
  await once(server, "request")
  await atelier.dispose()
  expect(socket.destroyed).toBe(false)
  socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

it("the service ends although its store does not, and says so", async () => {
  const lines: Array<string> = []
  const atelier = await Atelier.make({
    accessUrl: "http://127.0.0.1:3000",
    storage: Layer.merge(sqlite, Layer.scopedDiscard(Effect.addFinalizer(() => Effect.never))),
    logger: Logger.make(({ message }) => void lines.push([message].flat().join(" "))),
    shutdownTimeout: "100 millis"
  })
  await Promise.all([atelier.dispose(), atelier.dispose()])
  expect(lines).toContain("the service did not end within 100ms: gave up waiting for the store and the engines")
})

it("the service waits once for all loops whose statements are not answered", async () => {
  const hanging = Effect.forEach(["one", "another", "a third"], (name) => Background.repeat(name, Effect.uninterruptible(Effect.never)))
  const atelier = await Atelier.make({
    accessUrl: "http://127.0.0.1:3000",
    storage: Layer.merge(sqlite, Layer.scopedDiscard(hanging)),
    logLevel: "none"
  })
  const begun = performance.now()
  await atelier.dispose()
  expect(performance.now() - begun).toBeLessThan(12_000)
})

it("a drain waits only if a client is connected or readiness was asked for", async () => {
  const atelier = await Atelier.make({ accessUrl: "http://127.0.0.1:3000", storage: sqlite, logLevel: "error" })
  await atelier.drain("1 hour")
  const server = createServer(atelier.handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: "close" } })
  expect(answer.status).toBe(503)
  const waits = await Promise.race([atelier.drain("1 hour").then(() => false), new Promise((resolve) => setImmediate(() => resolve(true)))])
  expect(waits).toBe(true)
  await atelier.dispose()
  await new Promise((resolve) => server.close(resolve))
})
