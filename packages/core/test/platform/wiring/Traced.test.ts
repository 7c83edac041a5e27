import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { Traced } from "../../../src/platform/index.js"

const spanName = Effect.map(Effect.option(Effect.currentSpan), (span) => (span._tag === "Some" ? span.value.name : "none"))

const ofGenerator = Traced.fn("Doors.open")(function* (door: string, times: number) {
  return `${door} ${times} ${yield* spanName}`
})
const ofFunction = Traced.fn("Doors.close")((door: string) => Effect.map(spanName, (name) => `${door} ${name}`))

class House extends Context.Tag("House")<House, string>() {}
const withPipeables = Traced.fn("Doors.paint")(
  function* (door: string) {
    return `${yield* House} ${door} ${yield* spanName}`
  },
  Effect.provideService(House, "red"),
  (effect, door) => Effect.map(effect, (text) => `${text} of ${door}`)
)

const calls = Effect.all([ofGenerator("front", 2), ofFunction("back"), withPipeables("side")])

describe("Traced.fn", () => {
  it.effect("makes a span of each call", () =>
    Effect.map(calls, (answers) =>
      assert.deepStrictEqual(answers, ["front 2 Doors.open", "back Doors.close", "red side Doors.paint of side"])
    )
  )

  it.effect("makes no span where no tracer is enabled", () =>
    Effect.map(Effect.withTracerEnabled(calls, false), (answers) =>
      assert.deepStrictEqual(answers, ["front 2 none", "back none", "red side none of side"])
    )
  )

  it.effect("runs its body anew each time its effect runs", () => {
    let runs = 0
    const counted = Traced.fn("Doors.count")(function* () {
      runs++
      yield* Effect.void
    })
    const effect = counted()
    return Effect.map(Effect.zipRight(effect, effect), () => assert.strictEqual(runs, 2))
  })
})
