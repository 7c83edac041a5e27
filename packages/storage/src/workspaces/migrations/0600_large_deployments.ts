import { ddl } from "../../platform/Schema.js"

/**
 * Indexes that find the newest builds of a version, the owners of a template's workspaces and the workspaces of tasks without reading all builds or
 * all workspaces. The list's order has the version, so that outdated workspaces are found in the index alone. Those that they replace go last: servers of
 * the version before can read until then.
 */
export default ddl(
  `CREATE INDEX workspaces_owners_by_template ON workspaces (template_id, owner_id, deleted) WHERE NOT deleted`,
  `CREATE INDEX workspaces_of_tasks ON workspaces (list_rank, owner_key, name_key, id, task_id, deleted) WHERE task_id IS NOT NULL AND NOT deleted`,
  `CREATE INDEX workspaces_in_order_with_version ON workspaces (list_rank, owner_key, name_key, id, latest_template_version_id, deleted) WHERE NOT deleted`,
  `CREATE INDEX workspace_builds_by_version_and_creation ON workspace_builds (template_version_id, transition, created_at, job_id)`,
  `DROP INDEX workspace_builds_by_template_version`,
  `DROP INDEX workspaces_in_order`
)
