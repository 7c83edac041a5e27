import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Queue } from "effect"
import { once } from "node:events"
import { WebSocket, WebSocketServer } from "ws"
import { connect, emptyTraffic, isHidden, overSocket } from "../../src/connection/WebSocketTransport.js"

/** A server of the library, and its end of the agent's connection. */
const connected = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const made = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false })
      await once(made, "listening")
      return made
    }),
    (made) => Effect.sync(() => made.close())
  )
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  const accepted = new Promise<WebSocket>((resolve) => server.once("connection", resolve))
  const traffic = emptyTraffic()
  const transport = yield* connect({ url: new URL(`ws://127.0.0.1:${port}`), headers: {}, traffic })
  return { peer: yield* Effect.promise(() => accepted), traffic, transport }
})

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

describe("bytes past the WebSocket", () => {
  it.scopedLive("reach a server of the library as whole messages", () =>
    Effect.gen(function* () {
      const { peer, traffic, transport } = yield* connected
      const heard = yield* Queue.unbounded<string>()
      peer.on("message", (data: Buffer, isBinary) => Queue.unsafeOffer(heard, `${isBinary} ${data.length} ${data.at(0)} ${data.at(-1)}`))
      const sent = Effect.async<unknown>((resume) => {
        const pieces = [Buffer.alloc(3, 1), Buffer.alloc(100_000, 2), Buffer.alloc(5, 3), Buffer.alloc(70_000, 4)]
        transport.write?.(pieces, (error) => resume(Effect.succeed(error)))
      })
      expect(yield* sent).toBeUndefined()
      expect(yield* Queue.takeN(heard, 2).pipe(Effect.map((all) => [...all]))).toStrictEqual(["true 100008 1 3", "true 70000 4 4"])
      expect(traffic).toMatchObject({ sentBytes: 170_008, sentMessages: 2 })
      yield* transport.close(Exit.void)
      const late = Effect.async<string>((resume) =>
        transport.write?.([Buffer.from("x")], (error) => resume(Effect.succeed(`${error?.message}`)))
      )
      expect(yield* late).toBe("The connection broke: the WebSocket is closed")
    })
  )

  it.scopedLive("come from a server of the library in whole and in fragmented messages, between its pings", () =>
    Effect.gen(function* () {
      const { peer, traffic, transport } = yield* connected
      const pieces: Array<Uint8Array> = []
      const receiving = yield* Effect.fork(transport.receive((bytes) => void pieces.push(bytes)))
      const pong = once(peer, "pong")
      peer.send(Buffer.alloc(200_000, 1))
      peer.ping("here")
      peer.send(Buffer.alloc(2, 2), { fin: false })
      peer.send(Buffer.alloc(2, 3), { fin: true })
      peer.send(Buffer.alloc(1, 4))
      expect(String((yield* Effect.promise(() => pong))[0])).toBe("here")
      peer.close(1000)
      yield* Fiber.join(receiving)
      const expected = Buffer.concat([Buffer.alloc(200_000, 1), Buffer.from([2, 2, 3, 3, 4])])
      expect(Buffer.concat(pieces).equals(expected)).toBe(true)
      expect(traffic).toMatchObject({ receivedBytes: 200_005, receivedMessages: 3 })
    })
  )

  it.scopedLive("end with a text, which is answered with 1003", () =>
    Effect.gen(function* () {
      const { peer, transport } = yield* connected
      yield* Effect.fork(Effect.ignore(transport.receive(() => undefined)))
      const closed = once(peer, "close")
      peer.send("text")
      expect((yield* Effect.promise(() => closed))[0]).toBe(1003)
    })
  )
})
