import type { AppState } from "@atelier/core/agents"
import { Uuid, service } from "@atelier/core/platform"
import {
  type StoredOutline,
  type Workspace,
  WorkspaceAcl,
  type WorkspaceDetails,
  type WorkspacePage,
  type WorkspaceQuery,
  WorkspaceRepository,
  type WorkspaceStatus
} from "@atelier/core/workspaces"
import { Array as Arr, Effect, Schema } from "effect"
import { among } from "../platform/Among.js"
import { type Dialect, dialectOf, locking } from "../platform/Dialect.js"
import { json, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, one, prepared, run, runUnique } from "../platform/Statement.js"
import { organizations, owners, templates, workspaces } from "./columns.js"
import { selection } from "./Selection.js"
import { detailColumns as buildColumns, detailJoins as buildJoins, readDetails as readBuild } from "./builds/WorkspaceBuildRepository.js"
import { firstSlices, laterSlices, type Slices, type Total, type WorkspaceList, workspaceList } from "./WorkspaceList.js"
import { type Fragment, Statements } from "../platform/Statements.js"
import { type Selected, wideRows } from "../platform/WideRows.js"
import { workspaceStates } from "./WorkspaceStates.js"
import { workspaceTimes } from "./WorkspaceTimes.js"

/** The newest status of the workspace; a null id means that it has no status. */
export const appStatuses = selection("s", {
  id: nullable(uuid),
  created_at: nullable(timestamp),
  agent_id: nullable(uuid),
  app_id: nullable(uuid),
  state: nullable(text<AppState>()),
  message: nullable(text()),
  uri: nullable(text())
})

const sharedActors = row({
  shared_with: json(
    Schema.Array(
      Schema.Struct({ actor_type: Schema.Literal("user", "group"), id: Uuid.Uuid, name: Schema.String, avatar_url: Schema.String })
    )
  )
})

export const readAppStatus = (from: object, workspaceId: Uuid.Uuid): WorkspaceDetails["latest_app_status"] => {
  const { agent_id, app_id, created_at, id, message, state, uri } = appStatuses.read(from)
  if (id === null || created_at === null || agent_id === null || app_id === null || state === null) return null
  return { id, created_at, workspace_id: workspaceId, agent_id, app_id, state, message: message ?? "", uri: uri ?? "" }
}

const readDetails = (from: object): WorkspaceDetails => {
  const workspace = workspaces.read(from)
  const { avatar_url, username } = owners.read(from)
  return {
    ...workspace,
    owner_username: username,
    owner_avatar_url: avatar_url,
    organization_name: organizations.read(from).name,
    template: templates.read(from),
    latest_build: readBuild(from),
    latest_app_status: readAppStatus(from, workspace.id),
    ...sharedActors(from)
  }
}

/** Bytes of workspaces that are kept. */
const keptDetails = 2 ** 22

/** The column that rows are told apart by. */
const workspaceId: Selected = { name: "workspace_id", expression: "w.id" }

/** The columns that `readDetails` reads. */
const detailColumns = (sql: Statements): ReadonlyArray<Selected> => [
  ...[workspaces, owners, organizations, templates].flatMap(({ columns }) => columns),
  ...buildColumns,
  ...appStatuses.columns,
  { name: "shared_with", expression: `CASE WHEN w.is_shared THEN ${sql.dialect(actors)} ELSE '[]' END` }
]

const detailJoins = `JOIN users u ON u.id = w.owner_id
  JOIN organizations o ON o.id = w.organization_id
  JOIN templates t ON t.id = w.template_id
  JOIN workspace_builds b ON b.id = w.latest_build_id
  ${buildJoins}
  LEFT JOIN workspace_app_statuses s ON s.id =
    (SELECT x.id FROM workspace_app_statuses x WHERE x.workspace_id = w.id ORDER BY x.created_at DESC, x.id DESC LIMIT 1)`

