import { describe, it } from "@effect/vitest"
import { Deferred, Effect, Stream } from "effect"
import { createServer, ServerResponse } from "node:http"
import { connect, Socket } from "node:net"
import { setImmediate } from "node:timers/promises"
import { expect } from "vitest"
import * as Upgrades from "../../src/server/connection/Upgrades.js"
import { NodeRequest } from "../../src/server/connection/NodeRequest.js"
import { upgrade } from "../../src/sockets/upgrade.js"
import { open } from "../../src/sockets/Connection.js"
import { listening } from "../TestServer.js"

const handshake = [
  "GET / HTTP/1.1",
  "Host: atelier.test",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "\r\n"
].join("\r\n")

describe("a WebSocket without listeners yet", () => {
  it.scopedLive("keeps what its client sends with the handshake", () =>
    Effect.gen(function* () {
      const received = yield* Deferred.make<string | Uint8Array>()
      const server = createServer().on("upgrade", async (source, socket, head) => {
        if (!(socket instanceof Socket)) return
        const response = new ServerResponse(source)
        Upgrades.offer(source, { socket, head, response, taken: () => () => undefined })
        const upgraded = upgrade(new NodeRequest(source, response), 1024, {}, {})
        if (upgraded === undefined) return
        for (let turn = 0; turn < 3; turn++) await setImmediate()
        const { messages } = open(upgraded.webSocket, {}, () => undefined, upgraded.socket)
        Effect.runFork(Stream.runForEach(messages, (message) => Deferred.succeed(received, message)))
      })
      const { port } = yield* listening(server)
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => connect({ port, host: "127.0.0.1" })),
        (client) => Effect.sync(() => client.destroy())
      )
      client.write(Buffer.concat([Buffer.from(handshake), Buffer.from([0x81, 0x85, 0, 0, 0, 0]), Buffer.from("early")]))
      expect(yield* Deferred.await(received)).toBe("early")
    })
  )
})

it.scopedLive("gives a host's connection that may keep what it sends bytes that never change", () =>
  Effect.gen(function* () {
    const kept: Array<Uint8Array> = []
    const isSent = yield* Deferred.make<void>()
    const server = createServer().on("upgrade", (source, socket, head) => {
      if (!(socket instanceof Socket)) return
      const { write } = socket
      socket.write = ((bytes: Uint8Array, ...rest: [never]) => {
        kept.push(bytes)
        return write.call(socket, bytes, ...rest)
      }) as typeof write
      const response = new ServerResponse(source)
      Upgrades.offer(source, { socket, head, response, taken: () => () => undefined })
      const upgraded = upgrade(new NodeRequest(source, response), 1024, {}, {})
      if (upgraded === undefined) return
      // Small ones are joined
      const bytes = Buffer.alloc(100_000, "a")
      open(upgraded.webSocket, { isStream: true }, () => undefined, upgraded.socket).write([bytes], () => {
        // Its memory is read into again
        bytes.fill("b")
        Deferred.unsafeDone(isSent, Effect.void)
      })
    })
    const { port } = yield* listening(server)
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => connect({ port, host: "127.0.0.1" })),
      (client) => Effect.sync(() => client.destroy())
    )
    client.write(handshake)
    yield* Deferred.await(isSent)
    expect(kept.at(-1)?.every((byte) => byte === 0x61)).toBe(true)
  })
)
