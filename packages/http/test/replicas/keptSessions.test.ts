/** What users of a key share, until one of them tells that it has ended. */
import { it } from "@effect/vitest"
import { Data, Deferred, Effect, Exit, Fiber, Scope, TestClock } from "effect"
import { expect } from "vitest"
import { makeKept } from "../../src/replicas/keptSessions.js"

class Ended extends Data.TaggedError("Ended")<{ readonly value: number }> {}

const key = { id: "one" }

/** Numbers in place of sessions. Those in `ended` have ended. */
const aWorld = Effect.gen(function* () {
  const state = { made: 0, closed: 0, ended: new Set<number>() }
  const kept = yield* makeKept<typeof key, number, never>(
    () =>
      Effect.acquireRelease(
        Effect.sync(() => ++state.made),
        () => Effect.sync(() => void state.closed++)
      ),
    "30 seconds",
    (error) => error instanceof Ended
  )
  const used = kept.use(key, (value) => (state.ended.has(value) ? new Ended({ value }) : Effect.succeed(value)))
  /** Uses the value, or else the next one. */
  const open = Effect.catchTag(used, "Ended", () => used)
  return { kept, open, state }
})

const closing = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.scoped(effect)

it.scoped("callers whose session ends share the next one", () =>
  Effect.gen(function* () {
    const { kept, state } = yield* aWorld
    const over = yield* Deferred.make<never, Ended>()
    const used = kept.use(key, (value) => (value === 1 ? Deferred.await(over) : Effect.succeed(value)))
    const callers = yield* Effect.replicateEffect(Effect.fork(closing(Effect.catchTag(used, "Ended", () => used))), 50)
    yield* Effect.repeatN(Effect.yieldNow(), 200)
    yield* Deferred.fail(over, new Ended({ value: 1 }))
    expect(new Set(yield* Effect.forEach(callers, Fiber.join))).toStrictEqual(new Set([2]))
    expect(state.made).toBe(2)
  })
)

it.scoped("a session that has ended takes no later one with it, and each is closed", () =>
  Effect.gen(function* () {
    const outer = yield* Scope.make()
    const { open, state } = yield* Scope.extend(aWorld, outer)
    yield* closing(open)
    state.ended.add(1)
    const [one, long] = [yield* Scope.make(), yield* Scope.make()]
    const seen = [yield* Scope.extend(open, one), yield* Scope.extend(open, long)]
    yield* Scope.close(one, Exit.void)
    yield* TestClock.adjust("40 seconds")
    expect(state.closed).toBe(1)
    seen.push(yield* closing(open), yield* closing(open))
    expect(seen).toStrictEqual([2, 2, 2, 2])
    yield* Scope.close(long, Exit.void)
    yield* Scope.close(outer, Exit.void)
    expect(state.closed).toBe(state.made)
  })
)

it.scoped("what could not be made is made anew for the next caller", () =>
  Effect.gen(function* () {
    let tries = 0
    const kept = yield* makeKept<typeof key, number, string>(
      () => Effect.suspend(() => (++tries === 1 ? Effect.fail("away") : Effect.succeed(tries))),
      "30 seconds",
      () => false
    )
    const used = closing(kept.use(key, Effect.succeed))
    expect([yield* Effect.flip(used), yield* used, yield* used]).toStrictEqual(["away", 2, 2])
  })
)
