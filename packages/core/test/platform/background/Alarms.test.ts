import { describe, it } from "@effect/vitest"
import { makeAlarms } from "@atelier/core/platform"
import { type Clock, Deferred, Effect, Exit, Scope, TestClock } from "effect"
import { expect } from "vitest"
import { turnsCounted } from "../../turnsCounted.js"

/** Alarms, and the names of those that have rung. */
const theAlarms = Effect.map(makeAlarms, (alarms) => {
  const rung: Array<string> = []
  return { alarms, rung, note: (name: string) => () => void rung.push(name) }
})

describe("alarms", () => {
  it.scoped("ring once each, in the order of their times", () =>
    Effect.gen(function* () {
      const { alarms, note, rung } = yield* theAlarms
      alarms.set("3 seconds", note("late"))
      alarms.set("1 seconds", note("early"))
      yield* TestClock.adjust("999 millis")
      expect(rung).toStrictEqual([])
      yield* TestClock.adjust("1 millis")
      expect(rung).toStrictEqual(["early"])
      yield* TestClock.adjust("1 minutes")
      expect(rung).toStrictEqual(["early", "late"])
    })
  )

  it.scoped("ring in time when a later one is waited for already", () =>
    Effect.gen(function* () {
      const { alarms, note, rung } = yield* theAlarms
      alarms.set("1 hours", note("late"))
      yield* TestClock.adjust("1 seconds")
      alarms.set("1 seconds", note("early"))
      yield* TestClock.adjust("1 seconds")
      expect(rung).toStrictEqual(["early"])
    })
  )

  it.scoped("do not ring once they are canceled, by another alarm of the same instant too", () =>
    Effect.gen(function* () {
      const { alarms, note, rung } = yield* theAlarms
      alarms.set("1 seconds", note("canceled")).cancel()
      alarms.set("1 seconds", () => canceled.cancel())
      const canceled = alarms.set("1 seconds", note("canceled by another"))
      alarms.set("1 seconds", note("kept"))
      yield* TestClock.adjust("1 seconds")
      expect(rung).toStrictEqual(["kept"])
    })
  )

  it.scoped("may be set by an alarm that rings", () =>
    Effect.gen(function* () {
      const { alarms, note, rung } = yield* theAlarms
      alarms.set("1 seconds", () => void alarms.set("500 millis", note("second")))
      yield* TestClock.adjust("1 seconds")
      expect(rung).toStrictEqual([])
      yield* TestClock.adjust("500 millis")
      expect(rung).toStrictEqual(["second"])
    })
  )

  it.scoped("repeat until they are canceled", () =>
    Effect.gen(function* () {
      const { alarms, note, rung } = yield* theAlarms
      const alarm = alarms.repeat("1 seconds", note("again"))
      for (let second = 0; second < 3; second++) yield* TestClock.adjust("1 seconds")
      expect(rung).toHaveLength(3)
      alarm.cancel()
      yield* TestClock.adjust("1 minutes")
      expect(rung).toHaveLength(3)
    })
  )

  it.scoped("ring together where they repeat and are about as old", () =>
    Effect.gen(function* () {
      const { alarms, note, rung } = yield* theAlarms
      alarms.repeat("30 seconds", note("first"))
      yield* TestClock.adjust("900 millis")
      alarms.repeat("30 seconds", note("second"))
      alarms.set("30 seconds", note("once"))
      yield* TestClock.adjust("29 seconds")
      expect(rung).toStrictEqual([])
      yield* TestClock.adjust("100 millis")
      expect(rung).toStrictEqual(["first", "second"])
      yield* TestClock.adjust("30 seconds")
      expect(rung).toStrictEqual(["first", "second", "once", "first", "second"])
    })
  )

  it.scoped("ring in time when the time of day is set back", () =>
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const setBack: Clock.Clock = Object.create(clock, {
        unsafeCurrentTimeMillis: { value: () => -clock.unsafeCurrentTimeMillis() },
        unsafeCurrentTimeNanos: { value: () => clock.unsafeCurrentTimeNanos() }
      })
      const { alarms, note, rung } = yield* Effect.withClock(theAlarms, setBack)
      alarms.set("1 seconds", note("first"))
      yield* TestClock.adjust("1 seconds")
      alarms.set("1 seconds", note("second"))
      yield* TestClock.adjust("1 seconds")
      expect(rung).toStrictEqual(["first", "second"])
    })
  )

  it.scopedLive("let other work have its turn between many of the same instant", () =>
    Effect.gen(function* () {
      const alarms = yield* makeAlarms
      let turn = 0
      const rungIn = new Map<number, number>()
      const isOver = yield* Deferred.make<void>()
      for (let index = 1; index <= 100; index++) {
        const read = Effect.sync(() => {
          rungIn.set(turn, (rungIn.get(turn) ?? 0) + 1)
          if (index === 100) Deferred.unsafeDone(isOver, Exit.void)
        })
        alarms.set("5 millis", () => void Effect.runFork(read, { immediate: false }))
      }
      yield* turnsCounted(() => turn++)
      yield* Deferred.await(isOver)
      expect(Math.max(...rungIn.values())).toBeLessThanOrEqual(20)
    })
  )

  it.effect("end with their scope", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { alarms, note, rung } = yield* Scope.extend(theAlarms, scope)
      alarms.set("1 seconds", note("late"))
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 seconds")
      expect(rung).toStrictEqual([])
    })
  )
})
