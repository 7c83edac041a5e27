import { Postgres } from "@atelier/storage-postgres"
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import pg from "pg"
import { inject } from "vitest"
import { databaseUrl, freshDatabaseUrl } from "../../../test/store/databases.js"

const newerVersion =
  /^storage\.url "postgres:.*": belongs to a newer version of Atelier, which applied the migration 9000_renamed_users; this version knows none after \d{4}\. Start the newer version, or restore a backup that was made before the upgrade$/

/** The run's server, reached in another way. */
const changed = (change: (url: URL) => unknown): string => {
  const url = new URL(inject("postgresUrl"))
  url.password = "hunter2"
  change(url)
  return url.href
}

const refusalOf = (url: string) => Effect.flip(Layer.build(Postgres.layer({ url, maxConnections: 2 })))

describe("an empty database", () => {
  it.scopedLive("is set up once by processes that start on it together", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const start = Layer.build(Postgres.layer({ url, maxConnections: 2 }))
      const started = yield* Effect.all([start, start, start, start, start, start], { concurrency: "unbounded" })
      for (const process of started) {
        const sql = Context.get(process, SqlClient.SqlClient)
        // The owner of workspaces that have none yet
        expect(yield* sql`SELECT count(*) AS users FROM users`).toStrictEqual([{ users: 1 }])
      }
    })
  )
})

describe("a database of this version", () => {
  it.scopedLive("is taken while another program reads it, such as one that copies it", () =>
    Effect.gen(function* () {
      const url = yield* databaseUrl
      const copying = new pg.Client({ connectionString: url })
      yield* Effect.acquireRelease(
        Effect.promise(() => copying.connect()),
        () => Effect.promise(() => copying.end())
      )
      yield* Effect.promise(() => copying.query("BEGIN; SELECT count(*) FROM atelier_migrations"))
      yield* Effect.timeout(Layer.build(Postgres.layer({ url, maxConnections: 1 })), "30 seconds")
    })
  )
})

