import { AgentLinkRepository } from "@atelier/core/network"
import { Effect } from "effect"
import { as, items } from "../platform/Batch.js"
import { row, text, uuid } from "../platform/Row.js"
import { all, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const holder = row({ replica_id: uuid, relay_address: text() })

export const layer = service(
  AgentLinkRepository,
  Effect.map(Statements, (sql) =>
    AgentLinkRepository.of({
      put: (links) =>
        run(
          sql`INSERT INTO agent_links (agent_id, replica_id, connected_at)
            SELECT ${as(sql, "uuid", sql`item.value ->> 0`)}, ${as(sql, "uuid", sql`item.value ->> 1`)},
              ${as(sql, "timestamp", sql`item.value ->> 2`)}
            FROM ${items(
              sql,
              // In one order, as a statement of the same process may have the same agents
              links
                .map(({ agent_id, connected_at, replica_id }) => [agent_id, replica_id, connected_at])
                .toSorted(([left = ""], [right = ""]) => (left < right ? -1 : 1))
            )}
            WHERE TRUE
            ON CONFLICT (agent_id, replica_id) DO UPDATE SET connected_at = excluded.connected_at
              WHERE agent_links.connected_at <> excluded.connected_at`
        ),
      remove: (agent, replica) => run(sql`DELETE FROM agent_links WHERE agent_id = ${agent} AND replica_id = ${replica}`),
      holders: (agent, except, aliveSince) =>
        all(
          holder,
          sql`SELECT l.replica_id, r.relay_address FROM agent_links l JOIN replicas r ON r.id = l.replica_id
            WHERE l.agent_id = ${agent} AND l.replica_id <> ${except} AND r.updated_at >= ${aliveSince}
            ORDER BY l.connected_at DESC, l.replica_id LIMIT 3`
        )
    })
  )
)
