import { Effect } from "effect"
import { ddl, trigger } from "../../platform/Schema.js"

/**
 * What finds the workspaces that are due. Builds keep their deadlines, so `superseded` tells the latest from its predecessors: else a search
 * by deadline would read the history. `latest_ended_at` is when the job of the latest build ended. Triggers keep both.
 */
const columns = ddl(
  `ALTER TABLE workspace_builds ADD COLUMN superseded :boolean NOT NULL DEFAULT FALSE`,
  `ALTER TABLE workspaces ADD COLUMN latest_ended_at :timestamp`,
  `UPDATE workspace_builds SET superseded = TRUE
    WHERE EXISTS (SELECT 1 FROM workspaces w WHERE w.id = workspace_builds.workspace_id AND w.latest_build_id <> workspace_builds.id)`,
  `UPDATE workspaces SET latest_ended_at = (SELECT j.completed_at FROM provisioner_jobs j WHERE j.id = workspaces.latest_job_id)`
)

const indexes = ddl(
  `CREATE INDEX workspace_builds_by_deadline ON workspace_builds (deadline, workspace_id)
    WHERE deadline IS NOT NULL AND transition = 'start' AND NOT superseded`,
  `CREATE INDEX workspaces_started_by_owner ON workspaces (owner_id)
    WHERE latest_transition = 'start' AND dormant_at IS NULL AND NOT deleted`,
  `CREATE INDEX workspaces_by_next_start ON workspaces (next_start_at)
    WHERE next_start_at IS NOT NULL AND latest_transition = 'stop' AND dormant_at IS NULL AND NOT deleted`,
  `CREATE INDEX workspaces_without_next_start ON workspaces (autostart_schedule)
    WHERE next_start_at IS NULL AND autostart_schedule IS NOT NULL AND latest_transition = 'stop' AND dormant_at IS NULL AND NOT deleted`,
  `CREATE INDEX workspaces_by_failure ON workspaces (template_id, latest_ended_at) WHERE latest_status = 'failed' AND NOT deleted`,
  `CREATE INDEX workspaces_awake_by_use ON workspaces (template_id, last_used_at) WHERE dormant_at IS NULL AND NOT deleted`,
  `CREATE INDEX workspaces_by_deletion ON workspaces (deleting_at) WHERE deleting_at IS NOT NULL AND NOT deleted`,
  `CREATE INDEX templates_with_limits ON templates (id) WHERE failure_ttl_ms > 0 OR time_til_dormant_ms > 0`
)

const triggers = [
  {
    name: "workspaces_superseded_builds",
    when: "AFTER INSERT ON workspace_builds",
    statements: [
      `UPDATE workspace_builds SET superseded = TRUE
        WHERE workspace_id = NEW.workspace_id AND build_number < NEW.build_number AND NOT superseded`,
      `UPDATE workspaces SET latest_ended_at = (SELECT j.completed_at FROM provisioner_jobs j WHERE j.id = NEW.job_id)
        WHERE id = NEW.workspace_id AND latest_build_number <= NEW.build_number`
    ]
  },
  {
    name: "workspaces_latest_end",
    when: "AFTER UPDATE OF completed_at ON provisioner_jobs",
    statements: [`UPDATE workspaces SET latest_ended_at = NEW.completed_at WHERE latest_job_id = NEW.id`]
  }
]

export default Effect.zipRight(Effect.zipRight(columns, indexes), Effect.forEach(triggers, trigger, { discard: true }))
