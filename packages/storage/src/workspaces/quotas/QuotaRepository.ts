import { QuotaRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { number, row } from "../../platform/Row.js"
import { one, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking, unindexed } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const summed = row({ total: number })
const total = (from: object): number => summed(from).total

export const layer = service(
  QuotaRepository,
  Effect.map(Statements, (sql) => {
    // Leaves rows that refer to the user free to come and go
    const forUpdate = locking(sql, "FOR NO KEY UPDATE")
    return QuotaRepository.of({
      lock: (userId) => run(sql`SELECT id FROM users WHERE id = ${userId} ${forUpdate}`),
      budget: (organizationId, userId) =>
        one(
          total,
          sql`SELECT coalesce(sum(g.quota_allowance), 0) AS total FROM groups g WHERE g.organization_id = ${organizationId} AND (
              EXISTS (SELECT 1 FROM group_members m WHERE m.group_id = g.id AND m.user_id = ${userId})
              OR (g.id = g.organization_id
                AND EXISTS (SELECT 1 FROM organization_members m WHERE m.organization_id = g.organization_id AND m.user_id = ${userId})))`
        ),
      consumed: (organizationId, userId, exceptBuild) =>
        one(
          total,
          sql`SELECT coalesce(sum(b.daily_cost), 0) AS total FROM workspaces w JOIN workspace_builds b ON b.id = w.latest_build_id
            WHERE ${sql.and([
              sql`w.owner_id = ${userId}`,
              sql`${unindexed(sql, "w.organization_id")} = ${organizationId}`,
              sql`NOT w.deleted`,
              ...(exceptBuild === undefined ? [] : [sql`b.id <> ${exceptBuild}`])
            ])}`
        ),
      charge: (buildId, cost) => run(sql`UPDATE workspace_builds SET daily_cost = ${cost} WHERE id = ${buildId}`)
    })
  })
)
