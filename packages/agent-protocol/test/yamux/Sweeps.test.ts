import { expect, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import * as Sweeps from "../../src/yamux/Sweeps.js"

/** A session's sweeps, counted. */
const counted = (sweep: () => void = () => undefined) => {
  const state = { calls: 0, defects: new Array<unknown>() }
  const session: Sweeps.Swept = {
    sweep: () => {
      state.calls += 1
      sweep()
    },
    died: (defect) => void state.defects.push(defect)
  }
  const begin = Sweeps.begin(session)
  const end = Effect.clockWith((clock) => Effect.sync(() => Sweeps.end(session, clock)))
  return { begin, end, state }
}

it.effect("sweeps each session every second until its end", () =>
  Effect.gen(function* () {
    const [first, second] = [counted(), counted()]
    yield* first.begin
    yield* second.begin
    yield* TestClock.adjust("3 seconds")
    yield* second.end
    yield* TestClock.adjust("2 seconds")
    expect([first.state.calls, second.state.calls]).toStrictEqual([5, 3])
  })
)

it.effect("begins again with a session that comes after the last one has gone", () =>
  Effect.gen(function* () {
    const [first, second] = [counted(), counted()]
    yield* first.begin
    yield* first.end
    yield* TestClock.adjust("2 seconds")
    yield* second.begin
    yield* TestClock.adjust("2 seconds")
    expect([first.state.calls, second.state.calls]).toStrictEqual([0, 2])
  })
)

it.effect("tells a session that its sweep has thrown, and goes on with the others", () =>
  Effect.gen(function* () {
    const broken = counted(() => {
      throw new Error("broken")
    })
    const sound = counted()
    yield* broken.begin
    yield* sound.begin
    yield* TestClock.adjust("3 seconds")
    expect(broken.state).toStrictEqual({ calls: 1, defects: [new Error("broken")] })
    expect(sound.state.calls).toBe(3)
  })
)
