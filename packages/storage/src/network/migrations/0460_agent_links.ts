import { ddl } from "../../platform/Schema.js"

/** The processes that agents are connected to. agents-and-apps.md §17. */
export default ddl(
  `CREATE TABLE agent_links (
    agent_id :uuid NOT NULL REFERENCES workspace_agents (id) ON DELETE CASCADE,
    replica_id :uuid NOT NULL,
    connected_at :timestamp NOT NULL,
    PRIMARY KEY (agent_id, replica_id)
  )`,
  `CREATE INDEX agent_links_replica_id ON agent_links (replica_id)`
)
