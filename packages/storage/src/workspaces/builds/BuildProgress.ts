import type { WorkspaceBuildRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { among } from "../../platform/Among.js"
import { boolean, row, uuid } from "../../platform/Row.js"
import { all } from "../../platform/Statement.js"
import type { Statements } from "../../platform/Statements.js"

const progress = row({ id: uuid, has_ended: boolean })
const identified = row({ id: uuid })

/** Which of many builds have ended, and how. */
export const buildProgress = (sql: Statements): Pick<WorkspaceBuildRepository["Type"], "progressOf" | "gone" | "unsuccessful"> => ({
  progressOf: (ids, after) =>
    all(
      progress,
      sql`SELECT b.id, j.completed_at IS NOT NULL AS has_ended FROM workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id
          WHERE ${among(sql, sql`b.id`, ids)} OR b.id > ${after}
        UNION SELECT b.id, j.completed_at IS NOT NULL FROM provisioner_jobs j JOIN workspace_builds b ON b.job_id = j.id
          WHERE j.completed_at IS NULL
        ORDER BY 1`
    ),
  gone: (workspaceIds) =>
    Effect.map(
      all(
        identified,
        sql`SELECT w.id FROM workspaces w WHERE ${among(sql, sql`w.id`, workspaceIds)} AND w.deleted
          AND NOT EXISTS (SELECT 1 FROM workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id
            WHERE b.workspace_id = w.id AND j.completed_at IS NULL)`
      ),
      (rows) => rows.map(({ id }) => id)
    ),
  unsuccessful: (buildIds) =>
    Effect.map(
      all(
        identified,
        sql`SELECT b.id FROM workspace_builds b JOIN provisioner_jobs j ON j.id = b.job_id WHERE ${among(sql, sql`b.id`, buildIds)}
          AND j.completed_at IS NOT NULL AND (j.canceled_at IS NOT NULL OR COALESCE(j.error, '') <> '')`
      ),
      (rows) => rows.map(({ id }) => id)
    )
})