/** Users and groups by the keys of an ACL, as a JSON list. */
const actors = {
  postgres: () => `(SELECT coalesce(json_agg(a), '[]') FROM (
    SELECT 'user' AS actor_type, x.id, x.name, x.avatar_url FROM users x
      WHERE NOT x.deleted AND x.id IN (SELECT CAST(key AS uuid) FROM jsonb_object_keys(w.user_acl) AS key)
    UNION ALL SELECT 'group', x.id, x.name, x.avatar_url FROM groups x
      WHERE x.id IN (SELECT CAST(key AS uuid) FROM jsonb_object_keys(w.group_acl) AS key)) a)`,
  sqlite:
    () => `(SELECT json_group_array(json_object('actor_type', a.actor_type, 'id', a.id, 'name', a.name, 'avatar_url', a.avatar_url)) || '' FROM (
    SELECT 'user' AS actor_type, x.id, x.name, x.avatar_url FROM users x
      WHERE NOT x.deleted AND x.id IN (SELECT key FROM json_each(w.user_acl))
    UNION ALL SELECT 'group', x.id, x.name, x.avatar_url FROM groups x WHERE x.id IN (SELECT key FROM json_each(w.group_acl))) a)`
}

/** A workspace, and one of its agents. */
const outlined = row({
  id: uuid,
  owner_id: uuid,
  organization_id: uuid,
  dormant_at: nullable(timestamp),
  user_acl: json(WorkspaceAcl),
  group_acl: json(WorkspaceAcl),
  name: text(),
  status: text<WorkspaceStatus>(),
  agent_id: nullable(uuid),
  agent_name: nullable(text())
})

const outlinesOf = (rows: ReadonlyArray<ReturnType<typeof outlined>>): ReadonlyArray<StoredOutline> =>
  Object.values(Arr.groupBy(rows, ({ id }) => id)).map((same) => {
    const { agent_id: _id, agent_name: _name, ...workspace } = same[0]
    return {
      ...workspace,
      agents: same.flatMap(({ agent_id: id, agent_name: name }) => (id === null || name === null ? [] : [{ id, name }]))
    }
  })

const counted = row({ count: number, favorites: number })
const lengthOf = row({ list_length: nullable(number) })
const identified = row({ id: uuid })

/** The columns of a row. */
const stored = ({ deleted, favorite, group_acl, user_acl, ...workspace }: Workspace, bool: Dialect["boolean"]) => ({
  ...workspace,
  deleted: bool(deleted),
  favorite: bool(favorite),
  user_acl: JSON.stringify(user_acl),
  group_acl: JSON.stringify(group_acl)
})

interface Details {
  readonly details: Fragment
  readonly read: (from: object) => WorkspaceDetails
  readonly joined: Fragment
}

/** Reads the pages of lists. */
const pages = (sql: Statements, { details, joined, read }: Details): WorkspaceRepository["Type"]["page"] => {
  const totalOf = (list: WorkspaceList) => one(counted, list.total)

  const pageOf = (list: WorkspaceList, slices: Slices, { columns = details, total }: { columns?: Fragment; total?: Total } = {}) =>
    sql`${list.page(slices, total)} SELECT ${columns} FROM page JOIN workspaces w ON w.id = page.id ${joined}
      ORDER BY ${list.order} LIMIT ${slices.size}`

  /** A length that is known without counting comes with the page. */
  const firstPage = (list: WorkspaceList, query: WorkspaceQuery): Effect.Effect<WorkspacePage> =>
    Effect.gen(function* () {
      const slices = firstSlices(query)
      const columns = list.knownCount === undefined ? details : sql`${details}, ${list.knownCount} AS list_length`
      const rows = yield* all((from) => ({ ...lengthOf(from), workspace: read(from) }), pageOf(list, slices, { columns }))
      const [first] = rows
      const isFull = first !== undefined && rows.length >= slices.size
      // A page that is not full ends the list
      const count = isFull ? (first.list_length ?? (yield* totalOf(list)).count) : rows.length
      return { workspaces: rows.map(({ workspace }) => workspace), count }
    })

  const countedPage = (list: WorkspaceList, query: WorkspaceQuery): Effect.Effect<WorkspacePage> =>
    Effect.gen(function* () {
      const total = yield* totalOf(list)
      const slices = laterSlices(query, total)
      return { count: total.count, workspaces: slices.size === 0 ? [] : yield* all(read, pageOf(list, slices, { total })) }
    })

  return (query) => {
    const list = workspaceList(sql, query)
    return query.offset === 0 && !list.isSought ? firstPage(list, query) : countedPage(list, query)
  }
}

