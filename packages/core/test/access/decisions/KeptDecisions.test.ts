import { describe, it } from "@effect/vitest"
import { keptDecisions, publishRightsChange } from "@atelier/core/access"
import { EventBus, Uuid } from "@atelier/core/platform"
import { Effect, TestClock } from "effect"
import { expect } from "vitest"
import { aClockToSetBack } from "../../../../../test/store/time.js"

const decisions = Effect.map(keptDecisions<number>(), ({ begin, find, holds }) => {
  let judged = 0
  const decide = Effect.sync(() => ++judged)
  const judge = <R>(key: string, decide: Effect.Effect<number, never, R>): Effect.Effect<number, never, R> =>
    Effect.suspend(() => {
      const keep = begin(key)
      return Effect.tap(decide, (decision) => Effect.sync(() => keep(decision)))
    })
  const ask = (key: string): Effect.Effect<number> =>
    Effect.suspend(() => {
      const found = find(key)
      return found === undefined ? judge(key, decide) : Effect.succeed(found)
    })
  return { ask, decide, find, holds, judge }
})

describe("a kept decision", () => {
  it.scoped("answers equal requests for a second", () =>
    Effect.gen(function* () {
      const { ask } = yield* decisions
      expect([yield* ask("a"), yield* ask("a"), yield* ask("b")]).toStrictEqual([1, 1, 2])
      yield* TestClock.adjust("799 millis")
      expect(yield* ask("a")).toBe(1)
      yield* TestClock.adjust("201 millis")
      expect([yield* ask("a"), yield* ask("a")]).toStrictEqual([3, 3])
    }).pipe(Effect.provide(EventBus.layerMemory))
  )

  it.scoped("answers for no longer after the clock was set back", () =>
    Effect.gen(function* () {
      const { clock, setBack } = yield* aClockToSetBack
      const { ask } = yield* Effect.withClock(decisions, clock)
      expect(yield* ask("a")).toBe(1)
      setBack(3_600_000)
      yield* TestClock.adjust("1 second")
      expect(yield* ask("a")).toBe(2)
    }).pipe(Effect.provide(EventBus.layerMemory))
  )

  it.scoped("is judged again by one request before its second is over", () =>
    Effect.gen(function* () {
      const { find, judge } = yield* decisions
      yield* judge("a", Effect.succeed(1))
      yield* TestClock.adjust("800 millis")
      expect([find("a"), find("a")]).toStrictEqual([undefined, 1])
      yield* judge("a", Effect.succeed(2))
      yield* TestClock.adjust("200 millis")
      expect(find("a")).toBe(2)
    }).pipe(Effect.provide(EventBus.layerMemory))
  )

  it.scoped("leaves it to another request to judge again, if asked to", () =>
    Effect.gen(function* () {
      const { find, holds, judge } = yield* decisions
      yield* judge("a", Effect.succeed(1))
      expect(holds("a")).toBe(1)
      yield* TestClock.adjust("800 millis")
      expect([holds("a"), find("a"), holds("a"), find("a")]).toStrictEqual([undefined, undefined, 1, 1])
      yield* TestClock.adjust("200 millis")
      expect(holds("a")).toBeUndefined()
    }).pipe(Effect.provide(EventBus.layerMemory))
  )

  it.scoped("counts its second from before it is judged", () =>
    Effect.gen(function* () {
      const { find, judge } = yield* decisions
      yield* judge("a", Effect.as(TestClock.adjust("600 millis"), 1))
      expect(find("a")).toBe(1)
      yield* TestClock.adjust("400 millis")
      expect([find("a"), find("a")]).toStrictEqual([undefined, undefined])
    }).pipe(Effect.provide(EventBus.layerMemory))
  )

  it.scoped("is dropped when anyone's rights change, also while it is judged", () =>
    Effect.gen(function* () {
      const { decide, find, judge } = yield* decisions
      const changed = publishRightsChange({ user_id: Uuid.nil })
      yield* judge("a", decide)
      yield* changed
      expect(find("a")).toBeUndefined()
      yield* judge("a", Effect.zipLeft(decide, changed))
      expect(find("a")).toBeUndefined()
    }).pipe(Effect.provide(EventBus.layerMemory))
  )
})
