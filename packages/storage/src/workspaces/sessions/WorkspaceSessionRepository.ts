import { WorkspaceSessionRepository } from "@atelier/core/workspaces"
import { Effect, Option } from "effect"
import { row, text, uuid } from "../../platform/Row.js"
import { first, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const locked = row({ id: uuid })
const noted = row({ api_key_id: text() })

export const layer = service(
  WorkspaceSessionRepository,
  Effect.map(Statements, (sql) => {
    const forUpdate = locking(sql, "FOR NO KEY UPDATE")
    return WorkspaceSessionRepository.of({
      take: (workspaceId) =>
        Effect.zipRight(
          first(locked, sql`SELECT id FROM workspaces WHERE id = ${workspaceId} ${forUpdate}`),
          Effect.map(
            first(noted, sql`DELETE FROM workspace_session_keys WHERE workspace_id = ${workspaceId} RETURNING api_key_id`),
            Option.map(({ api_key_id }) => api_key_id)
          )
        ),
      put: (workspaceId, keyId) => run(sql`INSERT INTO workspace_session_keys (workspace_id, api_key_id) VALUES (${workspaceId}, ${keyId})`)
    })
  })
)
