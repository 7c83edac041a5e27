import { type LoginType, type User, type UserId, UserRepository, type UserStatus } from "@atelier/core/identity"
import { Effect, Option } from "effect"
import { among } from "../../platform/Among.js"
import { dialectOf } from "../../platform/Dialect.js"
import { boolean, nullable, row, text, texts, timestamp, uuid, uuids } from "../../platform/Row.js"
import { all, applied, first, prepared, run, runUnique } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../../platform/Statements.js"

/** The columns of every statement that returns whole users. */
export const userColumns = {
  id: uuid,
  email: text(),
  username: text(),
  name: text(),
  avatar_url: text(),
  status: text<UserStatus>(),
  login_type: text<LoginType>(),
  rbac_roles: texts,
  created_at: timestamp,
  updated_at: timestamp,
  last_seen_at: timestamp,
  deleted: boolean,
  is_system: boolean,
  is_service_account: boolean,
  theme_preference: text(),
  quiet_hours_schedule: text()
}

/** A user as statements answer it that select `selectUser`. */
export const withOrganizations = row({ ...userColumns, organization_ids: uuids })

const selectedColumns = Object.keys(userColumns)
  .map((name) => `u.${name}`)
  .join(", ")

/** The organizations of the user `u` that are not deleted, oldest membership first, as a JSON list. */
export const organizationIdsOf = (sql: Statements): Fragment =>
  sql.dialect({
    postgres: () =>
      sql`(SELECT coalesce(json_agg(m.organization_id ORDER BY m.created_at), '[]')
        FROM organization_members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = u.id AND NOT o.deleted)`,
    sqlite: () =>
      sql`(SELECT json_group_array(organization_id) FROM (SELECT m.organization_id
        FROM organization_members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = u.id AND NOT o.deleted ORDER BY m.created_at))`
  })

/** The columns of a user `u` together with its organizations. */
export const selectUser = (sql: Statements): Fragment => sql`${sql.literal(selectedColumns)}, ${organizationIdsOf(sql)} AS organization_ids`
const withPassword = row({ ...userColumns, hashed_password: nullable(text()) })

export const layer = service(
  UserRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)

    const selected = sql.literal(selectedColumns)
    const withMemberships = selectUser(sql)

    const byId = prepared(sql, "uuid", sql`SELECT ${withMemberships} FROM users u WHERE u.id = ${""}`)

    const hasAny = Effect.map(
      first(row({ id: uuid }), sql`SELECT id FROM users WHERE NOT deleted AND NOT is_system LIMIT 1`),
      Option.isSome
    )

    const stored = (user: User, hashedPassword: string | null) => ({
      ...user,
      rbac_roles: JSON.stringify(user.rbac_roles),
      deleted: bool(user.deleted),
      is_system: bool(user.is_system),
      is_service_account: bool(user.is_service_account),
      hashed_password: hashedPassword
    })

    /** The log of statuses: what becomes of a user is counted over time. */
    const logStatus = (userId: UserId, status: UserStatus, at: string) =>
      sql`INSERT INTO user_status_changes ${sql.insert({ user_id: userId, new_status: status, changed_at: at })}`

    /** Keeps other processes from adding users until the transaction ends; SQLite has one writer anyway. */
    const lockForAdding = sql.dialect({
      postgres: () => run(sql`LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE`),
      sqlite: () => Effect.void
    })

    return UserRepository.of({
      byId: (id) => first(withOrganizations, byId(id)),
      byIds: (ids) => all(withOrganizations, sql`SELECT ${withMemberships} FROM users u WHERE ${among(sql, sql`u.id`, ids)}`),
      byUsername: (username) =>
        first(
          withOrganizations,
          sql`SELECT ${withMemberships} FROM users u WHERE lower(u.username) = lower(${username}) AND NOT u.deleted`
        ),
      byEmail: (email) =>
        first(
          withPassword,
          sql`SELECT ${selected}, u.hashed_password FROM users u WHERE lower(u.email) = lower(${email}) AND u.email <> '' AND NOT u.deleted`
        ),
      hasAny,
      insert: (user, hashedPassword) =>
        Effect.zipRight(
          runUnique(sql`INSERT INTO users ${sql.insert(stored(user, hashedPassword))}`),
          run(logStatus(user.id, user.status, user.updated_at))
        ),
      insertFirst: (user, hashedPassword) =>
        Effect.gen(function* () {
          yield* lockForAdding
          if (yield* hasAny) return false
          yield* runUnique(sql`INSERT INTO users ${sql.insert(stored(user, hashedPassword))}`)
          yield* run(logStatus(user.id, user.status, user.updated_at))
          return true
        }),
      updateStatus: (id, from, to, at) =>
        Effect.tap(
          applied(sql`UPDATE users SET status = ${to}, updated_at = ${at} WHERE id = ${id} AND status = ${from} RETURNING id`),
          (isChanged) => (isChanged ? run(logStatus(id, to, at)) : Effect.void)
        )
    })
  })
)
