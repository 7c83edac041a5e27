import { describe, it } from "@effect/vitest"
import { Feed } from "@atelier/core/platform"
import { Cause, Deferred, Effect, Exit, Fiber, Option, Scope, Stream } from "effect"
import { expect } from "vitest"

/** A feed of the numbers from 1, which ends or fails after the last one. */
const numbers = (last: number, error?: string) =>
  Feed.make(() =>
    Effect.sync(() => {
      let count = 0
      return Effect.suspend(() => {
        if (count < last) return Effect.succeedSome(++count)
        return error === undefined ? Effect.succeedNone : Effect.fail(error)
      })
    })
  )

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
      const feed = Feed.make(() => Effect.succeed(Effect.sync(() => (++pulls > 2 ? Option.none() : Option.some(pulls)))))
      const run = yield* Effect.fork(Feed.runForEach(feed, () => gate.await))
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
      expect(pulls).toBe(1)
      yield* gate.open
      yield* Fiber.join(run)
      expect(pulls).toBe(3)
    })
  )

  it.effect("closes its scope when a run ends, fails and is interrupted", () =>
    Effect.gen(function* () {
      const ends = [Effect.succeedNone, Effect.fail("failed"), Effect.never]
      for (const end of ends) {
        const opened = yield* Deferred.make<void>()
        const closed = yield* Deferred.make<void>()
        const feed = Feed.make((scope) =>
          Effect.as(
            Scope.addFinalizer(scope, Deferred.succeed(closed, undefined)),
            Effect.zipRight(Deferred.succeed(opened, undefined), end)
          )
        )
        const run = yield* Effect.fork(Feed.runForEach(feed, () => Effect.void))
        yield* Deferred.await(opened)
        yield* Fiber.interrupt(run)
        yield* Deferred.await(closed)
      }
    })
  )
})