describe("a database that cannot be used", () => {
  it.scopedLive.each([
    ["a port that is closed", (url: URL) => Object.assign(url, { port: "1" }), /connect ECONNREFUSED 127\.0\.0\.1:1$/],
    ["a host that is unknown", (url: URL) => Object.assign(url, { hostname: "nowhere.invalid" }), /getaddrinfo E\w+ nowhere\.invalid$/],
    ["a database that is absent", (url: URL) => Object.assign(url, { pathname: "/absent" }), /database "absent" does not exist$/],
    ["a role that is absent", (url: URL) => Object.assign(url, { username: "absent" }), /role "absent" does not exist$/],
    [
      "encryption that the server lacks",
      (url: URL) => url.searchParams.set("sslmode", "verify-full"),
      /server does not support SSL connections$/
    ],
    [
      "an authority that cannot be read",
      (url: URL) => url.searchParams.set("sslrootcert", "/no/such/file.pem"),
      /ENOENT: no such file or directory, open '\/no\/such\/file\.pem'$/
    ]
  ] as const)("is refused for %s, with the driver's reason and without the password", ([, change, reason]) =>
    Effect.gen(function* () {
      const error = yield* refusalOf(changed(change))
      expect(error).toMatchObject({ _tag: "StartError", option: "storage.url" })
      expect(error.reason).toMatch(reason)
      expect(new URL(error.value ?? "").host).toBe(new URL(changed(change)).host)
      expect(error.message).not.toContain("hunter2")
    })
  )

  it.scopedLive("is refused for a role that may make no tables", () =>
    Effect.gen(function* () {
      const fresh = yield* freshDatabaseUrl
      const role = `${new URL(fresh).pathname.slice(1)}_reader`
      const owner = Context.get(yield* Layer.build(Postgres.layer({ url: inject("postgresUrl"), maxConnections: 1 })), SqlClient.SqlClient)
      yield* Effect.acquireRelease(Effect.orDie(owner.unsafe(`CREATE ROLE ${role} LOGIN`)), () =>
        Effect.orDie(owner.unsafe(`DROP ROLE ${role}`))
      )
      const url = new URL(fresh)
      url.username = role
      expect((yield* refusalOf(url.href)).reason).toBe("permission denied for schema public")
    })
  )

  it.scopedLive("is refused for a wrong password", () =>
    Effect.gen(function* () {
      const owner = Context.get(yield* Layer.build(Postgres.layer({ url: inject("postgresUrl"), maxConnections: 1 })), SqlClient.SqlClient)
      // `test/run/postgres.ts` has the server ask this role for its password, and no other
      yield* Effect.acquireRelease(Effect.orDie(owner.unsafe("CREATE ROLE with_password LOGIN PASSWORD 'right'")), () =>
        Effect.orDie(owner.unsafe("DROP ROLE with_password"))
      )
      const error = yield* refusalOf(changed((url) => Object.assign(url, { username: "with_password" })))
      expect(error.reason).toBe('password authentication failed for user "with_password"')
      expect(error.message).not.toContain("hunter2")
    })
  )

  it.scopedLive("is refused for a server of a version that is too old", () =>
    Effect.gen(function* () {
      const url = new URL(yield* freshDatabaseUrl)
      const owner = Context.get(yield* Layer.build(Postgres.layer({ url: inject("postgresUrl"), maxConnections: 1 })), SqlClient.SqlClient)
      const name = url.pathname.slice(1)
      const client = new pg.Client({ connectionString: url.href })
      yield* Effect.promise(() => client.connect())
      // In front of the server's own function, which answers its own version alone
      yield* Effect.promise(() =>
        client.query(`CREATE FUNCTION public.current_setting(name text) RETURNS text LANGUAGE sql AS $$
        SELECT CASE name WHEN 'server_version_num' THEN '130021' WHEN 'server_version' THEN '13.21' END $$`)
      )
      yield* Effect.promise(() => client.end())
      yield* Effect.orDie(owner.unsafe(`ALTER DATABASE ${name} SET search_path = public, pg_catalog`))
      expect((yield* refusalOf(url.href)).reason).toBe("PostgreSQL 13.21 is too old: Atelier needs 14 or newer")
    })
  )

  it.scopedLive("is refused if a newer version has migrated it", () =>
    Effect.gen(function* () {
      const url = yield* databaseUrl
      const sql = Context.get(yield* Layer.build(Postgres.layer({ url, maxConnections: 1 })), SqlClient.SqlClient)
      yield* sql`INSERT INTO atelier_migrations (migration_id, name) VALUES (9000, 'renamed_users')`
      expect((yield* refusalOf(url)).message).toMatch(newerVersion)
    })
  )

  it.scopedLive("is refused for a role without a connection left", () =>
    Effect.gen(function* () {
      const fresh = yield* freshDatabaseUrl
      const role = `${new URL(fresh).pathname.slice(1)}_limited`
      const owner = Context.get(yield* Layer.build(Postgres.layer({ url: fresh, maxConnections: 1 })), SqlClient.SqlClient)
      yield* Effect.acquireRelease(
        Effect.orDie(owner.unsafe(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 1 IN ROLE pg_write_all_data, pg_read_all_data`)),
        () => Effect.orDie(owner.unsafe(`DROP ROLE ${role}`))
      )
      const url = new URL(fresh)
      url.username = role
      // The pool has the one connection, and the one that listens for events has none
      expect((yield* refusalOf(url.href)).reason).toBe(`too many connections for role "${role}"`)
    })
  )

  it.scopedLive.each(["nonsense", "postgres://app:hunter2@[::1/x", "", "mysql://app:hunter2@127.0.0.1/x"])(
    "is refused for a text that is not a URL of PostgreSQL, without showing it: %s",
    (url) =>
      Effect.gen(function* () {
        expect((yield* refusalOf(url)).message).toMatch(
          /^storage\.url: must be a URL such as postgres:\/\/user:password@host:5432\/database, with % codes/
        )
      })
  )
})
