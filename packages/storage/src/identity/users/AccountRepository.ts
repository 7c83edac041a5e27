import { AccountRepository, ownerRole } from "@atelier/core/identity"
import { Effect, Option } from "effect"
import { nullable, row, text, texts, uuid } from "../../platform/Row.js"
import { all, first, run, runUnique } from "../../platform/Statement.js"
import { userColumns } from "./UserRepository.js"
import { service } from "@atelier/core/platform"
import { locking } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const identified = row({ id: uuid })
const user = row(userColumns)
const roles = row({ organization_id: uuid, roles: texts })
const password = row({ hashed_password: nullable(text()) })

export const layer = service(
  AccountRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const selected = sql.literal(Object.keys(userColumns).join(", "))
    // Keys are added to a user while it is locked: only what they refer to must not change
    const forUpdate = locking(sql, "FOR NO KEY UPDATE")

    const isOwner = sql.dialect({
      postgres: () => sql`jsonb_exists(rbac_roles, ${ownerRole})`,
      sqlite: () => sql`EXISTS (SELECT 1 FROM json_each(rbac_roles) r WHERE r.value = ${ownerRole})`
    })

    return AccountRepository.of({
      lock: (ids) =>
        ids.length === 0
          ? Effect.succeed([])
          : all(user, sql`SELECT ${selected} FROM users WHERE ${sql.in("id", ids)} AND NOT deleted ORDER BY id ${forUpdate}`),
      lockOwners: all(
        (from) => identified(from).id,
        // Few users have roles, and those have an index
        sql`SELECT id FROM users WHERE rbac_roles <> '[]' AND NOT deleted AND NOT is_system AND status <> 'suspended' AND ${isOwner}
          ORDER BY id ${forUpdate}`
      ),
      hashedPassword: (id) =>
        Effect.map(
          first(password, sql`SELECT hashed_password FROM users WHERE id = ${id} AND NOT deleted`),
          Option.map(({ hashed_password }) => hashed_password)
        ),
      hasOtherScheme: (scheme) =>
        Effect.map(
          first(
            identified,
            sql`SELECT id FROM users WHERE hashed_password IS NOT NULL AND NOT deleted
              AND substr(hashed_password, 1, ${sql.literal(String(scheme.length))}) <> ${scheme} LIMIT 1`
          ),
          Option.isSome
        ),
      rehashPassword: (id, from, to) => run(sql`UPDATE users SET hashed_password = ${to} WHERE id = ${id} AND hashed_password = ${from}`),
      updateProfile: ({ avatar_url, id, name, updated_at, username }) =>
        runUnique(
          Effect.asVoid(
            sql`UPDATE users SET username = ${username}, name = ${name}, avatar_url = ${avatar_url}, updated_at = ${updated_at} WHERE id = ${id}`
          )
        ),
      recordSeen: (id, at) => run(sql`UPDATE users SET last_seen_at = ${at} WHERE id = ${id} AND NOT deleted`),
      updateRoles: ({ id, rbac_roles, updated_at }) =>
        run(sql`UPDATE users SET rbac_roles = ${JSON.stringify(rbac_roles)}, updated_at = ${updated_at} WHERE id = ${id}`),
      updateQuietHours: ({ id, quiet_hours_schedule, updated_at }) =>
        run(sql`UPDATE users SET quiet_hours_schedule = ${quiet_hours_schedule}, updated_at = ${updated_at} WHERE id = ${id}`),
      organizationRoles: (id) =>
        all(
          roles,
          sql`SELECT m.organization_id, m.roles FROM organization_members m JOIN organizations o ON o.id = m.organization_id
            WHERE m.user_id = ${id} AND NOT o.deleted ORDER BY m.organization_id`
        ),
      updatePassword: (id, hashedPassword, at) =>
        Effect.all(
          [
            run(sql`UPDATE users SET hashed_password = ${hashedPassword}, updated_at = ${at} WHERE id = ${id}`),
            run(sql`DELETE FROM api_keys WHERE user_id = ${id}`),
            run(sql`DELETE FROM one_time_passcodes WHERE user_id = ${id}`)
          ],
          { discard: true }
        )
    })
  })
)
