import { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { prebuildsUserId } from "@atelier/core/access"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Record, Redacted } from "effect"
import { createHash } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { freshDatabaseUrl } from "../../../test/store/databases.js"
import { placesOf, storeRow } from "../../../test/store/schema.js"
import { areas, migrate, migrateTo, migrations } from "../src/Migrations.js"
import { dialectOf } from "../src/platform/Dialect.js"
import { clientStatements, Statements } from "../src/platform/Statements.js"

const asked = <E>(client: Layer.Layer<SqlClient.SqlClient, E>) =>
  Layer.provideMerge(Layer.effect(Statements, Effect.map(SqlClient.SqlClient, clientStatements)), client)

const sqlite = Layer.tap(asked(SqliteClient.layer({ filename: ":memory:" })), (context) =>
  Effect.provide(
    Effect.flatMap(Statements, (sql) => sql`PRAGMA foreign_keys = ON`),
    context
  )
)
const postgres = Layer.unwrapScoped(Effect.map(freshDatabaseUrl, (url) => asked(PgClient.layer({ url: Redacted.make(url) }))))

const id = (number: number): Uuid.Uuid => Uuid.Uuid.make(`00000000-0000-7000-8000-${String(number).padStart(12, "0")}`)
const organization = id(0)
const crew = id(1000)

/** An organization and its members with these names. The first two and the last are in a group; the last is deleted. */
const filled = (names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)
    const now = yield* Timestamp.now
    const times = { created_at: now, updated_at: now }
    yield* sql`INSERT INTO organizations ${sql.insert({
      ...times,
      id: organization,
      name: "crew",
      display_name: "",
      description: "",
      icon: "",
      is_default: bool(true),
      deleted: bool(false),
      default_org_member_roles: "[]",
      shareable_workspace_owners: "everyone"
    })}`
    for (const [group, name] of [
      [organization, "Everyone"],
      [crew, "crew"]
    ]) {
      yield* sql`INSERT INTO groups ${sql.insert({
        id: group,
        organization_id: organization,
        name,
        display_name: "",
        avatar_url: "",
        quota_allowance: 0,
        source: "user"
      })}`
    }
    yield* Effect.forEach(names, (username, index) =>
      Effect.gen(function* () {
        const user_id = id(index + 1)
        yield* sql`INSERT INTO users ${sql.insert({
          ...times,
          id: user_id,
          email: `${username}@example.com`,
          username,
          name: "",
          avatar_url: "",
          hashed_password: null,
          status: "active",
          login_type: "password",
          rbac_roles: "[]",
          last_seen_at: now,
          deleted: bool(index === names.length - 1),
          is_system: bool(false),
          is_service_account: bool(false),
          theme_preference: "",
          quiet_hours_schedule: ""
        })}`
        yield* sql`INSERT INTO organization_members ${sql.insert({
          ...times,
          organization_id: organization,
          user_id,
          roles: index === 0 ? `["organization-admin"]` : "[]"
        })}`
        if (index < 2 || index === names.length - 1) yield* sql`INSERT INTO group_members ${sql.insert({ group_id: crew, user_id })}`
      })
    )
  })

describe("migrations", () => {
  it("have one number each, and run in its order", () => {
    const listed = areas.flatMap(Object.keys)
    expect(listed.every((name) => /^\d{4}_[a-z0-9_]+$/.test(name))).toBe(true)
    const numbers = listed.map((name) => name.slice(0, 4))
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toStrictEqual([])
    expect(Object.keys(migrations)).toStrictEqual(listed.toSorted())
  })

  it("of every file are listed by its area", () => {
    const source = new URL("../src/", import.meta.url)
    const files = readdirSync(source).flatMap((area) => {
      const folder = new URL(`${area}/migrations/`, source)
      return existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/\.ts$/, "")) : []
    })
    expect(files.toSorted()).toStrictEqual(Object.keys(migrations))
  })
})

