import { ddl } from "../../platform/Schema.js"

/** Dev containers that templates give their agents. */
export default ddl(
  `CREATE TABLE workspace_agent_devcontainers (
    id :uuid PRIMARY KEY,
    workspace_agent_id :uuid NOT NULL REFERENCES workspace_agents (id) ON DELETE CASCADE,
    subagent_id :uuid REFERENCES workspace_agents (id) ON DELETE SET NULL,
    created_at :timestamp NOT NULL,
    name TEXT NOT NULL,
    workspace_folder TEXT NOT NULL,
    config_path TEXT NOT NULL
  )`,
  `CREATE INDEX workspace_agent_devcontainers_by_agent ON workspace_agent_devcontainers (workspace_agent_id)`,
  `CREATE INDEX workspace_agent_devcontainers_by_subagent ON workspace_agent_devcontainers (subagent_id) WHERE subagent_id IS NOT NULL`
)
