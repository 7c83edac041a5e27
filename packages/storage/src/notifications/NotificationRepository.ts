import { SqlClient, type SqlError, type Statement } from "@effect/sql"
import {
  MessagePayload,
  type MessageStatus,
  type NotificationMessage,
  NotificationRepository,
  type Recipients
} from "@atelier/core/notifications"
import { Effect, Option } from "effect"
import { among } from "../platform/Among.js"
import { insertAll } from "../platform/Batch.js"
import { dialectOf, inDialect, locking } from "../platform/Dialect.js"
import { boolean, columnList, json, nullable, number, row, text, timestamp, uuid, uuids } from "../platform/Row.js"
import { all, applied, first, run, touched } from "../platform/Statement.js"
import { isRetryable } from "../platform/store/Transactor.js"
import { dieOf, isUnavailable, orDefect } from "../platform/Unavailability.js"
import { service } from "@atelier/core/platform"

const recipient = row({ id: uuid, username: text(), name: text(), email: text(), disabled: nullable(boolean) })

const messageColumns = {
  id: uuid,
  template_id: uuid,
  user_id: uuid,
  method: text(),
  status: text<MessageStatus>(),
  status_reason: text(),
  created_by: text(),
  payload: json(MessagePayload),
  targets: uuids,
  attempt_count: number,
  due_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
  dedupe_hash: text()
}
const leased = row({ ...messageColumns, lease_id: uuid })
const wish = row({ id: uuid, is_wanted: boolean })
const preference = row({ id: uuid, disabled: boolean, updated_at: timestamp })
const chosen = row({ template_id: uuid, method: text() })
const paused = row({ notifier_paused: boolean })

const stored = ({ payload, targets, ...message }: NotificationMessage) => ({
  ...message,
  payload: JSON.stringify(payload),
  targets: JSON.stringify(targets)
})

/** Whether the surrounding transaction fails for the same reason: it is run again, or the store is away. */
const concernsAll = (error: SqlError.SqlError): boolean => isRetryable(error) || isUnavailable(error)

