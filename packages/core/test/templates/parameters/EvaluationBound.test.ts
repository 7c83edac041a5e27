import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { boundedEvaluation } from "../../../src/templates/parameters/EvaluationBound.js"

const answered = (evaluation: (opened: Effect.Effect<void>) => Effect.Effect<string>) =>
  Effect.fork(Effect.catchTag(boundedEvaluation(evaluation), "TimedOut", ({ detail }) => Effect.succeed(detail)))

it.effect("an evaluation has five seconds from the moment at which its source is open", () =>
  Effect.gen(function* () {
    const slow = yield* answered((opened) => Effect.sleep("20 seconds").pipe(Effect.zipRight(opened), Effect.zipRight(Effect.never)))
    const quick = yield* answered((opened) => Effect.as(Effect.delay(opened, "20 seconds"), "a form"))
    yield* TestClock.adjust("20 seconds")
    expect(yield* Fiber.join(quick)).toBe("a form")
    expect(yield* Fiber.poll(slow)).toStrictEqual(Option.none())
    yield* TestClock.adjust("5 seconds")
    expect(yield* Fiber.join(slow)).toBe("The evaluation took more than 5 seconds.")
  })
)

it.effect("an evaluation whose source does not open is given up after 30 seconds", () =>
  Effect.gen(function* () {
    const fiber = yield* answered(() => Effect.uninterruptible(Effect.never))
    yield* TestClock.adjust("30 seconds")
    expect(yield* Fiber.join(fiber)).toBe("The template's source was not open within 30 seconds.")
  })
)
