import { Effect } from "effect"
import { ddl } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/**
 * Workspaces and their builds.
 *
 * The list of workspaces is ordered by whether the latest build runs, then by owner and name, and counted whole, whatever page is read
 * (workspaces.md §3.3). So a workspace's row repeats what that order and the filters need of other rows: its owner's name and the
 * outcome of its latest build. Triggers keep the copies, in the transaction of whatever changes the original: a build is added, a job
 * moves, a user is renamed. `workspace_counts` holds how many workspaces an organization has, so that counting does not read them.
 */
const tables = ddl(
  `CREATE TABLE workspaces (
    id :uuid PRIMARY KEY,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    owner_id :uuid NOT NULL REFERENCES users (id),
    organization_id :uuid NOT NULL REFERENCES organizations (id),
    template_id :uuid NOT NULL REFERENCES templates (id),
    deleted :boolean NOT NULL,
    name TEXT NOT NULL,
    autostart_schedule TEXT,
    ttl_ms :bigint,
    last_used_at :timestamp NOT NULL,
    dormant_at :timestamp,
    deleting_at :timestamp,
    automatic_updates TEXT NOT NULL CHECK (automatic_updates IN ('always', 'never')),
    favorite :boolean NOT NULL,
    next_start_at :timestamp,
    user_acl :json NOT NULL,
    group_acl :json NOT NULL,
    task_id :uuid,
    name_key TEXT NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
    is_shared :boolean NOT NULL GENERATED ALWAYS AS (user_acl <> '{}' OR group_acl <> '{}') STORED,
    is_dormant :boolean NOT NULL GENERATED ALWAYS AS (dormant_at IS NOT NULL) STORED,
    owner_key TEXT NOT NULL,
    latest_build_id :uuid,
    latest_build_number INTEGER NOT NULL DEFAULT 0,
    latest_job_id :uuid,
    latest_transition TEXT,
    latest_template_version_id :uuid,
    latest_status TEXT NOT NULL DEFAULT 'pending',
    list_rank INTEGER NOT NULL GENERATED ALWAYS AS (CASE WHEN latest_status = 'running' THEN 0 ELSE 1 END) STORED
  )`,
  // Unique without regard to case among those not deleted; a deleted one's name is free again
  `CREATE UNIQUE INDEX workspaces_owner_id_name_key ON workspaces (owner_id, name_key) WHERE NOT deleted`,
  `CREATE INDEX workspaces_by_owner ON workspaces (owner_id, name_key, created_at)`,
  // The list's order, whole and within what a filter leaves; `deleted` is in them because SQLite does not infer it from the condition
  `CREATE INDEX workspaces_in_order ON workspaces (list_rank, owner_key, name_key, id, deleted) WHERE NOT deleted`,
  `CREATE INDEX workspaces_by_organization ON workspaces (organization_id, list_rank, owner_key, name_key, id, deleted) WHERE NOT deleted`,
  `CREATE INDEX workspaces_by_template ON workspaces (template_id, list_rank, owner_key, name_key, id, deleted) WHERE NOT deleted`,
  `CREATE INDEX workspaces_by_status ON workspaces (latest_status, owner_key, name_key, id, deleted) WHERE NOT deleted`,
  `CREATE INDEX workspaces_by_version ON workspaces (latest_template_version_id, deleted) WHERE NOT deleted`,
  `CREATE INDEX workspaces_by_use ON workspaces (last_used_at, deleted) WHERE NOT deleted`,
  `CREATE INDEX workspaces_favorite ON workspaces (owner_id) WHERE favorite AND NOT deleted`,
  `CREATE INDEX workspaces_shared ON workspaces (is_shared, list_rank, owner_key, name_key, id, deleted) WHERE is_shared = TRUE AND NOT deleted`,
  `CREATE INDEX workspaces_dormant ON workspaces (is_dormant, list_rank, owner_key, name_key, id, deleted)
    WHERE is_dormant = TRUE AND NOT deleted`,
  `CREATE INDEX workspaces_by_latest_job ON workspaces (latest_job_id)`,
  `CREATE TABLE workspace_builds (
    id :uuid PRIMARY KEY,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    workspace_id :uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    template_version_id :uuid NOT NULL,
    build_number INTEGER NOT NULL,
    transition TEXT NOT NULL CHECK (transition IN ('start', 'stop', 'delete')),
    initiator_id :uuid NOT NULL,
    job_id :uuid NOT NULL REFERENCES provisioner_jobs (id),
    deadline :timestamp,
    max_deadline :timestamp,
    reason TEXT NOT NULL,
    daily_cost INTEGER NOT NULL,
    template_version_preset_id :uuid,
    has_ai_task :boolean,
    has_external_agent :boolean,
    initiator_ip TEXT NOT NULL,
    provisioner_state :bytes NOT NULL,
    CHECK (max_deadline IS NULL OR (deadline IS NOT NULL AND deadline <= max_deadline))
  )`,
  `CREATE UNIQUE INDEX workspace_builds_workspace_id_build_number ON workspace_builds (workspace_id, build_number)`,
  `CREATE UNIQUE INDEX workspace_builds_job_id ON workspace_builds (job_id)`,
  `CREATE INDEX workspace_builds_by_template_version ON workspace_builds (template_version_id)`,
  `CREATE TABLE workspace_build_parameters (
    workspace_build_id :uuid NOT NULL REFERENCES workspace_builds (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (workspace_build_id, name)
  )`,
  // Of those not deleted; in parts, by the last digit of the workspace's id, so that writers seldom wait for each other
  `CREATE TABLE workspace_counts (
    organization_id :uuid NOT NULL,
    part TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (organization_id, part)
  )`
)

