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
      const body = new LiveBody(({ end, offer, write }) => {
        write(part(1), () => undefined)
        offer(part(2))
        write(part(3), () => end(part(4)))
        return () => undefined
      })
      const parts: Array<number | undefined> = []
      yield* Stream.runForEach(streamOf(body), ([value]) => Effect.sync(() => parts.push(value)))
      expect(parts).toStrictEqual([1, 3, 4])
    })
  )

  it.effect("ends its body when the reader leaves", () =>
    Effect.gen(function* () {
      let hasEnded = false
      const body = new LiveBody(({ write }) => {
        write(part(1), () => undefined)
        return () => {
          hasEnded = true
        }
      })
      yield* Stream.runDrain(Stream.take(streamOf(body), 1))
      expect(hasEnded).toBe(true)
    })
  )
})
