import { expect, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Layer, TestClock } from "effect"
import { AgentRepository } from "../../../src/agents/AgentRepository.js"
import { makeChecks } from "../../../src/agents/connections/ConnectionChecks.js"
import { WorkspaceAgentId } from "../../../src/agents/WorkspaceAgent.js"
import * as Timestamp from "../../../src/platform/time/Timestamp.js"
import { Uuid } from "../../../src/platform/texts/Uuid.js"

const id = "7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e"
const connection = { agentId: WorkspaceAgentId.make(id), connectionId: Uuid.make(id), ping: Effect.void }

const hour = 3_600_000

it.scoped.each([-hour, hour])("signs of life are stored every 15 seconds when the clock was set by %i ms", (shift) =>
  Effect.gen(function* () {
    const clock = yield* Effect.clock
    let offset = 0
    const millis = () => clock.unsafeCurrentTimeMillis() + offset
    const skewed: Clock.Clock = {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: millis,
      currentTimeMillis: Effect.sync(millis),
      unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
      currentTimeNanos: clock.currentTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    }
    const stored: Array<string> = []
    const repository = Layer.mock(AgentRepository, {
      touch: (_, at) => Effect.sync(() => void stored.push(at)),
      latestAmong: (ids) => Effect.succeed(new Set(ids))
    })
    yield* Effect.gen(function* () {
      const { retirementOf } = yield* Effect.withClock(makeChecks(Duration.seconds(15)), skewed)
      const retired = yield* Deferred.make<string>()
      yield* Effect.forkScoped(Effect.withClock(Effect.intoDeferred(retirementOf(connection), retired), skewed))
      yield* TestClock.adjust("20 seconds")
      offset = shift
      stored.length = 0
      const set = Timestamp.fromMillis(millis())
      for (let round = 0; round < 3; round++) yield* TestClock.adjust("15 seconds")
      expect(stored).toHaveLength(3)
      expect(stored.every((at) => at >= set && at <= Timestamp.plus(set, "45 seconds"))).toBe(true)
      expect(yield* Deferred.isDone(retired)).toBe(false)
    }).pipe(Effect.provide(repository))
  })
)
