import { ddl } from "../../platform/Schema.js"

/** Minutes of use by half hour, and the sessions of applications that they are counted from. */
export default ddl(
  `CREATE TABLE template_usage_stats (
    start_time :timestamp NOT NULL,
    end_time :timestamp NOT NULL,
    template_id :uuid NOT NULL,
    user_id :uuid NOT NULL,
    median_latency_ms DOUBLE PRECISION,
    usage_mins INTEGER NOT NULL,
    ssh_mins INTEGER NOT NULL,
    sftp_mins INTEGER NOT NULL,
    reconnecting_pty_mins INTEGER NOT NULL,
    vscode_mins INTEGER NOT NULL,
    jetbrains_mins INTEGER NOT NULL,
    app_usage_mins :json NOT NULL,
    PRIMARY KEY (start_time, template_id, user_id)
  )`,
  `CREATE INDEX template_usage_stats_by_template ON template_usage_stats (template_id, start_time, user_id)`,
  `CREATE TABLE workspace_app_stats (
    user_id :uuid NOT NULL,
    workspace_id :uuid NOT NULL,
    agent_id :uuid NOT NULL,
    access_method TEXT NOT NULL CHECK (access_method IN ('path', 'subdomain', 'terminal')),
    slug_or_port TEXT NOT NULL,
    session_id :uuid NOT NULL,
    session_started_at :timestamp NOT NULL,
    session_ended_at :timestamp NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (user_id, agent_id, session_id)
  )`,
  `CREATE INDEX workspace_app_stats_by_end ON workspace_app_stats (session_ended_at, session_started_at)`
)
