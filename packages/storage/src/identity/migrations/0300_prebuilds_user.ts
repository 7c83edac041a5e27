import { prebuildsUserId } from "@atelier/core/access"
import { Effect } from "effect"
import { dialectOf } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const name = "prebuilds"
const email = "prebuilds@system"

/** Gives way: another user may have had the name or the address before they were the service's own. The user keeps everything else. */
const freeName = Effect.gen(function* () {
  const sql = yield* Statements
  const holders = yield* sql<{ readonly id: string; readonly username: string; readonly email: string }>`
    SELECT id, username, email FROM users WHERE NOT deleted AND (lower(username) = ${name} OR lower(email) = ${email})`
  for (const holder of holders) {
    for (let number = 2; ; number++) {
      const username = holder.username.toLowerCase() === name ? `${name}-${number}` : holder.username
      const address = holder.email.toLowerCase() === email ? `${name}-${number}@system` : holder.email
      const taken = yield* sql`SELECT id FROM users
        WHERE NOT deleted AND id <> ${holder.id} AND (lower(username) = lower(${username}) OR lower(email) = lower(${address}) AND email <> '')`
      if (taken.length > 0) continue
      yield* sql`UPDATE users SET username = ${username}, email = ${address} WHERE id = ${holder.id}`
      yield* Effect.logWarning(
        `the user ${holder.username} now has the name ${username} and the address ${address}: the service has a user of its own with the former`
      )
      break
    }
  }
})

/** The user that owns prebuilt workspaces until users claim them. templates-and-provisioning.md §5.2. */
export default Effect.gen(function* () {
  const sql = yield* Statements
  const { boolean } = dialectOf(sql)
  const never = "0001-01-01T00:00:00Z"
  yield* freeName
  const now = new Date().toISOString()
  yield* sql`INSERT INTO users ${sql.insert({
    id: prebuildsUserId,
    email,
    username: name,
    name: "Prebuilds Owner",
    avatar_url: "",
    hashed_password: null,
    status: "active",
    login_type: "none",
    rbac_roles: "[]",
    created_at: now,
    updated_at: now,
    last_seen_at: never,
    deleted: boolean(false),
    is_system: boolean(true),
    is_service_account: boolean(false),
    theme_preference: "",
    quiet_hours_schedule: ""
  })}`
})
