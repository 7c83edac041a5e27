import { AgentMetadataRepository } from "@atelier/core/agents"
import { Effect } from "effect"
import { as, items } from "../../platform/Batch.js"
import { columnList, row } from "../../platform/Row.js"
import { all, run } from "../../platform/Statement.js"
import { metadata } from "../columns.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const metadataRow = row(metadata)

export const layer = service(
  AgentMetadataRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const columns = sql.literal(columnList(metadata, "m"))

    return AgentMetadataRepository.of({
      ofAgent: (id) =>
        all(
          metadataRow,
          sql`SELECT ${columns} FROM workspace_agent_metadata m WHERE m.workspace_agent_id = ${id} ORDER BY m.display_order, m.key`
        ),
      update: (values) =>
        run(
          sql`UPDATE workspace_agent_metadata SET value = item.value ->> 2, error = item.value ->> 3,
              collected_at = ${as(sql, "timestamp", sql`item.value ->> 4`)}
            FROM ${items(
              sql,
              values.map(({ collected_at, error, key, value, workspace_agent_id }) => [workspace_agent_id, key, value, error, collected_at])
            )}
            WHERE workspace_agent_id = ${as(sql, "uuid", sql`item.value ->> 0`)} AND key = item.value ->> 1`
        )
    })
  })
)
