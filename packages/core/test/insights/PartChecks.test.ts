import { expect, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Option, TestClock } from "effect"
import { HealthProbes } from "../../src/insights/health/HealthProbes.js"
import { partChecks } from "../../src/insights/health/PartChecks.js"

/** A statement that the store does not answer, which cannot be interrupted. */
const unanswered = Effect.uninterruptible(Effect.never)

const unasked = (): never => {
  throw new Error("this check asks for no such thing")
}

it.effect("the report tells after five seconds that the database does not answer", () =>
  Effect.gen(function* () {
    const { checkDatabase } = partChecks({
      healthCheckThresholdDatabase: Duration.millis(15),
      values: { get: () => unanswered, put: unasked, replace: unasked, getOrInsert: unasked },
      repository: new Proxy({} as never, { get: unasked }),
      probes: Context.get(Context.empty(), HealthProbes),
      proxies: new Proxy({} as never, { get: unasked }),
      missing: Effect.sync(unasked)
    })
    const checking = yield* Effect.fork(checkDatabase)
    yield* TestClock.adjust("5 seconds")
    const found = yield* Fiber.poll(checking)
    expect(Option.map(found, (exit) => Exit.isSuccess(exit) && exit.value.error)).toStrictEqual(
      Option.some("EDB01: The database does not answer.")
    )
  })
)
