import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Logger, LogLevel, Scope, TestClock } from "effect"
import { makeBatch } from "../../../src/agents/reports/Batch.js"
import { StoreUnavailable } from "../../../src/platform/index.js"

const silent = Effect.provide(Logger.remove(Logger.defaultLogger))

/** A batch whose writes `write` may refuse, and what was written. */
const aBatch = (write: (items: ReadonlyArray<string>) => Effect.Effect<void>, capacity = 10, threshold = capacity) =>
  Effect.gen(function* () {
    const written: Array<ReadonlyArray<string>> = []
    let writes = 0
    const batch = yield* makeBatch<string>({
      name: "reports",
      key: (item) => item,
      every: "1 second",
      threshold,
      capacity,
      write: (items) =>
        Effect.suspend(() => {
          writes += 1
          return Effect.zipRight(
            write(items),
            Effect.sync(() => void written.push(items))
          )
        })
    })
    return { add: batch.add, written, writes: () => writes }
  })

it.scoped("an item that cannot be written keeps no others from it", () =>
  Effect.gen(function* () {
    const batch = yield* aBatch((items) => (items.includes("poison") ? Effect.die("refused") : Effect.void))
    for (const item of ["one", "poison", "two"]) yield* batch.add(item)
    yield* TestClock.adjust("1 second")
    expect(batch.written).toStrictEqual([["one"], ["two"]])
    yield* batch.add("three")
    yield* TestClock.adjust("1 second")
    expect(batch.written.at(-1)).toStrictEqual(["three"])
  }).pipe(silent)
)

it.scoped("few writes find one item of many, and a cause that is no item's own is not tried with each", () =>
  Effect.gen(function* () {
    let refused = (items: ReadonlyArray<string>) => items.includes("item 700")
    const batch = yield* aBatch((items) => (refused(items) ? Effect.die("refused") : Effect.void), 1_001)
    const fill = Effect.forEach(Array.from({ length: 1_000 }), (_, index) => batch.add(`item ${index}`))
    yield* fill
    yield* TestClock.adjust("1 second")
    expect(batch.written.flat()).toHaveLength(999)
    const writes = batch.writes()
    expect(writes).toBeLessThan(25)
    refused = () => true
    yield* fill
    yield* TestClock.adjust("1 second")
    expect(batch.writes() - writes).toBeLessThan(120)
  }).pipe(silent)
)

it.effect("the last write of a store that does not answer is left after its time", () =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<void>()
    const scope = yield* Scope.make()
    const batch = yield* Scope.extend(
      aBatch(() => Effect.uninterruptible(Deferred.await(answer))),
      scope
    )
    yield* batch.add("one")
    const closing = yield* Effect.fork(Effect.uninterruptible(Scope.close(scope, Exit.void)))
    yield* Effect.replicateEffect(TestClock.adjust("1 second"), 20)
    const hasEnded = closing.unsafePoll() !== null
    yield* Deferred.succeed(answer, undefined)
    expect(hasEnded).toBe(true)
  }).pipe(silent)
)

it.scoped("a store that is away is not asked for each item, and gets all once it is back", () =>
  Effect.gen(function* () {
    let isAway = true
    const away = Effect.die(new StoreUnavailable({ reason: "away", cause: "no answer" }))
    const batch = yield* aBatch(() => (isAway ? away : Effect.void))
    for (const item of ["one", "two", "three"]) yield* batch.add(item)
    yield* TestClock.adjust("1 second")
    expect(batch.writes()).toBe(1)
    yield* batch.add("two")
    isAway = false
    yield* TestClock.adjust("1 second")
    expect(batch.written.flat().toSorted()).toStrictEqual(["one", "three", "two"])
  }).pipe(silent)
)

it.scoped("a store that goes away between two halves gets both once it is back", () =>
  Effect.gen(function* () {
    const answers = [Effect.die("refused"), Effect.die(new StoreUnavailable({ reason: "away", cause: "no answer" }))]
    const batch = yield* aBatch(() => answers.shift() ?? Effect.void)
    for (const item of ["one", "two", "three", "four"]) yield* batch.add(item)
    yield* TestClock.adjust("1 second")
    expect(batch.written).toStrictEqual([])
    yield* TestClock.adjust("1 second")
    expect(batch.written).toStrictEqual([["one", "two", "three", "four"]])
  }).pipe(silent)
)

it.scoped("items beyond those that may wait are not kept for a store that is away", () =>
  Effect.gen(function* () {
    let isAway = true
    const away = Effect.die(new StoreUnavailable({ reason: "away", cause: "no answer" }))
    const batch: { add?: (item: string) => Effect.Effect<boolean> } = {}
    // Another item arrives while the statement runs
    const arrives = Effect.suspend(() => batch.add?.("later") ?? Effect.void)
    const { add, written } = yield* aBatch(() => (isAway ? Effect.zipRight(arrives, away) : Effect.void), 2)
    batch.add = add
    for (const item of ["one", "two"]) yield* add(item)
    yield* TestClock.adjust("1 second")
    isAway = false
    yield* TestClock.adjust("1 second")
    expect(written).toStrictEqual([["later", "one"]])
  }).pipe(silent)
)

it.scoped("a store that is away is asked at intervals, however many items wait", () =>
  Effect.gen(function* () {
    const away = Effect.die(new StoreUnavailable({ reason: "away", cause: "no answer" }))
    const batch = yield* aBatch(() => away, 100, 5)
    for (let item = 0; item < 50; item++) {
      yield* batch.add(`item ${item}`)
      yield* TestClock.adjust("1 millis")
    }
    expect(batch.writes()).toBe(1)
    yield* TestClock.adjust("1 second")
    expect(batch.writes()).toBe(2)
  }).pipe(silent)
)

it.scoped("items that are dropped while the store is away are one line of the log a minute", () =>
  Effect.gen(function* () {
    const lines: Array<unknown> = []
    const logger = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ logLevel, message }) => void (logLevel === LogLevel.Warning && lines.push(message)))
    )
    const away = Effect.die(new StoreUnavailable({ reason: "away", cause: "no answer" }))
    const taken = yield* Effect.gen(function* () {
      const batch = yield* aBatch(() => away, 2)
      const added: Array<boolean> = []
      for (let second = 0; second < 70; second++) {
        added.push(yield* batch.add(`item ${second}`))
        yield* TestClock.adjust("1 second")
      }
      return added.filter((isTaken) => isTaken).length
    }).pipe(Effect.provide(logger))
    expect([taken, lines]).toStrictEqual([
      2,
      [
        ["reports: too many wait to be written, and are dropped", { dropped: 1 }],
        ["reports: too many wait to be written, and are dropped", { dropped: 60 }]
      ]
    ])
  })
)
