/** The worker that turns reports into usage. notifications-audit-insights.md §C2. */
import { AgentStatRepository } from "@atelier/core/agents"
import { DeploymentValues } from "@atelier/core/deployment"
import { InsightsRepository, usageRollup } from "@atelier/core/insights"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Option, TestClock } from "effect"
import { randomUUID } from "node:crypto"
import { databases } from "../../../../test/store/databases.js"
import { poisoned } from "../../../../test/store/poison.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

const halfHour = 1_800_000
const begin = Date.UTC(2031, 0, 6, 8)

const aUseBy = (user_id: Uuid.Uuid, at: number) => ({
  id: Uuid.Uuid.make(randomUUID()),
  created_at: Timestamp.fromMillis(at),
  user_id,
  agent_id: Uuid.nil,
  workspace_id: Uuid.nil,
  template_id: Uuid.nil,
  connections_by_proto: {},
  connection_count: 1,
  connection_median_latency_ms: 10,
  rx_packets: 0,
  rx_bytes: 0,
  tx_packets: 0,
  tx_bytes: 0,
  session_counts: { ssh: 1 }
})

const halfHoursOf = (userId: Uuid.Uuid) =>
  Effect.flatMap(Statements, (sql) =>
    Effect.map(
      sql<{ readonly start_time: string }>`SELECT start_time FROM template_usage_stats WHERE user_id = ${userId} ORDER BY start_time`,
      (rows) => rows.map(({ start_time }) => (Date.parse(start_time) - begin) / halfHour)
    )
  )

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`the roll-up of usage on ${name}`, (it) => {
    it.effect("goes on behind a half hour that cannot be stored, and fails", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(begin + 3 * halfHour)
        const [poison, other] = [Uuid.Uuid.make(randomUUID()), Uuid.Uuid.make(randomUUID())]
        const { insert } = yield* AgentStatRepository
        yield* insert([aUseBy(other, begin), aUseBy(poison, begin + halfHour), aUseBy(other, begin + 2 * halfHour)])
        const run = Effect.exit(usageRollup.run)
        expect(Exit.isFailure(yield* Effect.scoped(Effect.zipRight(poisoned("template_usage_stats", "user_id", poison), run)))).toBe(true)
        expect([yield* halfHoursOf(poison), yield* halfHoursOf(other)]).toStrictEqual([[], [0, 2]])
        expect(Exit.isSuccess(yield* run)).toBe(true)
        expect(yield* halfHoursOf(poison)).toStrictEqual([1])
        expect((yield* (yield* InsightsRepository).newestUsage)._tag).toBe("Some")
      })
    )

    it.effect("computes a half hour that could not be stored, also after hours, and gives it up after a week", () =>
      Effect.gen(function* () {
        const later = begin + 8 * halfHour
        const old = later - 330 * halfHour
        const [poison, other] = [Uuid.Uuid.make(randomUUID()), Uuid.Uuid.make(randomUUID())]
        const { insert } = yield* AgentStatRepository
        yield* insert([aUseBy(poison, old), aUseBy(poison, later), aUseBy(other, later + 10 * halfHour)])
        yield* TestClock.setTime(later + 11 * halfHour)
        const run = Effect.exit(usageRollup.run)
        const failing = Effect.scoped(Effect.zipRight(poisoned("template_usage_stats", "user_id", poison), run))
        expect(Exit.isFailure(yield* failing)).toBe(true)
        // The newest roll-up is more than an hour older than the missing half hour
        expect([yield* halfHoursOf(poison), yield* halfHoursOf(other)]).toStrictEqual([[], [18]])
        expect(Exit.isFailure(yield* failing)).toBe(true)
        expect(Exit.isSuccess(yield* run)).toBe(true)
        expect(yield* halfHoursOf(poison)).toStrictEqual([8])
        const values = yield* DeploymentValues
        expect(yield* values.get("template_usage_missed")).toStrictEqual(Option.some("[]"))

        yield* values.put("template_usage_missed", JSON.stringify([old]))
        expect(Exit.isSuccess(yield* run)).toBe(true)
        expect(yield* halfHoursOf(poison)).toStrictEqual([8])
      })
    )
  })
}
