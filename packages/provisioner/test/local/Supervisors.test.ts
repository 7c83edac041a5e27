import { describe, expect, it } from "@effect/vitest"
import { Chunk, Clock, Deferred, type Duration, Effect, TestClock } from "effect"
import { ProcessTable } from "../../src/engine/ProcessTable.js"
import { makeSupervisors } from "../../src/local/Supervisors.js"
import { uuid } from "../builders.js"

const main = { workspaceId: uuid(1), agent: "main", token: () => uuid(9) }
const dead = { pid: 1, started: "", ended: Effect.void }
const alive = { pid: 2, started: "", ended: Effect.never }

/** Moves the clock once the supervisor waits: a wait that begins later would miss the change. */
const adjust = (duration: Duration.DurationInput) =>
  Effect.zipRight(
    Effect.repeat(Effect.zipRight(Effect.yieldNow(), TestClock.sleeps()), { until: Chunk.isNonEmpty }),
    TestClock.adjust(duration)
  )

describe("a supervisor", () => {
  it.scoped("waits longer with every end in a row, and gives up after ten", () =>
    Effect.gen(function* () {
      const supervisors = yield* makeSupervisors("1 second")
      const restarts: Array<number> = []
      // Not always 0: a suite with layers leaves its clock to the files that its worker runs after it
      const began = yield* Clock.currentTimeMillis
      yield* supervisors.watch(main, dead, () =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          restarts.push((now - began) / 1000)
          return dead
        })
      )
      yield* adjust("1 hour")
      expect(restarts).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243, 303])
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scoped("begins anew after an agent that ran for a minute", () =>
    Effect.gen(function* () {
      const supervisors = yield* makeSupervisors("1 second")
      let restarts = 0
      yield* supervisors.watch(main, dead, () =>
        Effect.sync(() => {
          restarts++
          return { ...dead, ended: Effect.sleep("1 minute") }
        })
      )
      yield* adjust("61 minutes")
      expect(restarts).toBe(60)
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scoped("tries again where an agent cannot be started", () =>
    Effect.gen(function* () {
      const supervisors = yield* makeSupervisors("1 second")
      let attempts = 0
      yield* supervisors.watch(main, dead, () => Effect.suspend(() => (++attempts < 3 ? Effect.fail("not now") : Effect.succeed(alive))))
      yield* adjust("1 hour")
      expect(attempts).toBe(3)
    }).pipe(Effect.provide(ProcessTable.layer))
  )

  it.scoped("forgets the agents of one workspace only", () =>
    Effect.gen(function* () {
      const supervisors = yield* makeSupervisors("1 second")
      const restarted: Array<string> = []
      const end = yield* Deferred.make<void>()
      const watched = { ...alive, ended: Deferred.await(end) }
      for (const [workspace, agent] of [
        [1, "a"],
        [1, "b"],
        [2, "c"]
      ] as const) {
        yield* supervisors.watch({ ...main, workspaceId: uuid(workspace), agent }, watched, () =>
          Effect.sync(() => (restarted.push(agent), alive))
        )
      }
      yield* supervisors.forget(uuid(1))
      expect(yield* supervisors.watched).toEqual([{ ...main, workspaceId: uuid(2), agent: "c" }])
      yield* Deferred.succeed(end, undefined)
      yield* adjust("1 hour")
      expect(restarted).toEqual(["c"])
    }).pipe(Effect.provide(ProcessTable.layer))
  )
})
