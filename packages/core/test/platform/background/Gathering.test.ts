import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { makeGathering } from "../../../src/platform/background/Gathering.js"

/** Work on numbers that answers ten times each. It refuses groups with a negative one, and waits for `before`. */
const someWork = (before: Effect.Effect<void> = Effect.void) => {
  const groups: Array<ReadonlyArray<number>> = []
  const work = (items: ReadonlyArray<number>) =>
    Effect.zipRight(
      before,
      Effect.suspend(() => {
        groups.push(items)
        return items.some((item) => item < 0) ? Effect.die(`refused ${items.join()}`) : Effect.succeed((item: number) => item * 10)
      })
    )
  return { groups, gathering: makeGathering({ name: "test", key: String, most: 3, work }) }
}

/** Work that waits until it may end, and tells when its first group has begun. */
const gatedWork = Effect.gen(function* () {
  const [begun, mayEnd] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const { gathering, groups } = someWork(Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(mayEnd)))
  return { begun: Deferred.await(begun), end: Deferred.succeed(mayEnd, undefined), groups, submit: yield* gathering }
})

it.scopedLive("callers of one turn share a group, of which each has its own answer", () =>
  Effect.gen(function* () {
    const { gathering, groups } = someWork()
    const submit = yield* gathering
    const answers = yield* Effect.forEach([1, 2, 3, 4], submit, { concurrency: "unbounded" })
    expect(answers).toStrictEqual([10, 20, 30, 40])
    expect(groups).toStrictEqual([[1, 2, 3], [4]])
  })
)

it.scopedLive("an item that cannot be worked on fails its own caller alone", () =>
  Effect.gen(function* () {
    const { gathering, groups } = someWork()
    const submit = yield* gathering
    const exits = yield* Effect.forEach([1, -2, 3], (item) => Effect.exit(submit(item)), { concurrency: "unbounded" })
    expect(exits).toStrictEqual([Exit.succeed(10), Exit.die("refused -2"), Exit.succeed(30)])
    expect(groups[0]).toStrictEqual([1, -2, 3])
    expect(groups.slice(1).flat().toSorted()).toStrictEqual([-2, 1, 3])
  })
)

it.scopedLive("equal items remain together after the work on their group has failed", () =>
  Effect.gen(function* () {
    const { gathering, groups } = someWork()
    const submit = yield* gathering
    const exits = yield* Effect.forEach([-1, 2, -1], (item) => Effect.exit(submit(item)), { concurrency: "unbounded" })
    expect(exits).toStrictEqual([Exit.die("refused -1,-1"), Exit.succeed(20), Exit.die("refused -1,-1")])
    expect(groups).toHaveLength(3)
  })
)

it.scopedLive("callers that come while a group is worked on share the next one", () =>
  Effect.gen(function* () {
    const { begun, end, groups, submit } = yield* gatedWork
    const first = yield* Effect.fork(submit(1))
    yield* begun
    const others = yield* Effect.fork(Effect.forEach([2, 3], submit, { concurrency: "unbounded" }))
    yield* Effect.yieldNow()
    yield* end
    expect([yield* Fiber.join(first), yield* Fiber.join(others)]).toStrictEqual([10, [20, 30]])
    expect(groups).toStrictEqual([[1], [2, 3]])
  })
)

it.scopedLive("a group that is never answered keeps later callers from nothing", () =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const submit = yield* makeGathering({
      name: "test",
      key: String,
      most: 3,
      work: ([first]) =>
        first === 1
          ? Effect.zipRight(Deferred.succeed(begun, undefined), Effect.interruptible(Effect.never))
          : Effect.succeed((item: number) => item)
    })
    const waiting = yield* Effect.fork(submit(1))
    yield* Deferred.await(begun)
    expect(yield* submit(2)).toBe(2)
    expect(waiting.unsafePoll()).toBeNull()
  })
)

it.scopedLive("an item is worked on after its caller was interrupted", () =>
  Effect.gen(function* () {
    const { begun, end, groups, submit } = yield* gatedWork
    const gone = yield* Effect.fork(submit(1))
    const other = yield* Effect.fork(submit(2))
    yield* begun
    yield* Fiber.interrupt(gone)
    yield* end
    expect(yield* Fiber.join(other)).toBe(20)
    expect(groups).toStrictEqual([[1, 2]])
  })
)

it.live("callers are answered at the end of the scope and after it", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { gathering, groups } = someWork()
    const submit = yield* Scope.extend(gathering, scope)
    const waiting = yield* Effect.fork(Effect.exit(submit(1)))
    yield* Effect.yieldNow()
    yield* Scope.close(scope, Exit.void)
    expect(Exit.isInterrupted(yield* Fiber.join(waiting))).toBe(true)
    expect(yield* submit(2)).toBe(20)
    expect(groups).toStrictEqual([[2]])
  })
)

it.scopedLive("an item waits for an earlier one of its key whose group fails", () =>
  Effect.gen(function* () {
    const [begun, mayFail] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const stored: Array<string> = []
    const submit = yield* makeGathering({
      name: "test",
      key: (item: string) => item.slice(0, 1),
      most: 3,
      work: (items: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          if (items.includes("b1") && items.length > 1) {
            yield* Deferred.succeed(begun, undefined)
            yield* Deferred.await(mayFail)
            return yield* Effect.die("contended")
          }
          stored.push(...items)
          return (item: string) => item
        })
    })
    const first = yield* Effect.fork(Effect.forEach(["a1", "b1"], submit, { concurrency: "unbounded" }))
    yield* begun
    const second = yield* Effect.fork(submit("a2"))
    yield* Effect.timeoutOption(Fiber.await(second), "500 millis")
    yield* Deferred.succeed(mayFail, undefined)
    yield* Fiber.join(first)
    yield* Fiber.join(second)
    expect(stored.filter((item) => item.startsWith("a"))).toStrictEqual(["a1", "a2"])
  })
)
