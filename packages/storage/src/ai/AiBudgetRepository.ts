import { AiBudgetRepository } from "@atelier/core/ai"
import { isEveryone } from "@atelier/core/groups"
import { Effect } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { among } from "../platform/Among.js"
import { number, row, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, one } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../platform/Dialect.js"
import { Statements } from "../platform/Statements.js"
import { effectiveBudgets } from "./EffectiveBudgets.js"

const amounts = { spend_limit_micros: number, created_at: timestamp, updated_at: timestamp }
const budget = row({ group_id: uuid, ...amounts })
const override = row({ user_id: uuid, group_id: uuid, ...amounts })
const member = row({ user_id: uuid })

export const layer = service(
  AiBudgetRepository,
  Effect.map(Statements, (sql) => {
    const forKeyShare = locking(sql, "FOR KEY SHARE")

    return AiBudgetRepository.of({
      ...effectiveBudgets(sql),
      ofGroups: (ids) =>
        all(
          budget,
          sql`SELECT b.group_id, b.spend_limit_micros, b.created_at, b.updated_at FROM group_ai_budgets b
            WHERE ${among(sql, sql`b.group_id`, ids)}`
        ),
      setOfGroup: (value) =>
        one(
          budget,
          sql`INSERT INTO group_ai_budgets ${sql.insert({ ...value })}
            ON CONFLICT (group_id) DO UPDATE SET spend_limit_micros = excluded.spend_limit_micros, updated_at = excluded.updated_at
            RETURNING group_id, spend_limit_micros, created_at, updated_at`
        ),
      deleteOfGroup: (id) => applied(sql`DELETE FROM group_ai_budgets WHERE group_id = ${id} RETURNING group_id`),
      override: (userId) =>
        first(
          override,
          sql`SELECT v.user_id, v.group_id, v.spend_limit_micros, v.created_at, v.updated_at FROM user_ai_budget_overrides v
            JOIN organizations o ON o.id = v.organization_id AND NOT o.deleted WHERE v.user_id = ${userId}`
        ),
      setOverride: (value) =>
        one(
          override,
          sql`INSERT INTO user_ai_budget_overrides ${sql.insert({
            ...value,
            member_of_group_id: isEveryone({ id: value.group_id, organization_id: value.organization_id }) ? null : value.group_id
          })}
            ON CONFLICT (user_id) DO UPDATE SET group_id = excluded.group_id, organization_id = excluded.organization_id,
              member_of_group_id = excluded.member_of_group_id, spend_limit_micros = excluded.spend_limit_micros,
              updated_at = excluded.updated_at
            RETURNING user_id, group_id, spend_limit_micros, created_at, updated_at`
        ),
      deleteOverride: (userId) => applied(sql`DELETE FROM user_ai_budget_overrides WHERE user_id = ${userId} RETURNING user_id`),
      lockMembership: (group, userId) =>
        Effect.gen(function* () {
          // In the order of leaving: the organization before its groups
          const isMember = yield* applied(
            sql`SELECT user_id FROM organization_members
              WHERE organization_id = ${group.organization_id} AND user_id = ${userId} ${forKeyShare}`
          )
          if (!isMember || isEveryone(group)) return isMember
          return yield* applied(sql`SELECT user_id FROM group_members WHERE group_id = ${group.id} AND user_id = ${userId} ${forKeyShare}`)
        }),
      membersAmong: (group, userIds, readable) =>
        all(
          (from) => member(from).user_id,
          sql`SELECT r.user_id FROM (${
            isEveryone(group)
              ? sql`SELECT m.user_id, m.organization_id FROM organization_members m WHERE m.organization_id = ${group.id}`
              : sql`SELECT m.user_id, g.organization_id FROM group_members m JOIN groups g ON g.id = m.group_id WHERE m.group_id = ${group.id}`
          }) r JOIN users u ON u.id = r.user_id AND NOT u.deleted AND NOT u.is_system
            WHERE ${among(sql, sql`r.user_id`, userIds)}
              AND ${accessCondition(sql, readable, { id: "r.user_id", org: "r.organization_id", owner: "r.user_id" })}`
        )
    })
  })
)
