import type { BuildResourceRepository } from "@atelier/core/agents"
import type { ApiKeyScope, ProvisionedApp } from "@atelier/core/provisioning"
import { Effect } from "effect"
import { dialectOf, locking } from "../../platform/Dialect.js"
import { boolean, number, row, text, uuid } from "../../platform/Row.js"
import { all, applied, one, run } from "../../platform/Statement.js"
import type { Statements } from "../../platform/Statements.js"
import { sealedToken } from "./SealedToken.js"

const childRow = row({ id: uuid, name: text() })

const parentRow = row({
  resource_id: uuid,
  connection_timeout_seconds: number,
  troubleshooting_url: text(),
  api_key_scope: text<ApiKeyScope>(),
  max_port_share_level: text<ProvisionedApp["sharing_level"]>(),
  is_taken: boolean,
  children: number,
  made: number
})

/** Agents that agents have made. */
export const subAgents = (
  sql: Statements
): Pick<BuildResourceRepository["Type"], "lockParent" | "subAgentsOf" | "adoptSubAgent" | "deleteSubAgent"> => {
  const { boolean: bool } = dialectOf(sql)

  return {
    lockParent: (id, name) =>
      Effect.zipRight(
        // The next statement sees rows that other transactions have stored by then
        run(sql`SELECT id FROM workspace_agents WHERE id = ${id} ${locking(sql, "FOR UPDATE")}`),
        one(
          parentRow,
          sql`SELECT a.resource_id, a.connection_timeout_seconds, a.troubleshooting_url, a.api_key_scope, t.max_port_share_level,
                EXISTS (SELECT 1 FROM workspace_resources s JOIN workspace_agents o ON o.resource_id = s.id
                  WHERE s.job_id = r.job_id AND NOT o.deleted AND lower(o.name) = lower(${name})) AS is_taken,
                (SELECT count(*) FROM workspace_agents c WHERE c.parent_id = a.id AND NOT c.deleted) AS children,
                (SELECT count(*) FROM workspace_agents c WHERE c.parent_id = a.id) AS made
              FROM workspace_agents a
              JOIN workspace_resources r ON r.id = a.resource_id
              JOIN workspace_builds b ON b.job_id = r.job_id
              JOIN workspaces w ON w.id = b.workspace_id
              JOIN templates t ON t.id = w.template_id
              WHERE a.id = ${id}`
        )
      ),
    subAgentsOf: (parentId) =>
      all(
        (from) => ({ ...childRow(from), token: sealedToken(from) }),
        sql`SELECT id, name, sealed_token_key_id, sealed_token FROM workspace_agents
            WHERE parent_id = ${parentId} AND NOT deleted ORDER BY created_at, id`
      ),
    adoptSubAgent: (id, { directory, display_apps }, at) =>
      run(
        sql`UPDATE workspace_agents SET display_apps = ${JSON.stringify(display_apps)}, updated_at = ${at}
              ${directory === "" ? sql.literal("") : sql`, directory = ${directory}`}
            WHERE id = ${id}`
      ),
    deleteSubAgent: (parentId, id) =>
      applied(
        sql`UPDATE workspace_agents SET deleted = ${bool(true)}, sealed_token_key_id = '', sealed_token = NULL
            WHERE id = ${id} AND parent_id = ${parentId} AND NOT deleted RETURNING id`
      )
  }
}
