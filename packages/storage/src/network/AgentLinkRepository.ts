import { AgentLinkRepository } from "@atelier/core/network"
import { Effect } from "effect"
import { row, text, uuid } from "../platform/Row.js"
import { all, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const holder = row({ replica_id: uuid, relay_address: text() })

export const layer = service(
  AgentLinkRepository,
  Effect.map(Statements, (sql) =>
    AgentLinkRepository.of({
      put: (link) =>
        run(
          sql`INSERT INTO agent_links ${sql.insert({ ...link })}
            ON CONFLICT (agent_id, replica_id) DO UPDATE SET connected_at = excluded.connected_at`
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
