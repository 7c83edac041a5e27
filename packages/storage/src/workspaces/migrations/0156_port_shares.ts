import { ddl } from "../../platform/Schema.js"

/** How far ports of workspaces' agents are shared. A share names its agent, so that it outlives the agent's build. */
export default ddl(
  `CREATE TABLE workspace_port_shares (
    workspace_id :uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    agent_name TEXT NOT NULL,
    port INTEGER NOT NULL,
    share_level TEXT NOT NULL CHECK (share_level IN ('organization', 'authenticated', 'public')),
    protocol TEXT NOT NULL CHECK (protocol IN ('http', 'https')),
    PRIMARY KEY (workspace_id, agent_name, port)
  )`
)
