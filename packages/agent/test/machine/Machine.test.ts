import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Option, Queue } from "effect"
import { make } from "../../src/machine/Machine.js"

const handshake = [
  "GET /broken HTTP/1.1",
  "Host: agent",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
].join("\r\n")

/** A client's answer to a close with 1011. */
const close = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xf3])

it.scopedLive("a WebSocket whose handler fails gets a close frame alone", () =>
  Effect.gen(function* () {
    const machine = yield* make([{ routes: [], sockets: [{ path: "/broken", open: () => Effect.succeed(() => Effect.die("broken")) }] }])
    const asked = yield* Queue.unbounded<Uint8Array>()
    yield* asked.offer(Buffer.from(`${handshake}\r\n\r\n`))
    const written: Array<Uint8Array> = []
    const finished = yield* Deferred.make<void>()
    yield* Effect.forkScoped(
      machine.serve({
        read: Effect.map(asked.take, Option.some),
        write: (bytes) => {
          written.push(bytes)
          return bytes[0] === 0x88 ? Effect.asVoid(asked.offer(close)) : Effect.void
        },
        offer: () => Effect.succeed(false),
        finish: Effect.asVoid(Deferred.succeed(finished, undefined)),
        reset: Effect.void,
        whenBroken: Effect.never
      })
    )
    yield* Deferred.await(finished)
    const [head = "", ...frames] = Buffer.concat(written).toString("latin1").split("\r\n\r\n")
    expect(head.startsWith("HTTP/1.1 101 ")).toBe(true)
    expect(frames).toStrictEqual(["\x88\x02\x03\xf3"])
  })
)
