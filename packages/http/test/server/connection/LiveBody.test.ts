import { HttpServerResponse } from "@effect/platform"
import { describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { expect } from "vitest"
import { LiveBody, withoutLiveBody } from "../../../src/server/connection/LiveBody.js"

const part = (value: number) => Uint8Array.of(value)

/** The parts that a fetch-style host reads. */
const streamOf = (body: LiveBody): Stream.Stream<Uint8Array, unknown> => {
  const response = withoutLiveBody(HttpServerResponse.raw(body))
  return response.body._tag === "Stream" ? response.body.stream : Stream.die("the body is no stream")
}

describe("a live body as a stream", () => {
  it.effect("has its last part, and no part that was offered to a slow reader", () =>
    Effect.gen(function* () {
      const isRead = yield* Effect.makeLatch(false)
      const body = new LiveBody(({ offer, write }) =>
        Effect.gen(function* () {
          yield* write(part(1))
          offer(part(2))
          yield* isRead.await
          offer(part(3))
          return part(4)
        })
      )
      const parts: Array<number | undefined> = []
      yield* Stream.runForEach(streamOf(body), ([value]) =>
        Effect.zipRight(
          Effect.sync(() => parts.push(value)),
          isRead.open
        )
      )
      expect(parts).toStrictEqual([1, 3, 4])
    })
  )

  it.effect("ends its body when the reader leaves", () =>
    Effect.gen(function* () {
      let hasEnded = false
      const body = new LiveBody(({ write }) =>
        Effect.ensuring(
          Effect.zipRight(write(part(1)), Effect.never),
          Effect.sync(() => {
            hasEnded = true
          })
        )
      )
      yield* Stream.runDrain(Stream.take(streamOf(body), 1))
      expect(hasEnded).toBe(true)
    })
  )
})
