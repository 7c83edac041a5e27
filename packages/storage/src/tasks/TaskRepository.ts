import type { AgentLifecycle, AppHealth } from "@atelier/core/agents"
import { Timestamp, service } from "@atelier/core/platform"
import { type TaskDetails, TaskRepository } from "@atelier/core/tasks"
import { Effect, Schema } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { json, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, run, runUnique } from "../platform/Statement.js"
import { builds, jobs, owners, templates, workspaces } from "../workspaces/columns.js"
import { selection } from "../workspaces/Selection.js"
import { appStatuses, readAppStatus } from "../workspaces/WorkspaceRepository.js"
import { locking } from "../platform/Dialect.js"
import { type Fragment, Statements } from "../platform/Statements.js"

const tasks = selection("k", {
  id: uuid,
  created_at: timestamp,
  organization_id: uuid,
  owner_id: uuid,
  name: text(),
  display_name: text(),
  workspace_id: uuid,
  template_version_id: uuid,
  prompt: text(),
  deleted_at: nullable(timestamp)
})

/** The agent of the latest build's app; a null id means that the build has none. */
const agents = selection("a", {
  id: nullable(uuid),
  created_at: nullable(timestamp),
  connection_timeout_seconds: nullable(number),
  first_connected_at: nullable(timestamp),
  last_connected_at: nullable(timestamp),
  disconnected_at: nullable(timestamp),
  lifecycle_state: nullable(text<AgentLifecycle>())
})

/** The app; a null id means that the build has none. */
const apps = selection("p", {
  id: nullable(uuid),
  slug: nullable(text()),
  url: nullable(text()),
  health: nullable(text<AppHealth>())
})

const messages = Schema.Array(
  Schema.Struct({
    id: Schema.Number,
    role: Schema.Literal("user", "agent"),
    content: Schema.String,
    time: Timestamp.Timestamp
  })
)
const snapshot = row({ messages: json(messages), stored_at: timestamp })

const readAgent = (from: object): TaskDetails["agent"] => {
  const { connection_timeout_seconds, created_at, id, lifecycle_state, ...times } = agents.read(from)
  return id === null || created_at === null || connection_timeout_seconds === null || lifecycle_state === null
    ? null
    : { ...times, id, created_at, connection_timeout_seconds, lifecycle_state }
}

const readApp = (from: object): TaskDetails["app"] => {
  const { health, id, slug, url } = apps.read(from)
  return id === null || slug === null || url === null || health === null ? null : { id, slug, url, health }
}

const readDetails = (from: object): TaskDetails => {
  const { avatar_url, username } = owners.read(from)
  const { build_number, created_at, transition } = builds.read(from)
  const workspace = workspaces.read(from)
  return {
    ...tasks.read(from),
    owner_username: username,
    owner_avatar_url: avatar_url,
    workspace,
    template: templates.read(from),
    build: { build_number, created_at, transition, job: jobs.read(from) },
    agent: readAgent(from),
    app: readApp(from),
    latest_app_status: readAppStatus(from, workspace.id)
  }
}

const detailColumns = [tasks, owners, workspaces, templates, builds, jobs, agents, apps, appStatuses].map(({ list }) => list).join(", ")

// Agents of earlier builds are deleted, and with them what the task shows of them
const detailTables = `tasks k
  JOIN users u ON u.id = k.owner_id
  JOIN workspaces w ON w.id = k.workspace_id
  JOIN templates t ON t.id = w.template_id
  JOIN workspace_builds b ON b.id = w.latest_build_id
  JOIN provisioner_jobs j ON j.id = b.job_id
  LEFT JOIN workspace_build_tasks l ON l.workspace_build_id = b.id
  LEFT JOIN workspace_agents a ON a.id = l.agent_id AND NOT a.deleted
  LEFT JOIN workspace_apps p ON p.id = l.app_id AND p.agent_id = a.id
  LEFT JOIN workspace_app_statuses s ON s.id =
    (SELECT x.id FROM workspace_app_statuses x WHERE x.workspace_id = w.id ORDER BY x.created_at DESC, x.id DESC LIMIT 1)`

/** The shares of a dormant workspace grant nothing. */
const aclOf = (column: string): string => `(CASE WHEN w.dormant_at IS NULL THEN w.${column} ELSE '{}' END)`

const columns = { id: "k.id", org: "k.organization_id", owner: "k.owner_id", userAcl: aclOf("user_acl"), groupAcl: aclOf("group_acl") }

export const layer = service(
  TaskRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(`SELECT ${detailColumns} FROM ${detailTables}`)
    const live = sql`k.deleted_at IS NULL`
    const one = (condition: Fragment) => first(readDetails, sql`${selected} WHERE ${live} AND ${condition}`)
    const forShare = locking(sql, "FOR SHARE OF w")
    const dropSnapshot = (id: string) => run(sql`DELETE FROM task_snapshots WHERE task_id = ${id}`)

    return TaskRepository.of({
      byId: (id) => one(sql`k.id = ${id}`),
      byName: (ownerId, name) => one(sql`k.owner_id = ${ownerId} AND k.name_key = lower(${name})`),
      list: (readable, { organization_id, owner_id }) =>
        all(
          readDetails,
          sql`${selected} WHERE ${sql.and([
            live,
            accessCondition(sql, readable, columns),
            ...(owner_id === undefined ? [] : [sql`k.owner_id = ${owner_id}`]),
            ...(organization_id === undefined ? [] : [sql`k.organization_id = ${organization_id}`])
          ])} ORDER BY k.created_at DESC, k.id DESC`
        ),
      insert: (task) => runUnique(Effect.asVoid(sql`INSERT INTO tasks ${sql.insert({ ...task })}`)),
      setPrompt: (id, prompt) =>
        applied(
          sql`UPDATE tasks SET prompt = ${prompt} WHERE id IN
            (SELECT k.id FROM tasks k JOIN workspaces w ON w.id = k.workspace_id
              WHERE k.id = ${id} AND k.deleted_at IS NULL AND w.latest_status IN ('stopped', 'deleted') ${forShare}) RETURNING id`
        ),
      delete: (id, at) =>
        Effect.zipRight(
          dropSnapshot(id),
          applied(sql`UPDATE tasks SET deleted_at = ${at} WHERE id = ${id} AND deleted_at IS NULL RETURNING id`)
        ),
      snapshot: (id) => first(snapshot, sql`SELECT messages, stored_at FROM task_snapshots WHERE task_id = ${id}`),
      putSnapshot: (id, workspaceId, { messages, stored_at }) =>
        applied(
          sql`INSERT INTO task_snapshots (task_id, messages, stored_at)
            SELECT id, ${JSON.stringify(messages)}, ${stored_at} FROM tasks
            WHERE id = ${id} AND workspace_id = ${workspaceId} AND deleted_at IS NULL
            ON CONFLICT (task_id) DO UPDATE SET messages = excluded.messages, stored_at = excluded.stored_at RETURNING task_id`
        )
    })
  })
)
