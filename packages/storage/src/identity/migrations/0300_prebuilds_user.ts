import { prebuildsUserId } from "@atelier/core/access"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { dialectOf } from "../../platform/Dialect.js"

/** The user that owns prebuilt workspaces until users claim them. templates-and-provisioning.md §5.2. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { boolean } = dialectOf(sql)
  const never = "0001-01-01T00:00:00Z"
  const now = new Date().toISOString()
  yield* sql`INSERT INTO users ${sql.insert({
    id: prebuildsUserId,
    email: "prebuilds@system",
    username: "prebuilds",
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
