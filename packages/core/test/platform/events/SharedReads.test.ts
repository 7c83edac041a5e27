import { describe, it } from "@effect/vitest"
import { Feed, SharedReads } from "@atelier/core/platform"
import { Context, Effect, Exit, Fiber, Option, Queue, Scheduler, Scope, TestClock } from "effect"
import { expect } from "vitest"

/** A thing that changes when the test says so, and what is known of its followers. */
const aThing = Effect.gen(function* () {
  const state = { followed: 0, reads: 0, changed: (): void => {} }
  const reads = yield* SharedReads.makeSharedReads((_key: string, changed) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        state.followed++
        state.changed = changed
      }),
      () => Effect.sync(() => void state.followed--)
    )
  )
  const read = Effect.sync(() => ++state.reads)
  return { state, reads, read }
})

/** Interrupts the first fiber that it runs, at the given step of it. */
const interruptingAt = (step: number): Scheduler.Scheduler => {
  let steps = 0
  return {
    scheduleTask: (task, priority) => Scheduler.defaultScheduler.scheduleTask(task, priority),
    shouldYield: (fiber) => {
      if (++steps !== step) return false
      fiber.unsafeInterruptAsFork(fiber.id())
      return 1
    }
  }
}

describe("shared reads", () => {
  it.scoped("are made once for all followers after each change", () =>
    Effect.gen(function* () {
      const { read, reads, state } = yield* aThing
      const received = yield* Queue.unbounded<number>()
      const follower = SharedReads.following(reads("a"), (shared) => ({
        pull: Effect.map(shared.once("value", read), (value) => Option.some([value]))
      }))
      const followers = 1000
      yield* Effect.replicateEffect(Effect.forkScoped(Feed.runForEach(follower, (value) => Queue.offer(received, value))), followers)
      expect(new Set(yield* Queue.takeN(received, followers))).toStrictEqual(new Set([1]))
      state.changed()
      expect(new Set(yield* Queue.takeN(received, followers))).toStrictEqual(new Set([2]))
      expect(state).toMatchObject({ followed: 1, reads: 2 })
    })
  )

  it.scoped("keep no services of the application or of a follower", () =>
    Effect.gen(function* () {
      class Large extends Context.Tag("Large")<Large, string>() {}
      const kept: Array<ReadonlyArray<string>> = []
      const note = Effect.map(Effect.context<Scope.Scope>(), ({ unsafeMap }) => void kept.push([...unsafeMap.keys()]))
      const reads = yield* Effect.provideService(
        SharedReads.makeSharedReads((_key: string) => note),
        Large,
        "application"
      )
      yield* Effect.provideService(reads("a"), Large, "follower")
      expect(kept).toStrictEqual([[Scope.Scope.key]])
    })
  )

  it.scoped("end with the last follower", () =>
    Effect.gen(function* () {
      const { reads, state } = yield* aThing
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      yield* Scope.extend(reads("a"), first)
      yield* Scope.extend(reads("a"), second)
      yield* Scope.close(first, Exit.void)
      expect(state.followed).toBe(1)
      yield* Scope.close(second, Exit.void)
      expect(state.followed).toBe(0)
    })
  )

  it.scoped("are made again when one has failed", () =>
    Effect.gen(function* () {
      const { read, reads } = yield* aThing
      const shared = yield* reads("a")
      expect(yield* Effect.flip(shared.once("value", Effect.fail("away")))).toBe("away")
      expect(yield* shared.once("value", read)).toBe(1)
    })
  )

  it.scoped("continue for others when their first reader leaves", () =>
    Effect.gen(function* () {
      const { reads } = yield* aThing
      const shared = yield* reads("a")
      const gate = yield* Effect.makeLatch(false)
      const first = yield* Effect.fork(shared.once("value", Effect.as(gate.await, "read")))
      yield* Effect.yieldNow()
      const second = yield* Effect.fork(shared.once("value", Effect.succeed("another")))
      yield* Fiber.interrupt(first)
      yield* gate.open
      expect(yield* second).toBe("read")
    })
  )

  it.scoped("are made again for a follower that comes a second later", () =>
    Effect.gen(function* () {
      const { read, reads } = yield* aThing
      const shared = yield* reads("a")
      expect(yield* shared.once("value", read)).toBe(1)
      yield* TestClock.adjust("999 millis")
      expect(yield* shared.once("value", read)).toBe(1)
      yield* TestClock.adjust("1 millis")
      expect(yield* shared.once("value", read)).toBe(2)
    })
  )

  it.scoped("are made again after each period without a change, until the last follower leaves", () =>
    Effect.gen(function* () {
      const reads = yield* SharedReads.makeSharedReads((_key: string, changed, every) => every("10 seconds", changed))
      const scope = yield* Scope.make()
      const shared = yield* Scope.extend(reads("a"), scope)
      yield* TestClock.adjust("9 seconds")
      expect(shared.version()).toBe(0)
      yield* TestClock.adjust("1 seconds")
      yield* TestClock.adjust("10 seconds")
      expect(shared.version()).toBe(2)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 minutes")
      expect(shared.version()).toBe(2)
    })
  )

  it.scoped("answer others wherever their first reader is interrupted", () =>
    Effect.gen(function* () {
      const { read, reads } = yield* aThing
      for (let step = 1; step <= 60; step++) {
        const answer = yield* Effect.scoped(
          Effect.gen(function* () {
            const shared = yield* reads("a")
            const first = yield* Effect.fork(Effect.withScheduler(shared.once("value", read), interruptingAt(step)))
            yield* Fiber.await(first)
            const second = yield* Effect.fork(shared.once("value", read))
            for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow()
            return yield* second.poll
          })
        )
        expect([step, answer._tag]).toStrictEqual([step, "Some"])
      }
    })
  )
})
