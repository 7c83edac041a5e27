import { AiSpendRepository, type AiSpendSum, type Period, spendDays } from "@atelier/core/ai"
import type { UserId } from "@atelier/core/identity"
import type { OrganizationId } from "@atelier/core/organizations"
import { Chunk, Effect, Option, Stream } from "effect"
import { among } from "../platform/Among.js"
import { number, row, text, uuid } from "../platform/Row.js"
import { all, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../platform/Statements.js"

/** Users whose spend one statement sums: some days and models of each. */
const usersTogether = 100

const spender = row({ user_id: uuid })
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

export const layer = service(
  AiSpendRepository,
  Effect.map(Statements, (sql) => {
    const within = (period: Period) => {
      const { first, last } = spendDays(period)
      return sql`s.day >= ${first} AND s.day <= ${last}`
    }
    const added = sql.literal(counters.map((name) => `${name} = ai_spend.${name} + excluded.${name}`).join(", "))
    const totals = sql.literal(counters.map((name) => `sum(s.${name}) AS ${name}`).join(", "))

    /** The next of an organization's users with any spend. Each is found by itself, independent of the spend of the one before. */
    const spenders = (organizationId: OrganizationId, behind: UserId | undefined): Effect.Effect<ReadonlyArray<UserId>> => {
      const next = (after: Fragment) =>
        sql`(SELECT s.user_id FROM ai_spend s WHERE s.organization_id = ${organizationId} ${after} ORDER BY s.user_id LIMIT 1)`
      return all(
        (from) => spender(from).user_id,
        sql`WITH RECURSIVE spenders (user_id, number) AS (
            SELECT ${next(behind === undefined ? sql`` : sql`AND s.user_id > ${behind}`)}, 1
            UNION ALL
            SELECT ${next(sql`AND s.user_id > p.user_id`)}, p.number + 1 FROM spenders p
              WHERE p.user_id IS NOT NULL AND p.number < ${sql.literal(String(usersTogether))}
          ) SELECT p.user_id FROM spenders p WHERE p.user_id IS NOT NULL`
      )
    }

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
        Stream.paginateChunkEffect<UserId | undefined, AiSpendSum, never, never>(undefined, (behind) =>
          Effect.gen(function* () {
            const ids = yield* spenders(organizationId, behind)
            const last = ids.at(-1)
            if (last === undefined) return [Chunk.empty(), Option.none()]
            const sums = yield* all(
              sum,
              sql`SELECT s.user_id, u.username, s.group_id, coalesce(g.name, '') AS group_name, s.organization_id, s.model, s.provider,
                  s.provider_name, ${totals}
                FROM ai_spend s JOIN users u ON u.id = s.user_id LEFT JOIN groups g ON g.id = s.group_id
                WHERE s.organization_id = ${organizationId} AND ${among(sql, sql`s.user_id`, ids)} AND ${within(period)}
                GROUP BY s.user_id, u.username, s.group_id, g.name, s.organization_id, s.model, s.provider, s.provider_name
                ORDER BY s.user_id, group_name, s.group_id, s.provider_name, s.provider, s.model`
            )
            return [Chunk.unsafeFromArray(sums), ids.length < usersTogether ? Option.none() : Option.some(last)]
          })
        )
    })
  })
)
