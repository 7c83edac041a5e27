import { expect, it } from "@effect/vitest"
import { Effect, Logger, Schedule, TestClock } from "effect"
import * as Loop from "../src/Loop.js"

const quiet = Effect.provide(Logger.remove(Logger.defaultLogger))

it.scoped("turns follow a failure and a defect", () =>
  Effect.gen(function* () {
    const outcomes = [Effect.fail("refused"), Effect.die("broken"), Effect.void]
    yield* Loop.start(
      "a loop",
      Effect.delay(
        Effect.suspend(() => outcomes.shift() ?? Effect.never),
        "1 second"
      )
    )
    yield* TestClock.adjust("5 seconds")
    expect(outcomes).toStrictEqual([])
  }).pipe(quiet)
)

it.scoped("a schedule goes on after a turn that dies", () =>
  Effect.gen(function* () {
    let turns = 0
    const turn = Effect.suspend(() => Effect.die(++turns))
    yield* Effect.forkScoped(Loop.scheduled("a check", turn, Schedule.fixed("1 second")))
    yield* TestClock.adjust("3 seconds")
    expect(turns).toBe(4)
  }).pipe(quiet)
)
