import { ddl } from "../../platform/Schema.js"

/** Tasks and their stored conversations, and the apps of builds that work on them. */
export default ddl(
  `CREATE TABLE tasks (
    id :uuid PRIMARY KEY,
    created_at :timestamp NOT NULL,
    organization_id :uuid NOT NULL REFERENCES organizations (id),
    owner_id :uuid NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    workspace_id :uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    template_version_id :uuid NOT NULL,
    prompt TEXT NOT NULL,
    deleted_at :timestamp,
    name_key TEXT NOT NULL GENERATED ALWAYS AS (lower(name)) STORED
  )`,
  `CREATE UNIQUE INDEX tasks_owner_id_name_key ON tasks (owner_id, name_key) WHERE deleted_at IS NULL`,
  `CREATE INDEX tasks_by_owner ON tasks (owner_id, created_at, id) WHERE deleted_at IS NULL`,
  `CREATE INDEX tasks_by_organization ON tasks (organization_id, created_at, id) WHERE deleted_at IS NULL`,
  `CREATE INDEX tasks_by_creation ON tasks (created_at, id) WHERE deleted_at IS NULL`,
  `CREATE INDEX tasks_by_workspace ON tasks (workspace_id)`,
  `CREATE TABLE task_snapshots (
    task_id :uuid PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
    messages TEXT NOT NULL,
    stored_at :timestamp NOT NULL
  )`,
  `CREATE TABLE workspace_build_tasks (
    workspace_build_id :uuid PRIMARY KEY REFERENCES workspace_builds (id) ON DELETE CASCADE,
    agent_id :uuid NOT NULL,
    app_id :uuid NOT NULL
  )`
)
