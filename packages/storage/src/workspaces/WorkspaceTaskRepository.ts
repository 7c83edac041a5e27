import { SqlClient } from "@effect/sql"
import { WorkspaceTaskRepository } from "@atelier/core/workspaces"
import { Effect, Layer } from "effect"
import { row, text, uuid } from "../platform/Row.js"
import { first, run } from "../platform/Statement.js"

const prompt = row({ id: uuid, prompt: text() })

export const layer = Layer.effect(
  WorkspaceTaskRepository,
  Effect.map(SqlClient.SqlClient, (sql) =>
    WorkspaceTaskRepository.of({
      prompt: (taskId) => first(prompt, sql`SELECT id, prompt FROM tasks WHERE id = ${taskId} AND deleted_at IS NULL`),
      linkApp: (app) => run(sql`INSERT INTO workspace_build_tasks ${sql.insert(app)}`),
      deleteOf: (workspaceId, at) =>
        Effect.zipRight(
          run(sql`UPDATE tasks SET deleted_at = ${at} WHERE workspace_id = ${workspaceId} AND deleted_at IS NULL`),
          run(sql`DELETE FROM task_snapshots WHERE task_id IN (SELECT id FROM tasks WHERE workspace_id = ${workspaceId})`)
        )
    })
  )
)
