import { describe, it } from "@effect/vitest"
import { Feed } from "@atelier/core/platform"
import { Cause, Deferred, Effect, Exit, Fiber, Option, Stream } from "effect"
import { expect } from "vitest"

/** A run that always may have values. */
const atOnce = { begin: () => Effect.void, wait: () => true, rest: () => undefined, leave: () => undefined }

/** A feed of the numbers from 1, which ends or fails after the last one. */
const numbers = (last: number, error?: string) =>
  Feed.make(() => {
    let count = 0
    const pull = () => {
      if (count < last) return Effect.succeedSome([++count])
      return error === undefined ? Effect.succeedNone : Effect.fail(error)
    }
    return { ...atOnce, pull }
  })

const asFeed = <A, E>(stream: Stream.Stream<A, E>) => {
  const taken: Array<A> = []
  return Effect.map(Effect.exit(Feed.runForEach(stream, (value) => Effect.sync(() => void taken.push(value)))), (exit) => ({ taken, exit }))
}

const asStream = <A, E>(stream: Stream.Stream<A, E>) => {
  const taken: Array<A> = []
  return Effect.map(Effect.exit(Stream.runForEach(stream, (value) => Effect.sync(() => void taken.push(value)))), (exit) => ({
    taken,
    exit
  }))
}

const changes = {
  "as it is": (stream: Stream.Stream<number, string>) => ({ stream, taken: [1, 2, 3] }),
  map: (stream: Stream.Stream<number, string>) => ({ stream: Feed.map(stream, (value) => value * 2), taken: [2, 4, 6] }),
  mapEffect: (stream: Stream.Stream<number, string>) => ({
    stream: Feed.mapEffect(stream, (value) => (value === 3 ? Effect.fail("three") : Effect.succeed(-value))),
    taken: [-1, -2],
    error: "three"
  }),
  startWith: (stream: Stream.Stream<number, string>) => ({ stream: Feed.startWith(stream, 0), taken: [0, 1, 2, 3] }),
  endWith: (stream: Stream.Stream<number, string>) => ({
    stream: Feed.endWith(stream, (cause) => Effect.succeed(Option.match(Cause.failureOption(cause), { onNone: () => -1, onSome: Number }))),
    taken: [1, 2, 3, 42],
    error: null
  })
} as const

describe("a feed", () => {
  it.effect.each(Object.entries(changes))("has the same values as a stream: %s", ([, change]) =>
    Effect.gen(function* () {
      for (const error of [undefined, "42"]) {
        const feed = change(numbers(3, error))
        const other = change(error === undefined ? Stream.make(1, 2, 3) : Stream.concat(Stream.make(1, 2, 3), Stream.fail(error)))
        const results = [yield* asFeed(feed.stream), yield* asStream(feed.stream), yield* asFeed(other.stream)]
        const own = "error" in feed ? feed.error : undefined
        const fails = own === null ? undefined : (own ?? error)
        const taken = error === undefined && own === null ? [1, 2, 3] : feed.taken
        const exit = fails === undefined ? Exit.void : Exit.fail(fails)
        for (const result of results) expect(result).toStrictEqual({ taken, exit })
      }
    })
  )

  it.effect("begins anew with each run", () =>
    Effect.gen(function* () {
      const feed = Feed.startWith(numbers(1), 0)
      for (let run = 0; run < 2; run++) expect((yield* asFeed(feed)).taken).toStrictEqual([0, 1])
    })
  )

  it.effect("waits until a value is taken", () =>
    Effect.gen(function* () {
      let pulls = 0
      const gate = yield* Effect.makeLatch(false)
      const pull = () => Effect.succeed(++pulls > 2 ? Option.none() : Option.some([pulls]))
      const feed = Feed.make(() => ({ ...atOnce, pull }))
      const run = yield* Effect.fork(Feed.runForEach(feed, () => gate.await))
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
      expect(pulls).toBe(1)
      yield* gate.open
      yield* Fiber.join(run)
      expect(pulls).toBe(3)
    })
  )

  it.effect("leaves a run that ends, fails or is interrupted, also while it begins", () =>
    Effect.gen(function* () {
      const ends: ReadonlyArray<{ readonly begin?: Effect.Effect<void>; readonly end: Feed.Pull<number, string> }> = [
        { end: Effect.succeedNone },
        { end: Effect.fail("failed") },
        { end: Effect.never },
        { begin: Effect.never, end: Effect.never }
      ]
      for (const asked of ["a feed", "a stream"]) {
        for (const { begin = Effect.void, end } of ends) {
          const begun = yield* Deferred.make<void>()
          const left = yield* Deferred.make<void>()
          const feed = Feed.make(() => ({
            ...atOnce,
            begin: () => Effect.zipRight(Deferred.succeed(begun, undefined), begin),
            pull: () => end,
            leave: () => Deferred.unsafeDone(left, Effect.void)
          }))
          const run = yield* Effect.fork(
            asked === "a feed" ? Feed.runForEach(feed, () => Effect.void) : Stream.runForEach(feed, () => Effect.void)
          )
          yield* Deferred.await(begun)
          for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
          yield* Fiber.interrupt(run)
          yield* Deferred.await(left)
        }
      }
    })
  )
})

