import { Effect, Fiber, Option, TestClock } from "effect"

/** Lets the event loop take a turn. */
export const eventLoop = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Waits for a fiber that also waits for the test's clock, which goes on by a second at a time. Answers its result and the seconds. */
export const whileAdvancing = <A, E>(fiber: Fiber.RuntimeFiber<A, E>): Effect.Effect<{ readonly value: A; readonly seconds: number }, E> =>
  Effect.gen(function* () {
    for (let seconds = 0; ; seconds += 1) {
      yield* eventLoop
      if (Option.isSome(yield* Fiber.poll(fiber))) return { value: yield* Fiber.join(fiber), seconds }
      yield* TestClock.adjust("1 second")
    }
  })

/** Waits for something outside of Effect to hold. */
export const until = (holds: () => boolean): Effect.Effect<void> => Effect.repeat(eventLoop, { until: holds }).pipe(Effect.asVoid)
