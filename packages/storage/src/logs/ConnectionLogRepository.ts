import {
  ConnectionLogRepository,
  type ConnectionQuery,
  type ConnectionType,
  type FoundConnection,
  type WrittenConnection,
  webTypes
} from "@atelier/core/logs"
import { Effect } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { insertAll } from "../platform/Batch.js"
import { limited } from "../platform/Limit.js"
import { columnList, nullable, number, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, one, run, touched } from "../platform/Statement.js"
import { foundColumns, foundOrganization, foundUser } from "./Found.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../platform/Statements.js"

const columns = {
  id: uuid,
  connect_time: timestamp,
  organization_id: uuid,
  workspace_owner_id: uuid,
  workspace_id: uuid,
  workspace_name: text(),
  agent_name: text(),
  type: text<ConnectionType>(),
  ip: nullable(text()),
  code: nullable(number),
  user_id: nullable(uuid),
  user_agent: nullable(text()),
  slug_or_port: nullable(text()),
  connection_id: nullable(uuid),
  disconnect_time: nullable(timestamp),
  disconnect_reason: nullable(text())
}

const entry = row({ ...columns, workspace_owner_username: text() })
const counted = row({ count: number })

const readFound = (from: object): FoundConnection => {
  const found = entry(from)
  return {
    ...found,
    user: foundUser(from),
    organization: foundOrganization(from) ?? { id: found.organization_id, name: "", display_name: "", icon: "" }
  }
}

/** In the order of `columns`, which rows of one statement share. */
const stored = (of: WrittenConnection) => ({
  id: of.id,
  connect_time: of.connect_time,
  organization_id: of.organization_id,
  workspace_owner_id: of.workspace_owner_id,
  workspace_id: of.workspace_id,
  workspace_name: of.workspace_name,
  agent_name: of.agent_name,
  type: of.type,
  ip: of.ip,
  code: of.code,
  user_id: of.user_id,
  user_agent: of.user_agent,
  slug_or_port: of.slug_or_port,
  connection_id: of.connection_id,
  disconnect_time: of.disconnect_time,
  disconnect_reason: of.disconnect_reason,
  replica_id: of.replica_id
})

export const layer = service(
  ConnectionLogRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(`${columnList(columns, "p")}, n.username AS workspace_owner_username, ${foundColumns}`)

    /** Core's `merged`, on the row that is stored. */
    const merge = sql`ON CONFLICT (connection_id, workspace_id, agent_name) DO UPDATE SET
      connect_time = CASE WHEN excluded.connect_time < connection_logs.connect_time
        THEN excluded.connect_time ELSE connection_logs.connect_time END,
      ip = coalesce(connection_logs.ip, excluded.ip),
      code = coalesce(connection_logs.code, excluded.code),
      disconnect_time = coalesce(connection_logs.disconnect_time, excluded.disconnect_time),
      disconnect_reason = coalesce(connection_logs.disconnect_reason, excluded.disconnect_reason)`

    const matching = ({ filter, readable }: ConnectionQuery): Fragment => {
      const when = <A>(value: A | undefined, condition: (value: A) => Fragment): ReadonlyArray<Fragment> =>
        value === undefined ? [] : [condition(value)]
      const userWith = (column: string, name: string) =>
        sql`(SELECT x.id FROM users x WHERE lower(${sql.literal(`x.${column}`)}) = ${name} AND NOT x.deleted)`
      return sql.and([
        accessCondition(sql, readable, { id: "c.id", org: "c.organization_id" }),
        ...when(filter.organization_id, (id) => sql`c.organization_id = ${id}`),
        ...when(filter.workspace_owner_id, (id) => sql`c.workspace_owner_id = ${id}`),
        ...when(filter.workspace_owner, (name) => sql`c.workspace_owner_id IN ${userWith("username", name)}`),
        ...when(filter.workspace_owner_email, (email) => sql`c.workspace_owner_id IN ${userWith("email", email)}`),
        ...when(filter.type, (type) => sql`c.type = ${type}`),
        ...when(filter.user_id, (id) => sql`c.user_id = ${id}`),
        ...when(filter.username, (name) => sql`c.user_id IN ${userWith("username", name)}`),
        ...when(filter.user_email, (email) => sql`c.user_id IN ${userWith("email", email)}`),
        ...when(filter.connected_after, (at) => sql`c.connect_time >= ${at}`),
        ...when(filter.connected_before, (at) => sql`c.connect_time <= ${at}`),
        ...when(filter.workspace_id, (id) => sql`c.workspace_id = ${id}`),
        ...when(filter.connection_id, (id) => sql`c.connection_id = ${id}`),
        ...when(
          filter.status,
          (status) =>
            sql`c.type NOT IN ${sql.in(Array.from(webTypes))}
              AND ${status === "ongoing" ? sql`c.disconnect_time IS NULL` : sql`c.disconnect_time IS NOT NULL`}`
        )
      ])
    }

    return ConnectionLogRepository.of({
      upsert: (entries) => run(insertAll(sql, "connection_logs", entries.map(stored), merge)),
      endAbandoned: ({ limit, now, own, reason, since }) =>
        touched(
          // The condition stands outside too: PostgreSQL judges it again for a row that it has waited for
          sql`UPDATE connection_logs SET disconnect_reason = ${reason}, disconnect_time =
            (SELECT CASE WHEN e.at < connection_logs.connect_time THEN connection_logs.connect_time ELSE e.at END
              FROM (SELECT coalesce((SELECT r.updated_at FROM replicas r WHERE r.id = connection_logs.replica_id), ${now}) AS at) e)
            WHERE disconnect_time IS NULL AND id IN (SELECT c.id FROM connection_logs c WHERE c.replica_id <> ${own} AND c.disconnect_time IS NULL
              AND c.connect_time < ${since} AND NOT EXISTS (SELECT 1 FROM replicas r WHERE r.id = c.replica_id AND r.updated_at >= ${since}) LIMIT ${limit})
            RETURNING 1`
        ),
      beginVisit: (key, now, since) =>
        Effect.gen(function* () {
          const isKnown = yield* applied(
            sql`UPDATE connection_log_visits SET seen_at = ${now} WHERE key = ${key} AND seen_at > ${since} RETURNING key`
          )
          if (isKnown) return false
          // Of requests that find the session over at the same time, one begins the next
          return yield* applied(
            sql`INSERT INTO connection_log_visits (key, seen_at) VALUES (${key}, ${now})
              ON CONFLICT (key) DO UPDATE SET seen_at = excluded.seen_at WHERE connection_log_visits.seen_at <= ${since} RETURNING key`
          )
        }),
      forgetVisits: (before) => run(sql`DELETE FROM connection_log_visits WHERE seen_at <= ${before}`),
      page: ({ limit, offset, ...query }) =>
        all(
          readFound,
          sql`SELECT ${selected} FROM
            (SELECT c.* FROM connection_logs c WHERE ${matching(query)} ORDER BY c.connect_time DESC, c.id DESC ${limited(sql, { limit, offset })}) p
            JOIN users n ON n.id = p.workspace_owner_id
            LEFT JOIN users u ON u.id = p.user_id LEFT JOIN organizations o ON o.id = p.organization_id
            ORDER BY p.connect_time DESC, p.id DESC`
        ),
      count: (query, maximum) =>
        Effect.map(
          one(
            counted,
            sql`SELECT count(*) AS count FROM (SELECT 1 AS found FROM connection_logs c WHERE ${matching(query)} LIMIT ${maximum}) p`
          ),
          ({ count }) => count
        )
    })
  })
)
