import { InboxRepository, MessagePayload } from "@atelier/core/notifications"
import { Effect } from "effect"
import { among } from "../platform/Among.js"
import { limited } from "../platform/Limit.js"
import { columnList, json, nullable, number, row, text, timestamp, uuid, uuids } from "../platform/Row.js"
import { all, applied, first, one, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const columns = {
  id: uuid,
  user_id: uuid,
  template_id: uuid,
  targets: uuids,
  title: text(),
  content: text(),
  actions: json(MessagePayload.fields.actions),
  read_at: nullable(timestamp),
  created_at: timestamp
}
const notification = row(columns)
const counted = row({ unread: number })

export const layer = service(
  InboxRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(`SELECT ${columnList(columns, "n")} FROM inbox_notifications n`)
    const hasTargets = (targets: ReadonlyArray<string>) =>
      sql.dialect({
        postgres: () => sql`n.targets @> CAST(${JSON.stringify(targets)} AS jsonb)`,
        sqlite: () =>
          sql`NOT EXISTS (SELECT 1 FROM json_each(${JSON.stringify(targets)}) t
            WHERE t.value NOT IN (SELECT value FROM json_each(n.targets)))`
      })

    return InboxRepository.of({
      insert: ({ actions, targets, ...row }) =>
        applied(
          sql`INSERT INTO inbox_notifications ${sql.insert({ ...row, targets: JSON.stringify(targets), actions: JSON.stringify(actions) })}
            ON CONFLICT (id) DO NOTHING RETURNING id`
        ),
      byId: (id) => first(notification, sql`${selected} WHERE n.id = ${id}`),
      page: (userId, { read_status, targets, templates }, { limit, starting_before }) =>
        all(
          notification,
          sql`${selected} WHERE ${sql.and([
            sql`n.user_id = ${userId}`,
            ...(targets.length === 0 ? [] : [hasTargets(targets)]),
            ...(templates.length === 0 ? [] : [among(sql, sql`n.template_id`, templates)]),
            ...(read_status === "all" ? [] : [read_status === "read" ? sql`n.read_at IS NOT NULL` : sql`n.read_at IS NULL`]),
            ...(starting_before === undefined
              ? []
              : [
                  sql`(NOT EXISTS (SELECT 1 FROM inbox_notifications c WHERE c.id = ${starting_before} AND c.user_id = ${userId})
                    OR (n.created_at, n.id) < (SELECT c.created_at, c.id FROM inbox_notifications c WHERE c.id = ${starting_before}))`
                ])
          ])} ORDER BY n.created_at DESC, n.id DESC ${limited(sql, { limit })}`
        ),
      unread: (userId) =>
        Effect.map(
          one(counted, sql`SELECT COUNT(*) AS unread FROM inbox_notifications WHERE user_id = ${userId} AND read_at IS NULL`),
          ({ unread }) => unread
        ),
      setRead: (id, read_at) => run(sql`UPDATE inbox_notifications SET read_at = ${read_at} WHERE id = ${id}`),
      markAllRead: (userId, read_at) =>
        run(sql`UPDATE inbox_notifications SET read_at = ${read_at} WHERE user_id = ${userId} AND read_at IS NULL`)
    })
  })
)
