import { expect, it } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { untilNotFull } from "../../../src/platform/background/Batches.js"

/**
 * Deletes `rows` rows in batches that take as long as `cost` says. `during` is what happens within each. Answers the sizes of the batches, their pauses and the number of
 * rows deleted.
 */
const run = (rows: number, cost: (limit: number) => number, during: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function* () {
    let now = 0
    let left = rows
    const sizes: Array<number> = []
    const pauses: Array<number> = []
    const clock = {
      ...Clock.make(),
      currentTimeNanos: Effect.sync(() => BigInt(Math.round(now * 1e6))),
      sleep: (duration: Duration.Duration) =>
        Effect.sync(() => {
          if (!Duration.equals(duration, Duration.zero)) pauses.push(Duration.toMillis(duration))
        })
    }
    const batch = (limit: number) =>
      Effect.map(during, () => {
        sizes.push(limit)
        now += cost(limit)
        const done = Math.min(limit, left)
        left -= done
        return done
      })
    const count = yield* Effect.withClock(untilNotFull(1_000, batch), clock)
    return { count, pauses, sizes }
  })

it.effect("batches grow while they take no time", () =>
  Effect.gen(function* () {
    const { count, sizes } = yield* run(5_000, () => 0)
    expect(count).toBe(5_000)
    expect(sizes).toStrictEqual([50, 100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000])
  })
)

it.effect("batches are small where rows take long, and others have many times as long between them", () =>
  Effect.gen(function* () {
    const { count, pauses, sizes } = yield* run(5_000, (limit) => limit * 0.02)
    expect(count).toBe(5_000)
    expect(Math.max(...sizes)).toBe(100)
    expect(pauses).toStrictEqual(sizes.slice(0, -1).map((size) => size * 0.02 * 12))
  })
)

it.effect("batches of a store beside the thread leave as long as they took", () =>
  Effect.gen(function* () {
    const { pauses, sizes } = yield* run(1_000, (limit) => limit * 0.02, Effect.yieldNow())
    expect(pauses).toStrictEqual(sizes.slice(0, -1).map((size) => size * 0.02))
  })
)

it.effect("batches are large where finding the first row is what takes long", () =>
  Effect.gen(function* () {
    const { sizes } = yield* run(20_000, (limit) => 500 + limit * 0.01)
    expect(sizes.length).toBeLessThan(20_000 / 800)
  })
)

it.effect("a store that does not answer for minutes is not left alone as long again", () =>
  Effect.gen(function* () {
    const { pauses } = yield* run(100, () => 600_000)
    expect(pauses).toStrictEqual([1_000])
  })
)

it.effect("a batch that is not full is the last one", () =>
  Effect.gen(function* () {
    const { count, sizes } = yield* run(49, () => 0)
    expect({ count, sizes }).toStrictEqual({ count: 49, sizes: [50] })
  })
)
