import { expect, it } from "@effect/vitest"
import { Data, Deferred, Effect, Exit, Fiber, Layer, Logger, Metric, Scope, TestClock } from "effect"
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

it.live("items that work without a pause begin in turns of the event loop of their own", () =>
  Effect.gen(function* () {
    let turn = 0
    const count = (): NodeJS.Immediate => setImmediate(() => ((turn += 1), (counting = count())))
    let counting = count()
    const begun: Array<number> = []
    yield* Background.each("turns", [1, 2, 3, 4], () => Effect.sync(() => begun.push(turn)), { concurrency: 3 })
    clearImmediate(counting)
    expect(new Set(begun).size).toBe(4)
  })
)

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

const healthOf = (work: string) => Effect.map(Background.health, (works) => works.find(({ name }) => name === work))

it.effect("the state of work says when its turns succeeded and failed, and by which error", () =>
  Effect.gen(function* () {
    class Unheard extends Data.TaggedError("Unheard") {}
    const outcomes = [Effect.void, new Unheard(), Effect.die(new TypeError("a secret")), Effect.void]
    const scope = yield* Scope.make()
    const turn = Effect.delay(
      Effect.suspend(() => outcomes.shift() ?? Effect.never),
      "1 second"
    )
    yield* Scope.extend(Background.repeat("observed", turn), scope)
    yield* TestClock.adjust("1 second")
    const succeeded = { failing: 0, last_success_at: "1970-01-01T00:00:01.000Z", last_failure: null, consecutive_failures: 0 }
    expect(yield* healthOf("observed")).toMatchObject({ loops: 1, ...succeeded })
    yield* TestClock.adjust("2200 millis")
    const failed = { failing: 1, last_failure_at: "1970-01-01T00:00:03.100Z", last_failure: "TypeError", consecutive_failures: 2 }
    expect(yield* healthOf("observed")).toMatchObject({ loops: 1, ...failed, last_success_at: succeeded.last_success_at })
    yield* TestClock.adjust("2 seconds")
    expect(yield* healthOf("observed")).toMatchObject({ failing: 0, last_failure: "TypeError", consecutive_failures: 0 })
    yield* Background.each("observed", [1, 2], (item) => (item === 1 ? Effect.fail("refused") : Effect.void))
    yield* Scope.close(scope, Exit.void)
    expect(yield* healthOf("observed")).toMatchObject({ loops: 0, failed_items: 1, last_failure: "Failure" })
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)

/** Closes a scope, and returns how many seconds that took, in steps of `step`. */
const secondsOfClosing = (scope: Scope.CloseableScope, step = 1) =>
  Effect.gen(function* () {
    // As `Effect.scoped` does
    const closing = yield* Effect.fork(Effect.uninterruptible(Scope.close(scope, Exit.void)))
    for (let seconds = 0; seconds < 100; seconds += step) {
      yield* TestClock.adjust(0)
      if (closing.unsafePoll() !== null) return seconds
      yield* TestClock.adjust(step * 1000)
    }
    return "for ever"
  })

it.effect("the end of a scope waits five seconds for a turn whose statement is not answered", () => {
  lines.length = 0
  return Effect.gen(function* () {
    const scope = yield* Scope.make()
    const answer = yield* Deferred.make<void>()
    let statements = 0
    const statement = Effect.uninterruptible(Effect.tap(Deferred.await(answer), () => void (statements += 1)))
    yield* Scope.extend(Background.repeat("writing", statement), scope)
    yield* TestClock.adjust("1 second")
    const seconds = yield* secondsOfClosing(scope)
    yield* Deferred.succeed(answer, undefined)
    yield* TestClock.adjust("1 minute")
    expect([seconds, statements, lines]).toStrictEqual([5, 1, ["background work did not end in time, and is left to itself"]])
  }).pipe(Effect.provide(logger))
})

it.effect("the end of a scope waits for work that holds what it has to give back", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const work = Effect.uninterruptible(Effect.sleep("20 seconds"))
    yield* Scope.extend(
      Background.repeating("holding")(work, () => true),
      scope
    )
    expect(yield* secondsOfClosing(scope)).toBe(20)
  })
)

it.effect("loops that are not answered and last writes wait together at the end of a program", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const answer = yield* Deferred.make<void>()
    const written: Array<string> = []
    const late = Effect.delay(
      Effect.sync(() => void written.push("late")),
      "6 seconds"
    )
    const shared = { isEnding: false, spent: 0 }
    const program = Effect.gen(function* () {
      yield* Effect.addFinalizer(() => Background.lastly(Effect.sync(() => void written.push("at once"))))
      yield* Effect.addFinalizer(() => Background.lastly(Deferred.await(answer)))
      yield* Effect.addFinalizer(() => Background.leftAfter("15 seconds")(late))
      for (let count = 0; count < 3; count++) yield* Background.repeat("writing", Effect.uninterruptible(Deferred.await(answer)))
    })
    yield* Layer.buildWithScope(Layer.provide(Layer.scopedDiscard(program), Background.sharing(shared)), scope)
    yield* TestClock.adjust("1 second")
    shared.isEnding = true
    // Five for the first loop, a quarter for each other one, six for the late write, and a quarter for the write without an answer
    expect([yield* secondsOfClosing(scope, 0.25), written]).toStrictEqual([11.75, ["late", "at once"]])
    yield* Deferred.succeed(answer, undefined)
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)

it.effect("the last write of a scope has five seconds", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const answer = yield* Deferred.make<void>()
    yield* Scope.addFinalizer(scope, Background.lastly(Deferred.await(answer)))
    yield* Scope.addFinalizer(scope, Background.lastly(Effect.die("away")))
    const seconds = yield* secondsOfClosing(scope)
    yield* Deferred.succeed(answer, undefined)
    expect(seconds).toBe(5)
  })
)

it.scoped("a scope forgets work that has ended", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const order: Array<string> = []
    const short = yield* Background.forkIn("short", scope, Effect.void)
    yield* Fiber.await(short)
    const long = yield* Background.forkIn(
      "long",
      scope,
      Effect.onInterrupt(Effect.never, () => Effect.sync(() => order.push("interrupted")))
    )
    yield* TestClock.adjust(0)
    yield* Scope.close(scope, Exit.void)
    expect([order, Exit.isInterrupted(yield* Fiber.await(long))]).toStrictEqual([["interrupted"], true])
  })
)

it.effect("an item whose statement is not answered in time keeps no others from their turn", () =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<void>()
    const done: Array<number> = []
    const work = (item: number) => (item === 1 ? Effect.uninterruptible(Deferred.await(answer)) : Effect.sync(() => void done.push(item)))
    const all = yield* Effect.fork(Background.each("items", [1, 2], work, { within: "1 second" }))
    yield* TestClock.adjust("2 seconds")
    const inTime = [...done]
    yield* Deferred.succeed(answer, undefined)
    yield* Fiber.join(all)
    expect(inTime).toStrictEqual([2])
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)
