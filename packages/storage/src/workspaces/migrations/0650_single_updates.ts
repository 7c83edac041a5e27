import { Effect } from "effect"
import { ddl, trigger } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"
import { status } from "./0050_workspaces.js"

/**
 * A new build, and a job that moves, change the row of a workspace by one update where two triggers took one each. Each update of that row writes entries of
 * a score of indexes on PostgreSQL.
 */
const dropped = [
  ["workspaces_latest_build", "workspace_builds"],
  ["workspaces_superseded_builds", "workspace_builds"],
  ["workspaces_latest_status", "provisioner_jobs"],
  ["workspaces_latest_end", "provisioner_jobs"]
] as const

const drop = Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () => ddl(...dropped.flatMap(([name, table]) => [`DROP TRIGGER ${name} ON ${table}`, `DROP FUNCTION ${name}()`])),
    sqlite: () => ddl(...dropped.map(([name]) => `DROP TRIGGER ${name}`))
  })
)

const ofNewJob = (expression: string): string => `(SELECT ${expression} FROM provisioner_jobs j WHERE j.id = NEW.job_id)`

const triggers = [
  {
    name: "workspaces_latest_build",
    when: "AFTER INSERT ON workspace_builds",
    statements: [
      `UPDATE workspaces SET
          latest_build_id = NEW.id,
          latest_build_number = NEW.build_number,
          latest_job_id = NEW.job_id,
          latest_transition = NEW.transition,
          latest_template_version_id = NEW.template_version_id,
          latest_status = ${ofNewJob(status("j", "NEW.transition"))},
          latest_ended_at = ${ofNewJob("j.completed_at")}
        WHERE id = NEW.workspace_id AND latest_build_number < NEW.build_number`,
      `UPDATE workspace_builds SET superseded = TRUE
        WHERE workspace_id = NEW.workspace_id AND build_number < NEW.build_number AND NOT superseded`
    ]
  },
  {
    name: "workspaces_latest_status",
    when: "AFTER UPDATE OF started_at, canceled_at, completed_at, error ON provisioner_jobs",
    statements: [
      `UPDATE workspaces SET latest_status = ${status("NEW", "latest_transition")}, latest_ended_at = NEW.completed_at
        WHERE latest_job_id = NEW.id`
    ]
  }
]

export default Effect.zipRight(drop, Effect.forEach(triggers, trigger, { discard: true }))