export const layer = service(
  NotificationRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const { boolean: bool } = dialectOf(sql)

    /** Returns the condition that a user has one of some roles. It names them as the index of users with roles does. */
    const holds = (roles: ReadonlyArray<string>): Statement.Fragment =>
      sql`u.rbac_roles <> '[]' AND ${inDialect(sql, {
        postgres: () =>
          sql`jsonb_exists_any(u.rbac_roles, ARRAY(SELECT jsonb_array_elements_text(CAST(${JSON.stringify(roles)} AS jsonb))))`,
        sqlite: () =>
          sql`EXISTS (SELECT 1 FROM json_each(u.rbac_roles) r WHERE r.value IN (SELECT value FROM json_each(${JSON.stringify(roles)})))`
      })}`

    const conditions = ({ except, members_of, roles, users }: Recipients): ReadonlyArray<Statement.Fragment> => [
      sql`NOT u.deleted`,
      sql`NOT u.is_system`,
      ...(users === undefined ? [] : [among(sql, sql`u.id`, users)]),
      ...(roles === undefined ? [] : [holds(roles)]),
      ...(except === undefined ? [] : [sql`u.id <> ${except}`]),
      ...(members_of === undefined
        ? []
        : [sql`EXISTS (SELECT 1 FROM organization_members m WHERE m.organization_id = ${members_of} AND m.user_id = u.id)`])
    ]

    const pausedNow = sql`SELECT notifier_paused FROM notification_settings WHERE id = 1`
    const flagOf = Option.map(({ notifier_paused }: { readonly notifier_paused: boolean }) => notifier_paused)

    return NotificationRepository.of({
      recipients: (templateId, to) =>
        to.users === undefined && to.roles === undefined
          ? Effect.succeed([])
          : all(
              recipient,
              sql`SELECT u.id, u.username, u.name, u.email, p.disabled FROM users u
                LEFT JOIN notification_preferences p ON p.user_id = u.id AND p.template_id = ${templateId}
                WHERE ${sql.and([...conditions(to)])} ORDER BY u.id`
            ),
      methods: Effect.map(
        all(chosen, sql`SELECT template_id, method FROM notification_methods`),
        (rows) => new Map(rows.map(({ method, template_id }) => [template_id, method]))
      ),
      setMethod: (template_id, method) =>
        run(
          sql`INSERT INTO notification_methods ${sql.insert({ template_id, method })}
            ON CONFLICT (template_id) DO UPDATE SET method = excluded.method`
        ),
      enqueue: (messages) =>
        // A transaction of its own is a savepoint within another: a refused row undoes nothing but the messages
        sql.withTransaction(insertAll(sql, "notification_messages", messages.map(stored), sql`ON CONFLICT (dedupe_hash) DO NOTHING`)).pipe(
          Effect.as(Option.none<string>()),
          Effect.catchAll((error) => (concernsAll(error) ? dieOf(error) : Effect.succeedSome(error.message)))
        ),
      lease: (now, { id: leaseId, limit, maxSendAttempts, until }) =>
        Effect.gen(function* () {
          const skip = locking(sql, "FOR UPDATE SKIP LOCKED")
          const messages = yield* all(
            leased,
            sql`UPDATE notification_messages SET status = 'leased', due_at = ${until}, lease_id = ${leaseId}, updated_at = ${now}
              WHERE id IN (SELECT id FROM notification_messages
                WHERE due_at IS NOT NULL AND due_at <= ${now}
                  AND (status = 'leased' OR (status IN ('pending', 'temporary_failure') AND attempt_count < ${maxSendAttempts}))
                  AND NOT EXISTS (SELECT 1 FROM notification_settings WHERE notifier_paused)
                ORDER BY due_at, id LIMIT ${limit} ${skip})
              RETURNING ${sql.literal(columnList(messageColumns))}, lease_id`
          )
          if (messages.length === 0) return []
          const wishes = yield* all(
            wish,
            sql`SELECT m.id, NOT u.deleted AND coalesce(NOT p.disabled, ${bool(true)}) AS is_wanted FROM notification_messages m
              JOIN users u ON u.id = m.user_id
              LEFT JOIN notification_preferences p ON p.user_id = m.user_id AND p.template_id = m.template_id
              WHERE ${among(
                sql,
                sql`m.id`,
                messages.map(({ id }) => id)
              )}`
          )
          const wanted = new Set(wishes.filter(({ is_wanted }) => is_wanted).map(({ id }) => id))
          return messages
            .map((message) => ({ ...message, is_wanted: wanted.has(message.id) }))
            .toSorted((one, other) => (one.created_at + one.id < other.created_at + other.id ? -1 : 1))
        }),
      renew: (id, leaseId, until) =>
        applied(
          sql`UPDATE notification_messages SET due_at = ${until} WHERE id = ${id} AND status = 'leased' AND lease_id = ${leaseId} RETURNING id`
        ),
      settle: (id, leaseId, { attempt_count, due_at, status, status_reason }, now) =>
        applied(
          sql`UPDATE notification_messages SET ${sql.update({ status, status_reason, attempt_count, due_at, updated_at: now })}, lease_id = NULL
            WHERE id = ${id} AND status = 'leased' AND lease_id = ${leaseId} RETURNING id`
        ),
      purge: (before, limit) =>
        touched(
          sql`DELETE FROM notification_messages WHERE id IN (
            SELECT id FROM notification_messages WHERE due_at IS NULL AND updated_at < ${before} ORDER BY updated_at LIMIT ${limit})
            RETURNING id`
        ),
      isPaused: Effect.map(first(paused, pausedNow), flagOf),
      lockPaused: Effect.map(
        first(
          paused,
          inDialect(sql, {
            postgres: () => Effect.zipRight(sql`LOCK TABLE notification_settings IN EXCLUSIVE MODE`, pausedNow),
            sqlite: () => pausedNow
          })
        ),
        flagOf
      ),
      setPaused: (notifier_paused) =>
        run(
          sql`INSERT INTO notification_settings ${sql.insert({ id: 1, notifier_paused: bool(notifier_paused) })}
            ON CONFLICT (id) DO UPDATE SET notifier_paused = excluded.notifier_paused`
        ),
      preferences: (userId) =>
        all(
          preference,
          sql`SELECT template_id AS id, disabled, updated_at FROM notification_preferences WHERE user_id = ${userId} ORDER BY template_id`
        ),
      setPreferences: (user_id, disabled, updated_at) => {
        const rows = Array.from(disabled, ([template_id, value]) => ({ user_id, template_id, disabled: bool(value), updated_at }))
        return Effect.asVoid(
          orDefect(
            insertAll(
              sql,
              "notification_preferences",
              rows.toSorted((one, other) => (one.template_id < other.template_id ? -1 : 1)),
              sql`ON CONFLICT (user_id, template_id) DO UPDATE SET disabled = excluded.disabled, updated_at = excluded.updated_at`
            )
          )
        )
      }
    })
  })
)
