import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { quietAfter } from "../../../src/workspaces/prebuilds/QuietAfter.js"

const isOver = (fiber: Fiber.RuntimeFiber<void>) => Effect.map(Fiber.poll(fiber), Option.isSome)

it.effect("waits until no change has come for half a second", () =>
  Effect.gen(function* () {
    const changed = yield* Effect.makeLatch(false)
    const waiting = yield* Effect.fork(quietAfter(changed))
    yield* TestClock.adjust("10 seconds")
    expect(yield* isOver(waiting)).toBe(false)
    for (let change = 0; change < 3; change++) {
      yield* changed.open
      yield* TestClock.adjust("400 millis")
      expect(yield* isOver(waiting)).toBe(false)
    }
    yield* TestClock.adjust("100 millis")
    expect(yield* isOver(waiting)).toBe(true)
  })
)

it.effect("ends after two seconds of changes, and waits anew for a later one", () =>
  Effect.gen(function* () {
    const changed = yield* Effect.makeLatch(false)
    const waiting = yield* Effect.fork(quietAfter(changed))
    for (let change = 0; change < 10; change++) {
      yield* changed.open
      yield* TestClock.adjust("200 millis")
    }
    expect(yield* isOver(waiting)).toBe(true)
    const again = yield* Effect.fork(quietAfter(changed))
    yield* TestClock.adjust("10 seconds")
    expect(yield* isOver(again)).toBe(false)
    yield* changed.open
    yield* TestClock.adjust("500 millis")
    expect(yield* isOver(again)).toBe(true)
  })
)
