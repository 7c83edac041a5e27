import { WorkspaceTaskRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { row, text, uuid } from "../../platform/Row.js"
import { first, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const called = row({ name: text() })
const prompt = row({ id: uuid, prompt: text() })

export const layer = service(
  WorkspaceTaskRepository,
  Effect.map(Statements, (sql) =>
    WorkspaceTaskRepository.of({
      prompt: (taskId) => first(prompt, sql`SELECT id, prompt FROM tasks WHERE id = ${taskId} AND deleted_at IS NULL`),
      named: (taskId) => first(called, sql`SELECT name FROM tasks WHERE id = ${taskId} AND deleted_at IS NULL`),
      ofApp: (appId) =>
        first(
          called,
          sql`SELECT t.name FROM workspace_build_tasks l JOIN workspace_builds b ON b.id = l.workspace_build_id
            JOIN tasks t ON t.workspace_id = b.workspace_id AND t.deleted_at IS NULL
            WHERE l.app_id = ${appId} AND NOT b.superseded LIMIT 1`
        ),
      linkApp: (app) => run(sql`INSERT INTO workspace_build_tasks ${sql.insert(app)}`),
      deleteOf: (workspaceId, at) =>
        Effect.zipRight(
          run(sql`UPDATE tasks SET deleted_at = ${at} WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL`),
          run(sql`DELETE FROM task_snapshots WHERE task_id IN (SELECT id FROM tasks WHERE workspace_id = ${workspaceId})`)
        )
    })
  )
)
