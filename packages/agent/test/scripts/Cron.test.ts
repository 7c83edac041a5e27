import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect, Either, TestClock } from "effect"
import * as Cron from "../../src/scripts/Cron.js"

const schedule = (pattern: string): Cron.Schedule => Either.getOrThrowWith(Cron.parse(pattern), (message) => new Error(message))

describe("a schedule", () => {
  it("has six fields, the first for seconds", () => {
    const noon = new Date(2026, 5, 1, 12).getTime()
    expect(schedule("*/5 * * * * *")(noon)).toBe(noon + 5000)
    expect(schedule("30 0 9 * * MON-FRI")(noon)).toBe(new Date(2026, 5, 2, 9, 0, 30).getTime())
    expect(schedule("0 9 * * *")(noon)).toBe(new Date(2026, 5, 2, 9).getTime())
  })

  it("that cannot be read says why", () => {
    expect(Either.isLeft(Cron.parse("0 0 25 * * *"))).toBe(true)
    expect(Either.isLeft(Cron.parse("tomorrow"))).toBe(true)
  })

  it.effect("runs at its times, and skips those during a run", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(new Date(2026, 5, 1, 12).getTime())
      const start = yield* Clock.currentTimeMillis
      const runs: Array<number> = []
      const run = Effect.gen(function* () {
        runs.push((yield* Clock.currentTimeMillis) - start)
        yield* Effect.sleep("90 seconds")
      })
      yield* Effect.fork(Cron.at(schedule("0 * * * * *"), run))
      yield* TestClock.adjust("5 minutes")
      expect(runs).toStrictEqual([60_000, 180_000, 300_000])
    })
  )
})
