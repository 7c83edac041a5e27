import { expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, TestClock } from "effect"
import { type JobTurns, makeJobTurns } from "../../../src/provisioning/queue/JobTurns.js"

/** A store with jobs, which counts the questions of daemons. */
const aStore = (jobs: Array<string>) => {
  const store = {
    jobs,
    questions: 0,
    take: Effect.suspend(() => {
      store.questions += 1
      return Effect.as(Effect.yieldNow(), Option.fromNullable(jobs.shift()))
    })
  }
  return store
}

/** A store that has nothing when it is asked first, and says so late; then it has a job. */
const aSlowStore = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const answer = yield* Deferred.make<void>()
  let questions = 0
  const take = Effect.suspend(() => {
    questions += 1
    return questions === 1
      ? Effect.zipRight(Deferred.succeed(asked, undefined), Effect.as(Deferred.await(answer), Option.none<string>()))
      : Effect.succeedSome("a")
  })
  return { answer, asked, take }
})

const settled = Effect.repeatN(Effect.yieldNow(), 50)

const post = (turns: JobTurns, { jobs }: { readonly jobs: Array<string> }, ...posted: ReadonlyArray<string>) =>
  Effect.sync(() => {
    jobs.push(...posted)
    for (const _ of posted) turns.posted()
  })

it.effect("50 daemons ask the store once for each posted job", () =>
  Effect.gen(function* () {
    const turns = makeJobTurns()
    const store = aStore(["a", "b"])
    const taken: Array<string> = []
    const daemon = Effect.forever(Effect.map(turns.next(store.take), (job) => taken.push(job)))
    yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.fork(daemon))
    yield* settled
    // The last one says that there is no more
    expect([taken, store.questions]).toStrictEqual([["a", "b"], 3])
    yield* post(turns, store, "c", "d", "e")
    yield* settled
    expect([taken.toSorted(), store.questions]).toStrictEqual([["a", "b", "c", "d", "e"], 6])
  })
)

it.effect("a job that another process took costs one question", () =>
  Effect.gen(function* () {
    const turns = makeJobTurns()
    const store = aStore([])
    const waiting = yield* Effect.fork(turns.next(store.take))
    yield* settled
    turns.posted()
    yield* settled
    expect(store.questions).toBe(2)
    yield* post(turns, store, "a")
    expect([yield* Fiber.join(waiting), store.questions]).toStrictEqual(["a", 3])
  })
)

it.effect("a job that is posted while the store has none is asked for", () =>
  Effect.gen(function* () {
    const turns = makeJobTurns()
    const { answer, asked, take } = yield* aSlowStore
    const waiting = yield* Effect.fork(turns.next(take))
    yield* Deferred.await(asked)
    turns.posted()
    yield* Deferred.succeed(answer, undefined)
    expect(yield* Fiber.join(waiting)).toBe("a")
  })
)

it.effect("a question that fails leaves the job to another daemon", () =>
  Effect.gen(function* () {
    const turns = makeJobTurns()
    const store = aStore([])
    const first = yield* Effect.fork(turns.next(store.take))
    yield* settled
    const refused = yield* Effect.fork(Effect.flip(turns.next(Effect.fail("refused"))))
    yield* Fiber.interrupt(first)
    yield* post(turns, store, "a")
    expect(yield* Fiber.join(refused)).toBe("refused")
    expect(yield* turns.next(store.take)).toBe("a")
  })
)

for (const [name, before] of [
  ["first", []],
  ["posted", ["none yet"]]
] as const) {
  it.effect(`a ${name} job of a daemon that goes is returned`, () =>
    Effect.gen(function* () {
      const turns = makeJobTurns()
      if (before.length > 0) {
        const first = yield* Effect.fork(turns.next(Effect.succeedNone))
        yield* settled
        yield* Fiber.interrupt(first)
        turns.posted()
      }
      const asked = yield* Deferred.make<void>()
      const answer = yield* Deferred.make<string>()
      const take = Effect.zipRight(Deferred.succeed(asked, undefined), Effect.asSome(Deferred.await(answer)))
      const taken: Array<string> = []
      const going = yield* Effect.fork(Effect.uninterruptible(Effect.map(turns.next(take), (job) => taken.push(job))))
      yield* Deferred.await(asked)
      yield* Fiber.interruptFork(going)
      yield* settled
      yield* Deferred.succeed(answer, "a")
      yield* Fiber.await(going)
      expect(taken).toStrictEqual(["a"])
      // Nor does it keep others from asking
      turns.posted()
      expect(yield* turns.next(Effect.succeedSome("b"))).toBe("b")
    })
  )
}

it.effect("a daemon that waits can be interrupted", () =>
  Effect.gen(function* () {
    const turns = makeJobTurns()
    const store = aStore([])
    const waiting = yield* Effect.forEach(["for a job", "for its turn"], () => Effect.fork(Effect.uninterruptible(turns.next(store.take))))
    yield* settled
    yield* Fiber.interruptAll(waiting)
    yield* post(turns, store, "a")
    expect(yield* turns.next(store.take)).toBe("a")
  })
)

it.effect("lost postings are made up for within 30 seconds", () =>
  Effect.gen(function* () {
    const turns = makeJobTurns()
    const store = aStore([])
    const first = yield* Effect.fork(turns.next(store.take))
    yield* settled
    store.jobs.push("a", "b", "c")
    turns.lost()
    expect(yield* Fiber.join(first)).toBe("a")
    expect([yield* turns.next(store.take), yield* turns.next(store.take)]).toStrictEqual(["b", "c"])
    const last = yield* Effect.fork(turns.next(store.take))
    yield* settled
    store.jobs.push("d")
    yield* TestClock.adjust("29 seconds")
    expect(yield* Fiber.poll(last)).toStrictEqual(Option.none())
    yield* TestClock.adjust("1 seconds")
    expect(yield* Fiber.join(last)).toBe("d")
  })
)

it.effect("one question uses up all postings whose jobs other processes took", () =>
  Effect.gen(function* () {
    const turns = makeJobTurns()
    const store = aStore([])
    yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.fork(turns.next(store.take)))
    yield* settled
    expect(store.questions).toBe(1)
    for (let posting = 0; posting < 5_000; posting++) turns.posted()
    yield* Effect.repeatN(settled, 10)
    // As many as ask at once
    expect(store.questions).toBeLessThanOrEqual(5)
    const first = store.questions
    yield* post(turns, store, "a", "b")
    yield* settled
    expect([store.jobs, store.questions - first]).toStrictEqual([[], 2])
  })
)

it.effect("a job that is posted during a question that finds nothing is asked for", () =>
  Effect.gen(function* () {
    const turns = makeJobTurns()
    const store = aStore([])
    const first = yield* Effect.fork(turns.next(store.take))
    yield* settled
    yield* Fiber.interrupt(first)
    const { answer, asked, take } = yield* aSlowStore
    const waiting = yield* Effect.fork(turns.next(take))
    for (let posting = 0; posting < 5; posting++) turns.posted()
    yield* Deferred.await(asked)
    turns.posted()
    yield* Deferred.succeed(answer, undefined)
    expect(yield* Fiber.join(waiting)).toBe("a")
  })
)
