import { expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Logger, Metric, Scope, TestClock } from "effect"
import { Background } from "../../../src/platform/index.js"

const lines: Array<string> = []
const logger = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ message }) => void lines.push([message].flat().map(String).join(" ")))
)

const failuresOf = (work: string) =>
  Effect.map(Metric.snapshot, (pairs) =>
    pairs.flatMap(({ metricKey, metricState }) =>
      metricKey.name === "background_failures_total" && metricKey.tags.some(({ value }) => value === work) ? [metricState] : []
    )
  )

it.scoped("a loop survives failed turns, logs the first and counts all", () => {
  lines.length = 0
  const outcomes = [Effect.fail("away"), Effect.die("broken"), Effect.interrupt, Effect.void, Effect.void]
  return Effect.gen(function* () {
    yield* Background.repeat(
      "sweeping",
      Effect.delay(
        Effect.suspend(() => outcomes.shift() ?? Effect.never),
        "1 second"
      )
    )
    yield* TestClock.adjust("20 seconds")
    expect(outcomes).toStrictEqual([])
    expect(lines).toStrictEqual(["background work failed and goes on", "background work succeeds again"])
    expect(yield* failuresOf("sweeping")).toMatchObject([{ count: 3 }])
  }).pipe(Effect.provide(logger))
})

it.effect("a loop pauses ever longer between failures, and ends with its scope", () =>
  Effect.gen(function* () {
    let turns = 0
    const scope = yield* Scope.make()
    const failing = Effect.suspend(() => Effect.fail(++turns))
    // A layer starts its loops where nothing is interrupted
    yield* Effect.uninterruptible(Scope.extend(Background.repeat("pausing", failing), scope))
    yield* TestClock.adjust("3100 millis")
    // 0, 100, 300, 700, 1500 and 3100 milliseconds
    expect(turns).toBe(6)
    yield* TestClock.adjust("10 seconds")
    expect(turns).toBe(11)
    yield* Scope.close(scope, Exit.void)
    yield* TestClock.adjust("10 seconds")
    expect(turns).toBe(11)
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)

it.scoped("of loops of one kind that fail together one writes a line a minute", () => {
  lines.length = 0
  return Effect.gen(function* () {
    const start = Background.repeating("pinging")
    for (let count = 0; count < 3; count++) yield* start(Effect.fail("no store"))
    yield* TestClock.adjust("30 seconds")
    expect(lines).toStrictEqual(["background work failed and goes on"])
    yield* TestClock.adjust("90 seconds")
    expect(lines).toHaveLength(2)
  }).pipe(Effect.provide(logger))
})

it.scoped("work that is done once and dies is logged", () => {
  lines.length = 0
  return Effect.gen(function* () {
    yield* Background.once("clearing", Effect.die("no disk"))
    yield* TestClock.adjust("1 second")
    expect(lines).toStrictEqual(["background work failed"])
  }).pipe(Effect.provide(logger))
})

it.effect("items that fail, die or do not end keep no others from their turn", () =>
  Effect.gen(function* () {
    const done: Array<string> = []
    const failed: Array<string> = []
    const work = (item: string): Effect.Effect<void, string> => {
      if (item === "fails") return Effect.fail("refused")
      if (item === "dies") return Effect.die("broken")
      return item === "hangs" ? Effect.never : Effect.sync(() => void done.push(item))
    }
    const all = yield* Effect.fork(
      Background.each("items", ["fails", "one", "dies", "hangs", "two"], work, {
        within: "1 minute",
        onFailure: (item) => Effect.sync(() => void failed.push(item))
      })
    )
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(all)
    expect([done, failed]).toStrictEqual([
      ["one", "two"],
      ["fails", "dies", "hangs"]
    ])
    expect(yield* failuresOf("items")).toMatchObject([{ count: 3 }])
  })
)
