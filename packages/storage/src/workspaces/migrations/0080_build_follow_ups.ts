import { ddl } from "../../platform/Schema.js"

/** The starts that are to follow stops. */
export default ddl(
  `CREATE TABLE workspace_build_follow_ups (
    build_id :uuid PRIMARY KEY REFERENCES workspace_builds (id) ON DELETE CASCADE,
    template_version_id :uuid,
    template_version_preset_id :uuid,
    rich_parameter_values :json NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'queued', 'dropped', 'failed')),
    attempts INTEGER NOT NULL,
    due_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL
  )`,
  `CREATE INDEX workspace_build_follow_ups_pending ON workspace_build_follow_ups (due_at) WHERE status = 'pending'`,
  `CREATE INDEX workspace_build_follow_ups_ended ON workspace_build_follow_ups (updated_at) WHERE status <> 'pending'`
)
