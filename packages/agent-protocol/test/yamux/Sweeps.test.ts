import { expect, it } from "@effect/vitest"
import { Effect, Exit, Scope, TestClock } from "effect"
import { sweptScoped } from "../../src/yamux/Sweeps.js"

/** A session's sweeps, counted. */
const counted = () => {
  const state = { calls: 0, defects: new Array<unknown>() }
  const swept = (sweep: () => void = () => undefined) =>
    sweptScoped(
      () => {
        state.calls += 1
        sweep()
      },
      (defect) => void state.defects.push(defect)
    )
  return { state, swept }
}

it.scoped("sweeps each session every second until its scope closes", () =>
  Effect.gen(function* () {
    const [first, second] = [counted(), counted()]
    yield* first.swept()
    const scope = yield* Scope.make()
    yield* Scope.extend(second.swept(), scope)
    yield* TestClock.adjust("3 seconds")
    yield* Scope.close(scope, Exit.void)
    yield* TestClock.adjust("2 seconds")
    expect([first.state.calls, second.state.calls]).toStrictEqual([5, 3])
  })
)

it.scoped("begins again with a session that comes after the last one has gone", () =>
  Effect.gen(function* () {
    const [first, second] = [counted(), counted()]
    yield* Effect.scoped(first.swept())
    yield* TestClock.adjust("2 seconds")
    yield* second.swept()
    yield* TestClock.adjust("2 seconds")
    expect([first.state.calls, second.state.calls]).toStrictEqual([0, 2])
  })
)

it.scoped("tells a session that its sweep has thrown, and goes on with the others", () =>
  Effect.gen(function* () {
    const [broken, sound] = [counted(), counted()]
    yield* broken.swept(() => {
      throw new Error("broken")
    })
    yield* sound.swept()
    yield* TestClock.adjust("3 seconds")
    expect(broken.state).toStrictEqual({ calls: 1, defects: [new Error("broken")] })
    expect(sound.state.calls).toBe(3)
  })
)
