import { MessagePayload, type MessageStatus, type NotificationMessage, type NotificationRepository } from "@atelier/core/notifications"
import { Effect, Option } from "effect"
import { among } from "../platform/Among.js"
import { insertAll } from "../platform/Batch.js"
import { dialectOf, locking } from "../platform/Dialect.js"
import { boolean, columnList, json, nullable, number, row, text, timestamp, uuid, uuids } from "../platform/Row.js"
import { all, applied, touched } from "../platform/Statement.js"
import { dieOf, inTransaction, isUnavailable } from "../platform/Unavailability.js"
import type { Statements } from "../platform/Statements.js"

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

const stored = ({ payload, targets, ...message }: NotificationMessage) => ({
  ...message,
  payload: JSON.stringify(payload),
  targets: JSON.stringify(targets)
})

/** Messages on their way to users. */
export const notificationMessages = (
  sql: Statements
): Pick<NotificationRepository["Type"], "enqueue" | "lease" | "renew" | "settle" | "purge"> => {
  const { boolean: bool } = dialectOf(sql)

  return {
    enqueue: (messages) =>
      // A transaction of its own is a savepoint within another: a refused row undoes nothing but the messages
      inTransaction(sql, insertAll(sql, "notification_messages", messages.map(stored), sql`ON CONFLICT (dedupe_hash) DO NOTHING`)).pipe(
        Effect.as(Option.none<string>()),
        // The surrounding transaction fails for the same reason
        Effect.catchAll((error) => (isUnavailable(error) ? dieOf(error) : Effect.succeedSome(error.message)))
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
      )
  }
}