export const layer = service(
  WorkspaceRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)
    const selected = sql.literal(workspaces.list)
    const columns = detailColumns(sql)
    const { list, remembering } = wideRows(sql, [workspaceId, ...columns])
    const details = sql.literal(list)
    const read = remembering(keptDetails, readDetails)
    const joined = sql.literal(detailJoins)
    /** The lock keeps the owner from being renamed or deleted while the name is copied. */
    const locked = locking(sql, "FOR SHARE")

    const forUpdate = locking(sql, "FOR NO KEY UPDATE")
    const forUpdateOfFree = locking(sql, "FOR NO KEY UPDATE SKIP LOCKED")

    const byId = prepared(sql, "uuid", sql`SELECT ${selected} FROM workspaces w WHERE w.id = ${""}`)

    return WorkspaceRepository.of({
      ...workspaceTimes(sql),
      ...workspaceStates(sql, columns, joined),
      byId: (id) => first(workspaces.read, byId(id)),
      byIds: (ids) => all(workspaces.read, sql`SELECT ${selected} FROM workspaces w WHERE ${among(sql, sql`w.id`, ids)}`),
      details: (id) => first(read, sql`SELECT ${details} FROM workspaces w ${joined} WHERE w.id = ${id}`),
      detailsOf: (ids) => all(read, sql`SELECT ${details} FROM workspaces w ${joined} WHERE ${among(sql, sql`w.id`, ids)}`),
      idByName: (ownerId, name, includeDeleted) =>
        first(
          (from) => identified(from).id,
          sql`SELECT w.id FROM workspaces w WHERE ${sql.and([
            sql`w.owner_id = ${ownerId}`,
            sql`w.name_key = lower(${name})`,
            ...(includeDeleted ? [] : [sql`NOT w.deleted`])
          ])} ORDER BY w.deleted, w.created_at DESC, w.id DESC LIMIT 1`
        ),
      page: pages(sql, { details, read, joined }),
      outlines: (ownerId) =>
        Effect.map(
          all(
            outlined,
            sql`SELECT w.id, w.owner_id, w.organization_id, w.dormant_at, w.user_acl, w.group_acl, w.name, w.latest_status AS status,
                a.id AS agent_id, a.name AS agent_name
              FROM workspaces w
              JOIN workspace_builds b ON b.id = w.latest_build_id
              LEFT JOIN workspace_resources r ON r.job_id = b.job_id
              LEFT JOIN workspace_agents a ON a.resource_id = r.id AND NOT a.deleted
              WHERE w.owner_id = ${ownerId} AND NOT w.deleted
              ORDER BY w.id, a.id`
          ),
          outlinesOf
        ),
      insert: (workspace) => {
        const values = Object.entries(stored(workspace, bool))
        return runUnique(
          Effect.map(
            sql`INSERT INTO workspaces (${sql.literal(values.map(([name]) => name).join(", "))}, owner_key)
              SELECT ${sql.csv(values.map(([, value]) => sql`${value}`))}, lower(username) FROM users WHERE id = ${workspace.owner_id} AND NOT deleted ${locked}
              RETURNING id`,
            (rows) => rows.length > 0
          )
        )
      },
      rename: (id, name, at) => runUnique(Effect.asVoid(sql`UPDATE workspaces SET name = ${name}, updated_at = ${at} WHERE id = ${id}`)),
      lock: (id) => first(workspaces.read, sql`SELECT ${selected} FROM workspaces w WHERE w.id = ${id} ${forUpdate}`),
      lockFree: (ids) =>
        all(workspaces.read, sql`SELECT ${selected} FROM workspaces w WHERE ${among(sql, sql`w.id`, ids)} ${forUpdateOfFree}`),
      updateSettings: (workspace) => {
        const {
          automatic_updates,
          autostart_schedule,
          deleting_at,
          dormant_at,
          expires_at,
          favorite,
          id,
          last_used_at,
          next_start_at,
          ttl_ms,
          updated_at
        } = stored(workspace, bool)
        const settings = {
          automatic_updates,
          autostart_schedule,
          deleting_at,
          dormant_at,
          expires_at,
          favorite,
          last_used_at,
          next_start_at,
          ttl_ms,
          updated_at
        }
        return run(sql`UPDATE workspaces SET ${sql.update(settings)} WHERE id = ${id}`)
      },
      markDeleted: (id, at) =>
        applied(sql`UPDATE workspaces SET deleted = ${bool(true)}, updated_at = ${at} WHERE id = ${id} AND NOT deleted RETURNING id`)
    })
  })
)
