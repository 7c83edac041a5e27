import { PushSubscriptionRepository } from "@atelier/core/notifications"
import { Effect } from "effect"
import { columnList, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const columns = { id: uuid, user_id: uuid, endpoint: text(), p256dh_key: text(), auth_key: text(), created_at: timestamp }
const subscription = row(columns)

export const layer = service(
  PushSubscriptionRepository,
  Effect.map(Statements, (sql) =>
    PushSubscriptionRepository.of({
      ofUser: (userId) =>
        all(
          subscription,
          sql`SELECT ${sql.literal(columnList(columns))} FROM webpush_subscriptions WHERE user_id = ${userId} ORDER BY created_at, id`
        ),
      upsert: (given) =>
        run(
          sql`INSERT INTO webpush_subscriptions ${sql.insert({ ...given })}
            ON CONFLICT (user_id, endpoint) DO UPDATE SET p256dh_key = excluded.p256dh_key, auth_key = excluded.auth_key`
        ),
      delete: (userId, endpoint) =>
        applied(sql`DELETE FROM webpush_subscriptions WHERE user_id = ${userId} AND endpoint = ${endpoint} RETURNING id`),
      deleteAll: run(sql`DELETE FROM webpush_subscriptions`)
    })
  )
)
