import { expect, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Logger, Option, TestClock } from "effect"
import { AgentRepository } from "../../../src/agents/AgentRepository.js"
import { type CheckedConnection, makeChecks, type Retired } from "../../../src/agents/connections/ConnectionChecks.js"
import { WorkspaceAgentId } from "../../../src/agents/WorkspaceAgent.js"
import { aClock } from "../../aClock.js"
import * as Timestamp from "../../../src/platform/time/Timestamp.js"
import { Uuid } from "../../../src/platform/texts/Uuid.js"

const id = "7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e"
const connection = { agentId: WorkspaceAgentId.make(id), connectionId: Uuid.make(id), ping: Effect.void, hasSpoken: () => false }

const hour = 3_600_000

const agents = Array.from({ length: 5 }, (_, index) => {
  const own = `7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4${index}`
  return { agentId: WorkspaceAgentId.make(own), connectionId: Uuid.make(own), ping: Effect.void, hasSpoken: () => false }
})

/** Has a connection checked, and answers why it has to be closed. */
const retirement = (checks: Effect.Effect.Success<ReturnType<typeof makeChecks>>, connection: Omit<CheckedConnection, "retire">) =>
  Effect.scoped(
    Effect.gen(function* () {
      const retired = yield* Deferred.make<Retired>()
      yield* checks.check({ ...connection, retire: (why) => Deferred.unsafeDone(retired, Effect.succeed(why)) })
      return yield* Deferred.await(retired)
    })
  )

/** Has five connections checked, that begin three seconds after each other, and answers their checks and which signs of life were stored. */
const checked = (touch: (ids: ReadonlyArray<string>) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const stored: Array<string> = []
    const repository = Layer.mock(AgentRepository, {
      touch: (signs) => {
        const ids = signs.map(({ agentId }) => agentId)
        return Effect.tap(touch(ids), () => Effect.sync(() => void stored.push(...ids)))
      },
      latestAmong: (ids) => Effect.succeed(new Set(ids))
    })
    const checks = yield* Effect.provide(makeChecks(Duration.seconds(15)), repository)
    const fibers = yield* Effect.forEach(agents, (agent) =>
      Effect.tap(Effect.forkScoped(retirement(checks, agent)), () => TestClock.adjust("3 seconds"))
    )
    return { fibers, stored }
  })

it.scoped("a store that does not answer for one connection delays no other one", () =>
  Effect.gen(function* () {
    let stalls = 0
    const { fibers, stored } = yield* checked((ids) =>
      ids.some((own) => own === agents[0]?.agentId) && stalls++ < 5 ? Effect.never : Effect.void
    )
    yield* TestClock.adjust("10 seconds")
    stored.length = 0
    yield* TestClock.adjust("15 seconds")
    expect(new Set(stored)).toStrictEqual(new Set(agents.slice(1).map(({ agentId }) => agentId)))
    yield* TestClock.adjust("40 seconds")
    expect(stored).toContain(agents[0]?.agentId)
    expect(yield* Effect.forEach(fibers, Fiber.poll)).toStrictEqual(agents.map(() => Option.none()))
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)

it.scoped("a connection that ends while its sign of life cannot be stored is stored no more", () =>
  Effect.gen(function* () {
    let isAway = true
    const asked: Array<string> = []
    const { fibers } = yield* checked((ids) =>
      Effect.suspend(() => {
        asked.push(...ids)
        return isAway ? Effect.never : Effect.void
      })
    )
    yield* TestClock.adjust("3 seconds")
    expect(asked).toContain(agents[0]?.agentId)
    yield* Effect.forEach(fibers.slice(0, 1), Fiber.interrupt)
    isAway = false
    asked.length = 0
    yield* TestClock.adjust("1 minute")
    expect(asked).not.toContain(agents[0]?.agentId)
    expect(asked).toContain(agents[1]?.agentId)
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)

it.scoped("an agent that has spoken keeps its connection without a question", () =>
  Effect.gen(function* () {
    let [asked, heard, hasSpoken] = [0, 0, true]
    const repository = Layer.mock(AgentRepository, {
      touch: () => Effect.sync(() => void heard++),
      latestAmong: (ids) => Effect.succeed(new Set(ids))
    })
    const checks = yield* Effect.provide(makeChecks(Duration.seconds(15)), repository)
    const ping = Effect.suspend(() => {
      asked++
      return Effect.never
    })
    const fiber = yield* Effect.forkScoped(
      retirement(checks, { ...connection, ping, hasSpoken: (within) => hasSpoken && within === 15_000 })
    )
    for (let round = 0; round < 4; round++) yield* TestClock.adjust("15 seconds")
    expect([asked, heard, yield* Fiber.poll(fiber)]).toStrictEqual([0, 4, Option.none()])
    hasSpoken = false
    for (let round = 0; round < 2; round++) yield* TestClock.adjust("15 seconds")
    hasSpoken = true
    yield* TestClock.adjust("15 seconds")
    expect([asked, yield* Fiber.poll(fiber)]).toStrictEqual([1, Option.none()])
    hasSpoken = false
    for (let round = 0; round < 3; round++) yield* TestClock.adjust("15 seconds")
    expect(yield* Fiber.join(fiber)).toBe("unresponsive")
  })
)

it.scoped.each([-hour, hour])("signs of life are stored every 15 seconds when the clock was set by %i ms", (shift) =>
  Effect.gen(function* () {
    const { millis, set, skewed } = yield* aClock
    const stored: Array<string> = []
    const repository = Layer.mock(AgentRepository, {
      touch: (_, at) => Effect.sync(() => void stored.push(at)),
      latestAmong: (ids) => Effect.succeed(new Set(ids))
    })
    yield* Effect.gen(function* () {
      const checks = yield* Effect.withClock(makeChecks(Duration.seconds(15)), skewed)
      const retired = yield* Deferred.make<string>()
      yield* Effect.forkScoped(Effect.withClock(Effect.intoDeferred(retirement(checks, connection), retired), skewed))
      yield* TestClock.adjust("20 seconds")
      set(shift)
      stored.length = 0
      const begun = Timestamp.fromMillis(millis())
      for (let round = 0; round < 3; round++) yield* TestClock.adjust("15 seconds")
      expect(stored).toHaveLength(3)
      expect(stored.every((at) => at >= begun && at <= Timestamp.plus(begun, "45 seconds"))).toBe(true)
      expect(yield* Deferred.isDone(retired)).toBe(false)
    }).pipe(Effect.provide(repository))
  })
)