/** The status of a job, read with a transition: core's `buildStatus(jobStatus(job), transition)`. */
export const status = (job: string, transition: string): string => `CASE
  WHEN ${job}.error <> '' THEN 'failed'
  WHEN ${job}.completed_at IS NOT NULL AND ${job}.canceled_at IS NOT NULL THEN 'canceled'
  WHEN ${job}.completed_at IS NOT NULL THEN CASE ${transition} WHEN 'start' THEN 'running' WHEN 'stop' THEN 'stopped' ELSE 'deleted' END
  WHEN ${job}.canceled_at IS NOT NULL THEN 'canceling'
  WHEN ${job}.started_at IS NULL THEN 'pending'
  ELSE CASE ${transition} WHEN 'start' THEN 'starting' WHEN 'stop' THEN 'stopping' ELSE 'deleting' END
END`

const addBuild = `UPDATE workspaces SET
    latest_build_id = NEW.id,
    latest_build_number = NEW.build_number,
    latest_job_id = NEW.job_id,
    latest_transition = NEW.transition,
    latest_template_version_id = NEW.template_version_id,
    latest_status = (SELECT ${status("j", "NEW.transition")} FROM provisioner_jobs j WHERE j.id = NEW.job_id)
  WHERE id = NEW.workspace_id AND latest_build_number < NEW.build_number`

const moveJob = `UPDATE workspaces SET latest_status = ${status("NEW", "latest_transition")} WHERE latest_job_id = NEW.id`

const renameOwner = `UPDATE workspaces SET owner_key = lower(NEW.username) WHERE owner_id = NEW.id`

const count = (row: "OLD" | "NEW", by: 1 | -1): string => `INSERT INTO workspace_counts (organization_id, part, count)
  SELECT ${row}.organization_id, substr(CAST(${row}.id AS TEXT), 36, 1), ${by} WHERE NOT ${row}.deleted
  ON CONFLICT (organization_id, part) DO UPDATE SET count = workspace_counts.count + excluded.count`

interface Trigger {
  readonly name: string
  readonly when: string
  readonly statements: ReadonlyArray<string>
}

const triggers: ReadonlyArray<Trigger> = [
  { name: "workspaces_latest_build", when: "AFTER INSERT ON workspace_builds", statements: [addBuild] },
  {
    name: "workspaces_latest_status",
    when: "AFTER UPDATE OF started_at, canceled_at, completed_at, error ON provisioner_jobs",
    statements: [moveJob]
  },
  { name: "workspaces_owner_key", when: "AFTER UPDATE OF username ON users", statements: [renameOwner] },
  { name: "workspace_counts_inserted", when: "AFTER INSERT ON workspaces", statements: [count("NEW", 1)] },
  {
    name: "workspace_counts_updated",
    when: "AFTER UPDATE OF organization_id, deleted ON workspaces",
    statements: [count("OLD", -1), count("NEW", 1)]
  },
  { name: "workspace_counts_deleted", when: "AFTER DELETE ON workspaces", statements: [count("OLD", -1)] }
]

const createTrigger = ({ name, statements, when }: Trigger) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const body = statements.map((statement) => `${statement};`).join("\n")
    yield* sql.dialect({
      postgres: () =>
        ddl(
          `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NULL; END $$`,
          `CREATE TRIGGER ${name} ${when} FOR EACH ROW EXECUTE FUNCTION ${name}()`
        ),
      sqlite: () => ddl(`CREATE TRIGGER ${name} ${when} BEGIN ${body} END`)
    })
  })

export default Effect.zipRight(tables, Effect.forEach(triggers, createTrigger, { discard: true }))