describe("an attended feed", () => {
  /** A feed that has a value each time that the test gives one. */
  const aSource = Effect.map(Effect.runtime(), (runtime) => {
    const state = { waiting: 0, isOpen: false, give: (_values: ReadonlyArray<number> | undefined): void => {} }
    let given: Array<ReadonlyArray<number> | undefined> = []
    let waiter: Feed.Waiter | undefined
    state.give = (values) => {
      given.push(values)
      const woken = waiter
      waiter = undefined
      woken?.wake()
    }
    const feed = Feed.make(() => ({
      begin: () =>
        Effect.sync(() => {
          state.isOpen = true
        }),
      wait: (next: Feed.Waiter) => {
        if (given.length > 0) return true
        state.waiting++
        waiter = next
        return false
      },
      rest: () => {
        if (waiter !== undefined) state.waiting--
        waiter = undefined
      },
      pull: () => {
        const [first, ...rest] = given
        given = rest
        return Effect.succeed(first === undefined ? Option.none() : Option.some(first))
      },
      leave: () => {
        state.isOpen = false
      }
    }))
    return { feed, runtime, state }
  })

  const turns = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow(), { discard: true })

  it.effect("hands values on in their order, and ends with the feed", () =>
    Effect.gen(function* () {
      const { feed, runtime, state } = yield* aSource
      const taken: Array<number> = []
      const over = yield* Deferred.make<void>()
      Feed.attend(
        Feed.startWith(feed, 0),
        runtime,
        (value) => Effect.sync(() => void taken.push(value)),
        (exit) => Deferred.unsafeDone(over, exit)
      )
      yield* turns
      state.give([1, 2])
      state.give([3])
      yield* turns
      expect([taken, state.isOpen]).toStrictEqual([[0, 1, 2, 3], true])
      state.give(undefined)
      yield* Deferred.await(over)
      yield* turns
      expect(state.isOpen).toBe(false)
    })
  )

  it.effect("ends with what its reader fails with, and tells it", () =>
    Effect.gen(function* () {
      const { feed, runtime, state } = yield* aSource
      const over = yield* Deferred.make<void, string>()
      Feed.attend(
        feed,
        runtime,
        () => Effect.fail("gone"),
        (exit) => Deferred.unsafeDone(over, exit)
      )
      state.give([1])
      expect(yield* Effect.flip(Deferred.await(over))).toBe("gone")
      yield* turns
      expect(state.isOpen).toBe(false)
    })
  )

  it.effect("waits no longer once it is stopped, and tells nothing", () =>
    Effect.gen(function* () {
      const { feed, runtime, state } = yield* aSource
      const told: Array<unknown> = []
      const stop = Feed.attend(
        feed,
        runtime,
        (value) => Effect.sync(() => void told.push(value)),
        (exit) => void told.push(exit)
      )
      yield* turns
      expect(state).toMatchObject({ waiting: 1, isOpen: true })
      stop()
      yield* turns
      expect(state).toMatchObject({ waiting: 0, isOpen: false })
      expect(told).toStrictEqual([])
    })
  )

  it.effect("interrupts a reader that has not taken a value when it is stopped", () =>
    Effect.gen(function* () {
      const { feed, runtime, state } = yield* aSource
      const [begun, interrupted] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const taking = Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)
      const stop = Feed.attend(
        feed,
        runtime,
        () => Effect.onInterrupt(taking, () => Deferred.succeed(interrupted, undefined)),
        () => undefined
      )
      state.give([1])
      yield* Deferred.await(begun)
      stop()
      yield* Deferred.await(interrupted)
    })
  )
})
