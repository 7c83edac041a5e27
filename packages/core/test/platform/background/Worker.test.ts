import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Logger, Option, TestClock } from "effect"
import { Background, Locks, Worker } from "../../../src/platform/index.js"

/** No other process works. */
const alone = Layer.mock(Locks, { tryWith: (_name, effect) => Effect.map(effect, Option.some) })

it.scoped("a worker's failures are logged once, until a run succeeds again", () => {
  const lines: Array<string> = []
  const logger = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ message }) => void lines.push([message].flat().map(String).join(" ")))
  )
  const outcomes = ["fails", "fails", "succeeds", "succeeds", "fails"]
  return Effect.gen(function* () {
    yield* Worker.start({
      name: "sweeper",
      every: "1 minute",
      run: Effect.suspend(() => (outcomes.shift() === "fails" ? Effect.die("no store") : Effect.void))
    })
    yield* TestClock.adjust("4 minutes")
    expect(outcomes).toStrictEqual([])
    expect(lines).toStrictEqual(["a worker's run failed", "a worker's run succeeded again", "a worker's run failed"])
  }).pipe(Effect.provide(Layer.merge(alone, logger)))
})

it.scoped("a worker goes on although the logger of its host throws", () => {
  const logger = Logger.replace(
    Logger.defaultLogger,
    Logger.make(() => {
      throw new Error("no log")
    })
  )
  const outcomes = ["fails", "succeeds", "fails", "succeeds"]
  return Effect.gen(function* () {
    yield* Worker.start({
      name: "sweeper",
      every: "1 minute",
      run: Effect.suspend(() => (outcomes.shift() === "fails" ? Effect.die("no store") : Effect.void))
    })
    yield* TestClock.adjust("4 minutes")
    expect(outcomes).toStrictEqual([])
  }).pipe(Effect.provide(Layer.merge(alone, logger)))
})

it.scoped("a worker's first run waits for its beginning", () =>
  Effect.gen(function* () {
    const begins = yield* Deferred.make<void>()
    const runs: Array<string> = []
    const worker = { name: "sweeper", every: "1 minute", run: Effect.sync(() => void runs.push("run")) } as const
    yield* Effect.provideService(Worker.start(worker), Worker.Beginning, Deferred.await(begins))
    yield* TestClock.adjust("4 minutes")
    expect(runs).toStrictEqual([])
    yield* Deferred.succeed(begins, undefined)
    yield* TestClock.adjust("1 minute")
    expect(runs).toStrictEqual(["run", "run"])
  }).pipe(Effect.provide(alone))
)

it.scoped("a worker runs when a run is wanted, after the one that is under way", () =>
  Effect.gen(function* () {
    const wanted = yield* Effect.makeLatch(false)
    const mayEnd = yield* Effect.makeLatch(true)
    const begun: Array<number> = []
    let running = 0
    const run = Effect.gen(function* () {
      begun.push(++running)
      yield* mayEnd.await
      running -= 1
    })
    yield* Worker.start({ name: "sweeper", every: "1 hour", run, wanted: Effect.zipRight(wanted.await, wanted.close) })
    yield* TestClock.adjust("1 minute")
    expect(begun).toStrictEqual([1])
    yield* mayEnd.close
    yield* wanted.open
    yield* TestClock.adjust("1 minute")
    expect(begun).toStrictEqual([1, 1])
    yield* wanted.open
    yield* TestClock.adjust("1 hour")
    expect(begun).toStrictEqual([1, 1])
    yield* mayEnd.open
    yield* TestClock.adjust("1 minute")
    expect(begun).toStrictEqual([1, 1, 1, 1])
  }).pipe(Effect.provide(alone))
)

it.scoped("a worker leaves the run of a period out while a wanted one is near", () =>
  Effect.gen(function* () {
    const wanted = yield* Effect.makeLatch(false)
    let isNear = false
    let runs = 0
    const run = Effect.sync(() => void (runs += 1))
    const soon = Effect.zipRight(wanted.await, wanted.close)
    yield* Worker.start({ name: "patient sweeper", every: "1 minute", run, wanted: soon, isWanted: () => isNear })
    yield* TestClock.adjust("30 seconds")
    expect(runs).toBe(1)
    isNear = true
    yield* TestClock.adjust("1 minute")
    expect(runs).toBe(1)
    isNear = false
    yield* wanted.open
    yield* TestClock.adjust("1 second")
    expect(runs).toBe(2)
    yield* TestClock.adjust("1 minute")
    expect(runs).toBe(3)
  }).pipe(Effect.provide(alone))
)

it.scoped("a worker's failed run counts until one succeeds, also if it was wanted", () =>
  Effect.gen(function* () {
    const wanted = yield* Effect.makeLatch(false)
    const run = Effect.die("no store")
    yield* Worker.start({ name: "failing sweeper", every: "1 hour", run, wanted: Effect.zipRight(wanted.await, wanted.close) })
    yield* TestClock.adjust("1 second")
    yield* wanted.open
    yield* TestClock.adjust("1 second")
    const health = (yield* Background.health).find(({ name }) => name === "failing sweeper")
    expect(health).toMatchObject({ loops: 1, failing: 1, consecutive_failures: 2, last_success_at: null })
  }).pipe(Effect.provide(Layer.merge(alone, Logger.remove(Logger.defaultLogger))))
)

it.scoped("a worker runs as soon as its process runs workers, and no more when another process does", () => {
  const runs: Array<string> = []
  let outcome: Effect.Effect<void> = Effect.void
  let isHere = false
  return Effect.gen(function* () {
    const here = yield* Effect.makeLatch(false)
    const wanted = yield* Effect.makeLatch(true)
    const run = Effect.suspend(() => {
      runs.push("run")
      return outcome
    })
    yield* Effect.provideService(
      Worker.start({ name: "elsewhere", every: "1 minute", run, wanted: Effect.zipRight(wanted.await, wanted.close) }),
      Worker.RunsHere,
      { isHere: () => isHere, here: here.await }
    )
    const known = Effect.map(Background.health, (all) => all.filter(({ name }) => name === "elsewhere"))
    yield* TestClock.adjust("4 minutes")
    expect(runs).toStrictEqual([])
    expect(yield* known).toStrictEqual([])
    isHere = true
    yield* here.open
    yield* TestClock.adjust("1 second")
    // The run that was due, and the one that was wanted
    expect(runs).toStrictEqual(["run", "run"])
    expect(yield* known).toMatchObject([{ loops: 1, failing: 0 }])
    outcome = Effect.die("no store")
    yield* TestClock.adjust("1 minute")
    expect(runs.length).toBe(3)
    expect(yield* known).toMatchObject([{ loops: 1, failing: 1, consecutive_failures: 1 }])
    isHere = false
    yield* here.close
    yield* TestClock.adjust("4 minutes")
    expect(runs.length).toBe(3)
    // The process that has the turn tells how its runs end
    expect(yield* known).toMatchObject([{ loops: 0, failing: 0, consecutive_failures: 0 }])
    outcome = Effect.void
    isHere = true
    yield* here.open
    yield* TestClock.adjust("1 second")
    expect(yield* known).toMatchObject([{ loops: 1, failing: 0, consecutive_failures: 0 }])
  }).pipe(Effect.provide(alone))
})
