import type { AiBudgetRepository, BudgetInputs } from "@atelier/core/ai"
import type { UserId } from "@atelier/core/identity"
import { Effect } from "effect"
import { among } from "../platform/Among.js"
import { boolean, number, row, timestamp, uuid } from "../platform/Row.js"
import { all } from "../platform/Statement.js"
import type { Statements } from "../platform/Statements.js"

const total = row({ group_id: uuid, spend_limit_micros: number })
const overriding = row({ user_id: uuid, group_id: uuid, organization_id: uuid, spend_limit_micros: number })
const budgeted = row({ user_id: uuid, group_id: uuid, organization_id: uuid, spend_limit_micros: number, joined_at: timestamp })
const joined = row({ user_id: uuid, organization_id: uuid, is_default: boolean, joined_at: timestamp })

/** Which budget counts for each user. */
export const effectiveBudgets = (sql: Statements): Pick<AiBudgetRepository["Type"], "totals" | "budgetInputs"> => {
  /**
   * The order of `effectiveBudget`: whether the budget `c`, by the membership `m`, comes before `l`, by the membership `r`. Lower ones
   * are left out before memberships are looked for.
   */
  const isHigher = sql`c.spend_limit_micros >= l.spend_limit_micros
      AND (-c.spend_limit_micros, m.created_at, c.group_id) < (-l.spend_limit_micros, r.joined_at, l.group_id)`

  return {
    totals: (ids) =>
      Effect.map(
        all(
          total,
          sql`SELECT b.group_id, coalesce(sum(t.spend_limit_micros), 0) AS spend_limit_micros FROM group_ai_budgets b LEFT JOIN (
                SELECT v.group_id, v.user_id, v.spend_limit_micros FROM user_ai_budget_overrides v
                  WHERE ${among(sql, sql`v.group_id`, ids)}
                UNION ALL SELECT r.group_id, r.user_id, l.spend_limit_micros FROM (
                    SELECT x.group_id, x.user_id, m.created_at AS joined_at FROM group_members x JOIN groups g ON g.id = x.group_id
                      JOIN organization_members m ON m.organization_id = g.organization_id AND m.user_id = x.user_id
                      WHERE ${among(sql, sql`x.group_id`, ids)}
                    UNION ALL SELECT m.organization_id, m.user_id, m.created_at FROM organization_members m
                      WHERE ${among(sql, sql`m.organization_id`, ids)}
                  ) r JOIN group_ai_budgets l ON l.group_id = r.group_id
                  WHERE NOT EXISTS (SELECT 1 FROM user_ai_budget_overrides v
                      JOIN organizations o ON o.id = v.organization_id AND NOT o.deleted WHERE v.user_id = r.user_id)
                    AND NOT EXISTS (SELECT 1 FROM group_members x JOIN group_ai_budgets c ON c.group_id = x.group_id
                      JOIN groups g ON g.id = x.group_id JOIN organizations o ON o.id = g.organization_id AND NOT o.deleted
                      JOIN organization_members m ON m.organization_id = g.organization_id AND m.user_id = x.user_id
                      WHERE x.user_id = r.user_id AND ${isHigher})
                    AND NOT EXISTS (SELECT 1 FROM organization_members m JOIN group_ai_budgets c ON c.group_id = m.organization_id
                      JOIN organizations o ON o.id = m.organization_id AND NOT o.deleted
                      WHERE m.user_id = r.user_id AND ${isHigher})
              ) t ON t.group_id = b.group_id AND EXISTS (SELECT 1 FROM users u WHERE u.id = t.user_id AND NOT u.deleted AND NOT u.is_system)
              WHERE ${among(sql, sql`b.group_id`, ids)} GROUP BY b.group_id`
        ),
        (rows) => new Map(rows.map(({ group_id, spend_limit_micros }) => [group_id, spend_limit_micros]))
      ),
    budgetInputs: (userIds) =>
      Effect.gen(function* () {
        const overrides = yield* all(
          overriding,
          sql`SELECT v.user_id, v.group_id, v.organization_id, v.spend_limit_micros FROM user_ai_budget_overrides v
              JOIN organizations o ON o.id = v.organization_id AND NOT o.deleted WHERE ${among(sql, sql`v.user_id`, userIds)}`
        )
        const budgets = yield* all(
          budgeted,
          sql`SELECT m.user_id, b.group_id, m.organization_id, b.spend_limit_micros, m.created_at AS joined_at
              FROM organization_members m JOIN organizations o ON o.id = m.organization_id AND NOT o.deleted
              JOIN groups g ON g.organization_id = m.organization_id JOIN group_ai_budgets b ON b.group_id = g.id
              WHERE ${among(sql, sql`m.user_id`, userIds)} AND (g.id = g.organization_id
                OR EXISTS (SELECT 1 FROM group_members x WHERE x.group_id = g.id AND x.user_id = m.user_id))`
        )
        const memberships = yield* all(
          joined,
          sql`SELECT m.user_id, m.organization_id, o.is_default, m.created_at AS joined_at
              FROM organization_members m JOIN organizations o ON o.id = m.organization_id AND NOT o.deleted
              WHERE ${among(sql, sql`m.user_id`, userIds)}`
        )
        const budgetInputs = new Map<
          UserId,
          {
            override: BudgetInputs["override"]
            budgets: Array<BudgetInputs["budgets"][number]>
            memberships: Array<BudgetInputs["memberships"][number]>
          }
        >(userIds.map((id) => [id, { override: null, budgets: [], memberships: [] }]))
        for (const { user_id, ...value } of overrides) {
          const inputs = budgetInputs.get(user_id)
          if (inputs !== undefined) inputs.override = value
        }
        for (const { user_id, ...value } of budgets) budgetInputs.get(user_id)?.budgets.push(value)
        for (const { user_id, ...value } of memberships) budgetInputs.get(user_id)?.memberships.push(value)
        return budgetInputs
      })
  }
}
