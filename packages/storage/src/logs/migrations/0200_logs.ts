import { ddl } from "../../platform/Schema.js"

/** The log of connections to workspaces, and what the audit log is filtered by. */
export default ddl(
  `CREATE TABLE connection_logs (
    id :uuid PRIMARY KEY,
    connect_time :timestamp NOT NULL,
    organization_id :uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_owner_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    workspace_id :uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    workspace_name TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN
      ('ssh', 'vscode', 'jetbrains', 'reconnecting_pty', 'workspace_app', 'port_forwarding', 'tunnel')),
    ip TEXT,
    code INTEGER,
    user_id :uuid,
    user_agent TEXT,
    slug_or_port TEXT,
    connection_id :uuid,
    disconnect_time :timestamp,
    disconnect_reason TEXT
  )`,
  `CREATE UNIQUE INDEX connection_logs_connection_id_workspace_id_agent_name ON connection_logs (connection_id, workspace_id, agent_name)`,
  `CREATE INDEX connection_logs_by_time ON connection_logs (connect_time, id)`,
  `CREATE INDEX connection_logs_by_organization ON connection_logs (organization_id, connect_time, id)`,
  `CREATE INDEX connection_logs_by_workspace ON connection_logs (workspace_id, connect_time, id)`,
  `CREATE INDEX connection_logs_by_owner ON connection_logs (workspace_owner_id, connect_time, id)`,
  `CREATE INDEX connection_logs_by_user ON connection_logs (user_id, connect_time, id) WHERE user_id IS NOT NULL`,
  // The visits that are logged already; the key is a digest of what makes them the same
  `CREATE TABLE connection_log_visits (
    key TEXT PRIMARY KEY,
    seen_at :timestamp NOT NULL
  )`,
  `CREATE INDEX connection_log_visits_by_time ON connection_log_visits (seen_at)`,
  `CREATE INDEX audit_logs_by_type ON audit_logs (resource_type, action, time)`,
  `CREATE INDEX audit_logs_by_action ON audit_logs (action, time)`,
  `CREATE INDEX audit_logs_by_target ON audit_logs (resource_target, time)`,
  `CREATE INDEX audit_logs_by_request ON audit_logs (request_id, time)`
)
