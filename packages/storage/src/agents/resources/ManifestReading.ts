import type { BuildResourceRepository } from "@atelier/core/agents"
import { passingRows } from "../../platform/NestedRows.js"
import { row } from "../../platform/Row.js"
import { first, prepared } from "../../platform/Statement.js"
import type { Statements } from "../../platform/Statements.js"
import { agent, app, devcontainer, metadata, script } from "../columns.js"

/** The settings of an agent, in one statement. On PostgreSQL, agents that connect at the same time share it. */
export const manifestReading = (sql: Statements): Pick<BuildResourceRepository["Type"], "manifestOf"> => {
  const { directory, environment_variables, id, motd_file, name, parent_id } = agent
  const appRows = passingRows(
    sql,
    {
      id: app.id,
      slug: app.slug,
      display_name: app.display_name,
      icon: app.icon,
      command: app.command,
      url: app.url,
      healthcheck_url: app.healthcheck_url,
      healthcheck_interval: app.healthcheck_interval,
      healthcheck_threshold: app.healthcheck_threshold,
      health: app.health,
      subdomain: app.subdomain,
      sharing_level: app.sharing_level,
      external: app.external,
      display_order: app.display_order,
      hidden: app.hidden
    },
    () => "p"
  )
  const { workspace_agent_id: _, ...scriptColumns } = script
  const scriptRows = passingRows(sql, scriptColumns, () => "s")
  const metadataRows = passingRows(
    sql,
    {
      key: metadata.key,
      display_name: metadata.display_name,
      script: metadata.script,
      interval: metadata.interval,
      timeout: metadata.timeout,
      display_order: metadata.display_order
    },
    () => "m"
  )
  const devcontainerRows = passingRows(sql, devcontainer, () => "d")

  const readAgent = row({ id, parent_id, name, directory, environment_variables, motd_file })
  const readParts = row({ apps: appRows, scripts: scriptRows, metadata: metadataRows, devcontainers: devcontainerRows })

  const byId = prepared(
    sql,
    "uuid",
    sql`SELECT a.id, a.parent_id, a.name, a.directory, a.environment_variables, a.motd_file,
        ${appRows.select(sql`FROM workspace_apps p WHERE p.agent_id = a.id`)} AS apps,
        ${scriptRows.select(sql`FROM workspace_agent_scripts s WHERE s.workspace_agent_id = a.id`)} AS scripts,
        ${metadataRows.select(sql`FROM workspace_agent_metadata m WHERE m.workspace_agent_id = a.id`)} AS metadata,
        ${devcontainerRows.select(sql`FROM workspace_agent_devcontainers d WHERE d.workspace_agent_id = a.id`)} AS devcontainers
      FROM workspace_agents a WHERE a.id = ${""}`
  )

  return { manifestOf: (agentId) => first((from) => ({ agent: readAgent(from), ...readParts(from) }), byId(agentId)) }
}
