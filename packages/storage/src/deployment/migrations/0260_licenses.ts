import { ddl } from "../../platform/Schema.js"

/**
 * The licenses of the deployment. A token is too long for an index of PostgreSQL: its digest is unique. The last two indexes serve what licenses
 * count. deployment.md §6.
 */
export default ddl(
  `CREATE TABLE licenses (
    id :serial,
    uuid :uuid NOT NULL,
    uploaded_at :timestamp NOT NULL,
    exp :timestamp NOT NULL,
    token TEXT NOT NULL,
    token_digest :bytes NOT NULL
  )`,
  `CREATE UNIQUE INDEX licenses_token_digest ON licenses (token_digest)`,
  `CREATE INDEX workspace_builds_of_tasks ON workspace_builds (created_at) WHERE has_ai_task AND transition = 'start'`,
  `CREATE INDEX template_versions_external_agents ON template_versions (id) WHERE has_external_agent`
)