describe.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres]
])("a filled store of an earlier version on %s", (_, database) => {
  it.scopedLive("keeps users who had the name or the address of the service's own user", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      yield* migrateTo(299)
      yield* filled(["Prebuilds", "prebuilds-2", "ada", "prebuilds"])
      yield* sql`UPDATE users SET email = ${"Prebuilds@System"} WHERE username = ${"ada"}`
      yield* migrate
      const users = yield* sql`SELECT id, username, email FROM users WHERE NOT deleted ORDER BY username`
      expect(users).toStrictEqual([
        { id: id(3), username: "ada", email: "prebuilds-2@system" },
        { id: prebuildsUserId, username: "prebuilds", email: "prebuilds@system" },
        { id: id(2), username: "prebuilds-2", email: "prebuilds-2@example.com" },
        { id: id(1), username: "prebuilds-3", email: "Prebuilds@example.com" }
      ])
      const members = yield* sql`SELECT username_key FROM organization_members WHERE user_id = ${id(1)}`
      expect(members).toStrictEqual([{ username_key: "prebuilds-3" }])
    }).pipe(Effect.provide(database))
  )

  it.scopedLive("has members in order and counted after the migration, and keeps them so", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      const keys = sql`SELECT username_key, roles FROM organization_members ORDER BY username_key`
      const names = Effect.map(keys, (rows) => rows.map(({ username_key }) => username_key))
      yield* migrateTo(83)
      yield* filled(["Zed", "abe", "Bea", "gone"])
      yield* migrate
      expect(yield* names).toStrictEqual(["abe", "bea", "gone", "zed"])
      expect((yield* keys).map(({ roles }) => (typeof roles === "string" ? JSON.parse(roles) : roles))).toStrictEqual([
        [],
        [],
        [],
        ["organization-admin"]
      ])
      yield* sql`UPDATE users SET username = ${"Yan"} WHERE username = ${"Zed"}`
      expect(yield* names).toStrictEqual(["abe", "bea", "gone", "yan"])
      const counted = yield* sql<{ readonly users: number }>`SELECT CAST(sum(count) AS integer) AS users FROM user_counts`
      expect(counted).toStrictEqual([{ users: 3 }])
      const counts = sql<{ readonly group_id: string; readonly count: number }>`SELECT n.group_id, n.count FROM group_counts n
        ORDER BY n.group_id`
      expect(yield* counts).toStrictEqual([
        { group_id: organization, count: 3 },
        { group_id: crew, count: 2 }
      ])
      yield* sql`DELETE FROM organization_members WHERE user_id = ${id(2)}`
      expect((yield* counts).map(({ count }) => count)).toStrictEqual([2, 1])
      const inGroup = yield* sql<{
        readonly username_key: string
      }>`SELECT username_key FROM group_members WHERE group_id = ${crew} ORDER BY 1`
      expect(inGroup).toStrictEqual([{ username_key: "gone" }, { username_key: "yan" }])
      // A second server finds nothing to do
      expect(yield* migrate).toStrictEqual([])
    }).pipe(Effect.provide(database))
  )

  it.scopedLive("shares nothing with those who have been deleted, and keeps nothing of what has", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      const { boolean: bool } = dialectOf(sql)
      yield* migrateTo(100)
      const [alive, gone, kept, lost, ended, template, workspace] = [id(1), id(2), id(3), id(4), id(5), id(6), id(7)]
      for (const each of [organization, ended]) {
        const row = { id: each, name: each, shareable_workspace_owners: "everyone", deleted: bool(each === ended) }
        yield* storeRow("organizations", row)
        yield* storeRow("idp_sync_settings", { organization_id: each, kind: "role" })
      }
      for (const user_id of [alive, gone]) {
        yield* storeRow("users", { id: user_id, username: user_id, status: "active", deleted: bool(user_id === gone) })
        yield* storeRow("user_settings", { user_id })
      }
      yield* storeRow("groups", { id: kept, organization_id: organization, name: "kept", source: "user" })
      const acls = { user_acl: JSON.stringify({ [alive]: ["use"], [gone]: ["use"] }), group_acl: JSON.stringify({ [lost]: ["*"] }) }
      const both = { group_acl: JSON.stringify({ [kept]: ["read", "use"], [lost]: ["*"] }) }
      const its = { organization_id: organization, ...acls }
      yield* storeRow("templates", { ...its, ...both, id: template, created_by: alive, active_version_id: id(8) })
      yield* storeRow("workspaces", { ...its, id: workspace, owner_id: alive, template_id: template, automatic_updates: "never" })
      yield* migrate
      const aclsIn = (table: string) =>
        Effect.map(sql<Readonly<Record<string, unknown>>>`SELECT user_acl, group_acl FROM ${sql(table)}`, ([row]) =>
          Record.map(row ?? {}, (acl): unknown => (typeof acl === "string" ? JSON.parse(acl) : acl))
        )
      expect(yield* aclsIn("templates")).toStrictEqual({ user_acl: { [alive]: ["use"] }, group_acl: { [kept]: ["read", "use"] } })
      expect(yield* aclsIn("workspaces")).toStrictEqual({ user_acl: { [alive]: ["use"] }, group_acl: {} })
      expect(yield* sql`SELECT organization_id FROM idp_sync_settings`).toStrictEqual([{ organization_id: organization }])
      expect(yield* sql`SELECT user_id FROM user_settings`).toStrictEqual([{ user_id: alive }])
    }).pipe(Effect.provide(database))
  )

  it.scopedLive("knows agents by the hashes of their tokens, and keeps no token", () =>
    Effect.gen(function* () {
      const sql = yield* Statements
      yield* migrateTo(102)
      yield* storeRow("organizations", { id: organization, name: "crew", shareable_workspace_owners: "everyone" })
      yield* storeRow("provisioner_jobs", { id: id(1), organization_id: organization, initiator_id: id(2), file_id: id(3) })
      yield* storeRow("workspace_resources", { id: id(4), job_id: id(1), transition: "start" })
      yield* storeRow("workspace_agents", {
        id: id(100),
        resource_id: id(4),
        api_key_scope: "all",
        lifecycle_state: "created",
        auth_token: id(101)
      })
      // Doubled until there are more than SQLite's migration reads at once
      const fresh = sql.dialect({ postgres: () => sql`gen_random_uuid()`, sqlite: () => sql`lower(hex(randomblob(16)))` })
      for (let count = 1; count < 1024; count *= 2) {
        yield* sql`CREATE TEMPORARY TABLE copies AS SELECT * FROM workspace_agents`
        yield* sql`UPDATE copies SET id = ${fresh}, auth_token = ${fresh}`
        yield* sql`INSERT INTO workspace_agents SELECT * FROM copies`
        yield* sql`DROP TABLE copies`
      }
      const before = yield* sql<{ readonly auth_token: string }>`SELECT auth_token FROM workspace_agents ORDER BY id`
      yield* migrate
      const agents = yield* sql<{ readonly hashed_token: Uint8Array }>`SELECT hashed_token FROM workspace_agents ORDER BY id`
      const hashes = before.map(({ auth_token }) => createHash("sha256").update(auth_token).digest("hex"))
      expect(agents.map(({ hashed_token }) => Buffer.from(hashed_token).toString("hex"))).toStrictEqual(hashes)
      expect(yield* placesOf(id(101))).toStrictEqual([])
    }).pipe(Effect.provide(database))
  )
})
