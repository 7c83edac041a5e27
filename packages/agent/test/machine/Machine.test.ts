import { expect, it } from "@effect/vitest"
import type { DirectStream } from "@atelier/agent-protocol"
import { Deferred, Effect } from "effect"
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
    const asked: Array<Uint8Array> = [Buffer.from(`${handshake}\r\n\r\n`)]
    let isAsked: () => void = () => undefined
    const written: Array<Uint8Array> = []
    const finished = yield* Deferred.make<void>()
    const direct: DirectStream = {
      take: (ready) => {
        isAsked = ready
        return asked.shift()
      },
      put: (bytes, done, sent) => {
        written.push(bytes)
        if (bytes[0] === 0x88) {
          setImmediate(() => {
            asked.push(close)
            isAsked()
          })
        }
        done()
        sent?.()
      },
      finish: () => Deferred.unsafeDone(finished, Effect.void)
    }
    const unused = Effect.dieMessage("a socket uses the stream without effects")
    yield* Effect.forkScoped(
      machine.serve({
        direct,
        read: unused,
        write: () => unused,
        offer: () => unused,
        finish: unused,
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
