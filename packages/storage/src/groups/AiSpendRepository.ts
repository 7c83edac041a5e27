import { SqlClient } from "@effect/sql"
import { AiSpendRepository, spendDays, type Period } from "@atelier/core/groups"
import { Effect, Layer } from "effect"
import { among } from "../platform/Among.js"
import { number, row, text, uuid } from "../platform/Row.js"
import { all, run } from "../platform/Statement.js"

const ofUser = row({ user_id: uuid, cost_micros: number })
const ofGroup = row({ group_id: uuid, cost_micros: number })

const counters = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_micros"] as const

const sum = row({
  user_id: uuid,
  username: text(),
  group_id: uuid,
  group_name: text(),
  organization_id: uuid,
  model: text(),
  provider: text(),
  provider_name: text(),
  input_tokens: number,
  output_tokens: number,
  cache_read_tokens: number,
  cache_write_tokens: number,
  cost_micros: number
})

export const layer = Layer.effect(
  AiSpendRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const within = (period: Period) => {
      const { first, last } = spendDays(period)
      return sql`s.day >= ${first} AND s.day <= ${last}`
    }
    const added = sql.literal(counters.map((name) => `${name} = ai_spend.${name} + excluded.${name}`).join(", "))
    const sums = sql.literal(counters.map((name) => `sum(s.${name}) AS ${name}`).join(", "))

    return AiSpendRepository.of({
      book: (day, entry) =>
        run(
          sql`INSERT INTO ai_spend ${sql.insert({ ...entry, day })}
            ON CONFLICT (group_id, user_id, day, provider_name, provider, model) DO UPDATE SET ${added}`
        ),
      ofUsers: (groupId, userIds, period) =>
        Effect.map(
          all(
            ofUser,
            sql`SELECT s.user_id, sum(s.cost_micros) AS cost_micros FROM ai_spend s
              WHERE s.group_id = ${groupId} AND ${among(sql, sql`s.user_id`, userIds)} AND ${within(period)} GROUP BY s.user_id`
          ),
          (rows) => new Map(rows.map(({ cost_micros, user_id }) => [user_id, cost_micros]))
        ),
      ofGroups: (ids, period) =>
        Effect.map(
          all(
            ofGroup,
            sql`SELECT s.group_id, sum(s.cost_micros) AS cost_micros FROM ai_spend s
              WHERE ${among(sql, sql`s.group_id`, ids)} AND ${within(period)} GROUP BY s.group_id`
          ),
          (rows) => new Map(rows.map(({ cost_micros, group_id }) => [group_id, cost_micros]))
        ),
      sums: (organizationId, period) =>
        all(
          sum,
          sql`SELECT s.user_id, u.username, s.group_id, coalesce(g.name, '') AS group_name, s.organization_id, s.model, s.provider,
              s.provider_name, ${sums}
            FROM ai_spend s JOIN users u ON u.id = s.user_id LEFT JOIN groups g ON g.id = s.group_id
            WHERE s.organization_id = ${organizationId} AND ${within(period)}
            GROUP BY s.user_id, u.username, s.group_id, g.name, s.organization_id, s.model, s.provider, s.provider_name
            ORDER BY lower(u.username), s.user_id, group_name, s.group_id, s.provider_name, s.provider, s.model`
        )
    })
  })
)
