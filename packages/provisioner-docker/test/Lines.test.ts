import { expect, it } from "@effect/vitest"
import { Chunk, Effect, Exit, Fiber, Stream } from "effect"
import { Readable } from "node:stream"
import { bytesOf } from "../src/Lines.js"

it.effect("a reader is interrupted while the daemon says nothing", () =>
  Effect.gen(function* () {
    const silent = new Readable({ read: () => undefined })
    const reading = yield* Effect.fork(Stream.runDrain(bytesOf(silent)))
    yield* Effect.promise(() => new Promise(setImmediate))
    expect(Exit.isInterrupted(yield* Fiber.interrupt(reading))).toBe(true)
    expect(silent.destroyed).toBe(true)
  })
)

it.effect("a reader gets all bytes, and a lost connection is a failure", () =>
  Effect.gen(function* () {
    const all = yield* Stream.runCollect(bytesOf(Readable.from([Buffer.from("a"), Buffer.from("b")])))
    expect(Chunk.toReadonlyArray(all).map((bytes) => new TextDecoder().decode(bytes))).toStrictEqual(["a", "b"])
    const lost = new Readable({ read: () => void lost.destroy(new Error("gone")) })
    expect((yield* Effect.flip(Stream.runDrain(bytesOf(lost)))).message).toContain("gone")
  })
)
