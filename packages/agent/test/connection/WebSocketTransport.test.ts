import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { WebSocket, WebSocketServer } from "ws"
import { isHidden, overSocket } from "../../src/connection/WebSocketTransport.js"

describe("frames to the server", () => {
  it.each([
    ["wss://dev.example.com/rpc", true],
    ["ws://127.0.0.1:3000/rpc", true],
    ["ws://localhost:3000/rpc", true],
    ["ws://dev.localhost:3000/rpc", true],
    ["ws://[::1]:3000/rpc", true],
    ["ws://dev.example.com/rpc", false],
    ["ws://10.0.0.1/rpc", false],
    ["ws://127.example.com/rpc", false],
    ["ws://localhost.example.com/rpc", false]
  ])("of %s are seen by no proxy: %s", (url, expected) => expect(isHidden(new URL(url))).toBe(expected))

  it.scopedLive("leave others their turn while the system takes all of them", () =>
    Effect.gen(function* () {
      const server = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const made = new WebSocketServer({ host: "127.0.0.1", port: 0 })
          await once(made, "listening")
          return made
        }),
        (made) => Effect.sync(() => made.close())
      )
      const address = server.address()
      const port = typeof address === "object" ? address?.port : undefined
      const socket = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const made = new WebSocket(`ws://127.0.0.1:${port}`)
          await once(made, "open")
          return made
        }),
        (made) => Effect.sync(() => made.terminate())
      )
      const traffic = { sentBytes: 0, sentMessages: 0, receivedBytes: 0, receivedMessages: 0 }
      const { send } = yield* overSocket(socket, traffic)
      let most = 0
      let before = 0
      const look = (): void => {
        most = Math.max(most, traffic.sentBytes - before)
        before = traffic.sentBytes
        next = setImmediate(look)
      }
      let next = setImmediate(look)
      yield* Effect.replicateEffect(send(new Uint8Array(64 * 1024)), 64, { discard: true })
      clearImmediate(next)
      expect(Math.max(most, traffic.sentBytes - before)).toBeLessThanOrEqual(512 * 1024)
    })
  )
})
