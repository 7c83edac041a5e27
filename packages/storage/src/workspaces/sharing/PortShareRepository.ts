import type { PortShareLevel } from "@atelier/core/templates"
import { type PortShareProtocol, PortShareRepository } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { number, row, text, uuid } from "../../platform/Row.js"
import { all, applied, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const share = row({
  workspace_id: uuid,
  agent_name: text(),
  port: number,
  share_level: text<PortShareLevel>(),
  protocol: text<PortShareProtocol>()
})

export const layer = service(
  PortShareRepository,
  Effect.map(Statements, (sql) =>
    PortShareRepository.of({
      ofWorkspace: (id) =>
        all(
          share,
          sql`SELECT workspace_id, agent_name, port, share_level, protocol FROM workspace_port_shares
            WHERE workspace_id = ${id} ORDER BY port, agent_name`
        ),
      upsert: (share) =>
        run(
          sql`INSERT INTO workspace_port_shares ${sql.insert(share)}
            ON CONFLICT (workspace_id, agent_name, port) DO UPDATE SET share_level = excluded.share_level, protocol = excluded.protocol`
        ),
      delete: ({ agent_name, port, workspace_id }) =>
        applied(
          sql`DELETE FROM workspace_port_shares
            WHERE workspace_id = ${workspace_id} AND agent_name = ${agent_name} AND port = ${port} RETURNING port`
        )
    })
  )
)
