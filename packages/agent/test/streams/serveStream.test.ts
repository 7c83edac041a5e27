import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { connected } from "../../../agent-protocol/test/Connected.js"
import { readAll } from "../../../../test/http/streams.js"
import { streamSocket } from "../../src/streams/serveStream.js"

it.scopedLive("a socket carries thousands of small pieces that are written together", () =>
  Effect.gen(function* () {
    const { client, server } = yield* connected()
    const near = yield* client.open
    const far = yield* server.accept
    const sent = Buffer.alloc(20_000, "atelier")
    const socket = yield* streamSocket(near)
    socket.cork()
    for (const byte of sent) socket.write(Uint8Array.of(byte))
    socket.end()
    socket.uncork()
    expect((yield* readAll(far)).equals(sent)).toBe(true)
  })
)
