import { indexes } from "../../platform/Indexes.js"

/**
 * Indexes that find the newest builds of a version, the owners of a template's workspaces and the workspaces of tasks without reading all builds or
 * all workspaces. The list's order has the version, so that outdated workspaces are found in the index alone.
 */
export default indexes(
  {
    workspaces_owners_by_template: "workspaces (template_id, owner_id, deleted) WHERE NOT deleted",
    workspaces_of_tasks: "workspaces (list_rank, owner_key, name_key, id, task_id, deleted) WHERE task_id IS NOT NULL AND NOT deleted",
    workspaces_in_order_with_version:
      "workspaces (list_rank, owner_key, name_key, id, latest_template_version_id, deleted) WHERE NOT deleted",
    workspace_builds_by_version_and_creation: "workspace_builds (template_version_id, transition, created_at, job_id)"
  },
  ["workspace_builds_by_template_version", "workspaces_in_order"]
)
