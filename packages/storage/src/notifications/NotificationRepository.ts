import { NotificationRepository, type Recipients } from "@atelier/core/notifications"
import { Effect, Option } from "effect"
import { among } from "../platform/Among.js"
import { insertAll } from "../platform/Batch.js"
import { dialectOf } from "../platform/Dialect.js"
import { boolean, nullable, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, first, run } from "../platform/Statement.js"
import { orDefect } from "../platform/Unavailability.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../platform/Statements.js"
import { notificationMessages } from "./NotificationMessages.js"

const recipient = row({ id: uuid, username: text(), name: text(), email: text(), disabled: nullable(boolean) })
const preference = row({ id: uuid, disabled: boolean, updated_at: timestamp })
const chosen = row({ template_id: uuid, method: text() })
const paused = row({ notifier_paused: boolean })

export const layer = service(
  NotificationRepository,
  Effect.map(Statements, (sql) => {
    const { boolean: bool } = dialectOf(sql)

    /** Returns the condition that a user has one of some roles. It names them as the index of users with roles does. */
    const holds = (roles: ReadonlyArray<string>): Fragment =>
      sql`u.rbac_roles <> '[]' AND ${sql.dialect({
        postgres: () =>
          sql`jsonb_exists_any(u.rbac_roles, ARRAY(SELECT jsonb_array_elements_text(CAST(${JSON.stringify(roles)} AS jsonb))))`,
        sqlite: () =>
          sql`EXISTS (SELECT 1 FROM json_each(u.rbac_roles) r WHERE r.value IN (SELECT value FROM json_each(${JSON.stringify(roles)})))`
      })}`

    const conditions = ({ except, members_of, roles, users }: Recipients): ReadonlyArray<Fragment> => [
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
      ...notificationMessages(sql),
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
      isPaused: Effect.map(first(paused, pausedNow), flagOf),
      lockPaused: Effect.map(
        first(
          paused,
          sql.dialect({
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
