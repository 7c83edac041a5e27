import { UserDeletionRepository } from "@atelier/core/identity"
import { Effect } from "effect"
import { takeFromAcls } from "../../groups/AclEntries.js"
import { dialectOf } from "../../platform/Dialect.js"
import { applied, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

/**
 * Tables of a user's credentials, settings, notifications and memberships, by `user_id`. Organizations before groups, in the order in which memberships
 * end.
 */
const tables = [
  "oauth2_grants",
  "api_keys",
  "git_ssh_keys",
  "user_links",
  "external_auth_links",
  "user_secrets",
  "user_ssh_keys",
  "user_settings",
  "one_time_passcodes",
  "notification_messages",
  "inbox_notifications",
  "notification_preferences",
  "webpush_subscriptions",
  "organization_members",
  "group_members"
]

export const layer = service(
  UserDeletionRepository,
  Effect.map(Statements, (sql) => {
    const { boolean: bool } = dialectOf(sql)
    return UserDeletionRepository.of({
      ownsWorkspace: (id) => applied(sql`SELECT id FROM workspaces WHERE owner_id = ${id} AND NOT deleted LIMIT 1`),
      delete: (id, at) =>
        Effect.gen(function* () {
          yield* Effect.forEach(tables, (table) => run(sql`DELETE FROM ${sql(table)} WHERE user_id = ${id}`), { discard: true })
          // Not only in the organizations that it left just now: it may have been named where it was not a member
          yield* takeFromAcls(sql, "user_acl", id)
          yield* run(sql`UPDATE users SET deleted = ${bool(true)}, updated_at = ${at} WHERE id = ${id}`)
          yield* run(sql`INSERT INTO user_deleted ${sql.insert({ user_id: id, deleted_at: at })}`)
        })
    })
  })
)
