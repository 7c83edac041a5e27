import { type AuditAction, AuditDiff, type AuditedType } from "@atelier/core/audit"
import { AuditLogRepository, type AuditQuery, type FoundEntry } from "@atelier/core/logs"
import { Effect, Schema } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { limited } from "../platform/Limit.js"
import { boolean, columnList, json, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, one } from "../platform/Statement.js"
import { foundColumns, foundOrganization, foundUser } from "./Found.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../platform/Statements.js"

const columns = {
  id: uuid,
  time: timestamp,
  user_id: uuid,
  organization_id: uuid,
  ip: text(),
  user_agent: text(),
  resource_type: text<AuditedType>(),
  resource_id: uuid,
  resource_target: text(),
  action: text<AuditAction>(),
  diff: json(AuditDiff),
  status_code: number,
  additional_fields: json(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  request_id: uuid
}

const entry = row({ ...columns, is_deleted: boolean, owner_username: text() })
const counted = row({ count: number })

const readFound = (from: object): FoundEntry => ({ ...entry(from), user: foundUser(from), organization: foundOrganization(from) })

/** The workspace of a build, an agent or an app, by the table that names it. */
const workspaceOf = {
  workspace_build: "workspace_builds b JOIN workspaces w ON w.id = b.workspace_id WHERE b.id = p.resource_id",
  workspace_agent: `workspace_agents a JOIN workspace_resources r ON r.id = a.resource_id JOIN workspace_builds b ON b.job_id = r.job_id
    JOIN workspaces w ON w.id = b.workspace_id WHERE a.id = p.resource_id`,
  workspace_app: `workspace_apps x JOIN workspace_agents a ON a.id = x.agent_id JOIN workspace_resources r ON r.id = a.resource_id
    JOIN workspace_builds b ON b.job_id = r.job_id JOIN workspaces w ON w.id = b.workspace_id WHERE x.id = p.resource_id`
}

const missing = (from: string): string => `NOT EXISTS (SELECT 1 FROM ${from})`

/** Whether the object of an entry `p` is gone. The service keeps no chats and no MCP servers; objects of other types count as there. */
const isDeleted = `CASE p.resource_type
  WHEN 'template' THEN ${missing("templates t WHERE t.id = p.resource_id AND NOT t.deleted")}
  WHEN 'user' THEN ${missing("users x WHERE x.id = p.resource_id AND NOT x.deleted")}
  WHEN 'workspace' THEN ${missing("workspaces w WHERE w.id = p.resource_id AND NOT w.deleted")}
  ${Object.entries(workspaceOf)
    .map(([type, from]) => `WHEN '${type}' THEN ${missing(`${from} AND NOT w.deleted`)}`)
    .join("\n  ")}
  WHEN 'user_secret' THEN ${missing("user_secrets s WHERE s.id = p.resource_id")}
  WHEN 'oauth2_provider_app' THEN ${missing("oauth2_apps x WHERE x.id = p.resource_id")}
  WHEN 'oauth2_provider_app_secret' THEN ${missing("oauth2_app_secrets x WHERE x.id = p.resource_id")}
  WHEN 'chat' THEN 1 = 1
  WHEN 'mcp_server_config' THEN 1 = 1
  WHEN 'task' THEN ${missing("tasks k WHERE k.id = p.resource_id AND k.deleted_at IS NULL")}
  ELSE 1 = 0 END`

const ownerName = `coalesce(CASE p.resource_type
  WHEN 'workspace' THEN (SELECT x.username FROM workspaces w JOIN users x ON x.id = w.owner_id WHERE w.id = p.resource_id)
  WHEN 'workspace_build' THEN (SELECT x.username FROM workspace_builds b JOIN workspaces w ON w.id = b.workspace_id
    JOIN users x ON x.id = w.owner_id WHERE b.id = p.resource_id)
  WHEN 'task' THEN (SELECT x.username FROM tasks k JOIN users x ON x.id = k.owner_id WHERE k.id = p.resource_id)
  END, '')`

export const layer = service(
  AuditLogRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(`${columnList(columns, "p")}, ${isDeleted} AS is_deleted, ${ownerName} AS owner_username, ${foundColumns}`)

    const matching = ({ filter, readable }: AuditQuery): Fragment => {
      const when = <A>(value: A | undefined, condition: (value: A) => Fragment): ReadonlyArray<Fragment> =>
        value === undefined ? [] : [condition(value)]
      return sql.and([
        accessCondition(sql, readable, { id: "a.id", org: "a.organization_id" }),
        ...when(filter.resource_type, (type) => sql`a.resource_type = ${type}`),
        ...when(filter.resource_id, (id) => sql`a.resource_id = ${id}`),
        ...when(filter.resource_target, (target) => sql`a.resource_target = ${target}`),
        ...when(filter.action, (action) => sql`a.action = ${action}`),
        ...when(filter.user_id, (id) => sql`a.user_id = ${id}`),
        ...when(
          filter.username,
          (name) => sql`a.user_id IN (SELECT u.id FROM users u WHERE lower(u.username) = ${name} AND NOT u.deleted)`
        ),
        ...when(
          filter.email,
          (email) => sql`a.user_id IN (SELECT u.id FROM users u WHERE lower(u.email) = ${email} AND u.email <> '' AND NOT u.deleted)`
        ),
        ...when(filter.organization_id, (id) => sql`a.organization_id = ${id}`),
        ...when(filter.request_id, (id) => sql`a.request_id = ${id}`),
        ...when(filter.from, (at) => sql`a.time >= ${at}`),
        ...when(filter.to, (at) => sql`a.time <= ${at}`),
        ...when(
          filter.build_reason,
          (reason) => sql`CASE
            WHEN a.resource_type = 'workspace_build' THEN EXISTS
              (SELECT 1 FROM workspace_builds b WHERE b.id = a.resource_id AND b.reason = ${reason})
            WHEN a.resource_type = 'workspace' AND a.action = 'create' THEN EXISTS
              (SELECT 1 FROM workspace_builds b WHERE b.workspace_id = a.resource_id AND b.build_number = 1 AND b.reason = ${reason})
            ELSE 1 = 0 END`
        )
      ])
    }

    return AuditLogRepository.of({
      page: ({ limit, offset, ...query }) =>
        all(
          readFound,
          sql`SELECT ${selected} FROM
            (SELECT a.* FROM audit_logs a WHERE ${matching(query)} ORDER BY a.time DESC, a.id DESC ${limited(sql, { limit, offset })}) p
            LEFT JOIN users u ON u.id = p.user_id LEFT JOIN organizations o ON o.id = p.organization_id
            ORDER BY p.time DESC, p.id DESC`
        ),
      count: (query, maximum) =>
        Effect.map(
          one(
            counted,
            sql`SELECT count(*) AS count FROM (SELECT 1 AS found FROM audit_logs a WHERE ${matching(query)} LIMIT ${maximum}) c`
          ),
          ({ count }) => count
        )
    })
  })
)
