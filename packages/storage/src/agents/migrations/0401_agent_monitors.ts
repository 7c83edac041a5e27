import { ddl } from "../../platform/Schema.js"

/** Monitors of memory (the empty path) and volumes. notifications-audit-insights.md §A2. */
export default ddl(
  `CREATE TABLE workspace_agent_monitors (
    workspace_agent_id :uuid NOT NULL REFERENCES workspace_agents (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    enabled :boolean NOT NULL,
    threshold INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('OK', 'NOK')),
    debounced_until :timestamp NOT NULL,
    PRIMARY KEY (workspace_agent_id, path)
  )`
)
