import { expect, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { admission } from "../../../src/platform/background/Admission.js"

/** An effect that tells of its beginning and ends when it is opened. */
const aWork = (begun: Array<string>, name: string) =>
  Effect.map(Effect.makeLatch(false), (latch) => ({
    end: latch.open,
    run: Effect.zipRight(
      Effect.sync(() => void begun.push(name)),
      latch.await
    )
  }))

it.effect("admits effects in their order, as many as there are places", () =>
  Effect.gen(function* () {
    const begun: Array<string> = []
    const admitted = admission(2, "1 minute")
    const works = yield* Effect.forEach(["a", "b", "c", "d"], (name) => aWork(begun, name))
    const fibers = yield* Effect.forEach(works, ({ run }) => Effect.fork(admitted(run)))
    yield* TestClock.adjust("1 second")
    expect(begun).toStrictEqual(["a", "b"])
    yield* works[1]?.end ?? Effect.die("no work")
    yield* TestClock.adjust("1 second")
    expect(begun).toStrictEqual(["a", "b", "c"])
    yield* Effect.forEach(works, ({ end }) => end)
    yield* Fiber.joinAll(fibers)
    expect(begun).toStrictEqual(["a", "b", "c", "d"])
  })
)

it.effect("leaves the place of a slow effect, of one that fails and of one that is interrupted to the next, once", () =>
  Effect.gen(function* () {
    const begun: Array<string> = []
    const admitted = admission(1, "1 minute")
    const slow = yield* aWork(begun, "slow")
    const gone = yield* aWork(begun, "gone")
    const last = yield* aWork(begun, "last")
    const further = yield* aWork(begun, "further")
    const slowFiber = yield* Effect.fork(admitted(slow.run))
    const failing = yield* Effect.fork(
      Effect.exit(
        admitted(
          Effect.zipRight(
            Effect.sync(() => void begun.push("failing")),
            Effect.fail("no")
          )
        )
      )
    )
    const waiting = yield* Effect.fork(admitted(gone.run))
    const lastFiber = yield* Effect.fork(admitted(last.run))
    const furtherFiber = yield* Effect.fork(admitted(further.run))
    yield* TestClock.adjust("59 seconds")
    expect(begun).toStrictEqual(["slow"])
    yield* Fiber.interrupt(waiting)
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(failing)
    yield* TestClock.adjust("1 second")
    expect(begun).toStrictEqual(["slow", "failing", "last"])
    // The slow one has left its place already
    yield* slow.end
    yield* Fiber.join(slowFiber)
    yield* TestClock.adjust("1 second")
    expect(begun).toStrictEqual(["slow", "failing", "last"])
    yield* Fiber.interrupt(lastFiber)
    yield* TestClock.adjust("1 second")
    expect(begun).toStrictEqual(["slow", "failing", "last", "further"])
    yield* further.end
    yield* Fiber.join(furtherFiber)
  })
)
