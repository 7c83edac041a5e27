import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Option, TestClock } from "effect"
import { quietAfter } from "../../../src/workspaces/prebuilds/QuietAfter.js"

const isOver = (fiber: Fiber.RuntimeFiber<void>) => Effect.map(Fiber.poll(fiber), Option.isSome)

it.effect("waits until no change has come for half a second", () =>
  Effect.gen(function* () {
    const { change, isSettling, settled } = yield* quietAfter
    const waiting = yield* Effect.fork(settled)
    yield* TestClock.adjust("10 seconds")
    expect(yield* isOver(waiting)).toBe(false)
    expect(isSettling()).toBe(false)
    for (let made = 0; made < 3; made++) {
      change()
      yield* TestClock.adjust("400 millis")
      expect(yield* isOver(waiting)).toBe(false)
      expect(isSettling()).toBe(true)
    }
    yield* TestClock.adjust("100 millis")
    expect(yield* isOver(waiting)).toBe(true)
    expect(isSettling()).toBe(false)
  })
)

it.effect("ends after two seconds of changes, and waits anew for a later one", () =>
  Effect.gen(function* () {
    const { change, settled } = yield* quietAfter
    const waiting = yield* Effect.fork(settled)
    for (let made = 0; made < 10; made++) {
      change()
      yield* TestClock.adjust("200 millis")
    }
    expect(yield* isOver(waiting)).toBe(true)
    const again = yield* Effect.fork(settled)
    yield* TestClock.adjust("10 seconds")
    expect(yield* isOver(again)).toBe(false)
    change()
    yield* TestClock.adjust("500 millis")
    expect(yield* isOver(again)).toBe(true)
  })
)
