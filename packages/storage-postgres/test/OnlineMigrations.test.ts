/** Migrations of a database that servers of the former version use. */
import { clientStatements, migrateTo, Statements } from "@atelier/storage"
import { Postgres } from "@atelier/storage-postgres"
import { PgClient } from "@effect/sql-pg"
import { SqlClient } from "@effect/sql"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Exit, Fiber, Layer, Logger, Redacted, Schedule, Scope } from "effect"
import pg from "pg"
import { freshDatabaseUrl } from "../../../test/store/databases.js"

/** The last migration before one that changes indexes of large tables alone, and this one. */
const before = 590
const withIndexes = 600
/** One that adds columns to a table, and the last before it. */
const withColumns = 610

/** One that needs an extension, and the last before it. */
const beforeNameParts = 620
const withNameParts = 630

/** One that fills columns of agents in batches, and the last before it. */
const beforeLostAgents = 630
const withLostAgents = 640

const madeIndexes = [
  "workspace_builds_by_version_and_creation",
  "workspaces_in_order_with_version",
  "workspaces_of_tasks",
  "workspaces_owners_by_template"
]

const statementsOf = (url: string) =>
  Layer.build(
    Layer.provide(Layer.effect(Statements, Effect.map(SqlClient.SqlClient, clientStatements)), PgClient.layer({ url: Redacted.make(url) }))
  )

/** A database at a migration, and statements of a server on it. */
const databaseAt = (migration: number) =>
  Effect.gen(function* () {
    const url = yield* freshDatabaseUrl
    const server = yield* statementsOf(url)
    yield* Effect.provide(migrateTo(migration), server)
    return { url, server, sql: Context.get(server, Statements) }
  })

/** A client of the database that ends with the scope. */
const clientOf = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new pg.Client({ connectionString: url })
      client.on("error", () => undefined)
      await client.connect()
      return client
    }),
    (client) => Effect.promise(() => client.end().catch(() => undefined))
  )

const ask = (client: pg.Client, text: string) => Effect.promise(() => client.query<Record<string, unknown>>(text))

/** Waits until a session has asked a statement whose text begins so, with a condition on the session. */
const untilAsked = (client: pg.Client, beginning: string, condition = "true") =>
  ask(client, `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND ${condition} AND query LIKE '${beginning}%'`).pipe(
    Effect.repeat({ until: ({ rowCount }) => rowCount !== 0, schedule: Schedule.spaced("10 millis") })
  )

/** Waits until a statement whose text begins so waits for a lock. */
const untilWaiting = (client: pg.Client, beginning: string) => untilAsked(client, beginning, "wait_event_type = 'Lock'")

/** The indexes of the migration, with whether they are valid. */
const found = (client: pg.Client) =>
  Effect.map(
    ask(
      client,
      `SELECT relname, indisvalid FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname = ANY ('{${madeIndexes.join(",")}}') ORDER BY 1`
    ),
    ({ rows }) => rows.map(({ indisvalid, relname }) => `${String(relname)} ${String(indisvalid)}`)
  )

/** A client within a transaction that has run a statement, and another one. */
const within = (url: string, statement: string) =>
  Effect.tap(Effect.all([clientOf(url), clientOf(url)]), ([client]) => Effect.zipRight(ask(client, "BEGIN"), ask(client, statement)))

const allValid = madeIndexes.map((name) => `${name} true`)

describe("indexes of a PostgreSQL database in use", () => {
  it.scopedLive("are created while others write", () =>
    Effect.gen(function* () {
      const { server, url } = yield* databaseAt(before)
      const [writer, other] = yield* within(url, "UPDATE workspaces SET name = name")
      const migrating = yield* Effect.fork(Effect.provide(migrateTo(withIndexes), server))
      yield* untilWaiting(other, "CREATE INDEX")
      yield* ask(other, "SET lock_timeout = 5000")
      yield* ask(other, "UPDATE workspaces SET name = name")
      yield* ask(writer, "COMMIT")
      expect(yield* Fiber.join(migrating)).toStrictEqual([{ migration_id: withIndexes, name: "large_deployments" }])
      expect(yield* found(other)).toStrictEqual(allValid)
      const replaced = yield* ask(other, "SELECT to_regclass('workspaces_in_order') AS index")
      expect(replaced.rows).toStrictEqual([{ index: null }])
    })
  )

  it.scopedLive("are created by one of the servers that start together", () =>
    Effect.gen(function* () {
      const { server, url } = yield* databaseAt(before)
      const another = yield* statementsOf(url)
      const [writer, other] = yield* within(url, "UPDATE workspaces SET name = name")
      const both = yield* Effect.fork(
        Effect.all([Effect.provide(migrateTo(withIndexes), server), Effect.provide(migrateTo(withIndexes), another)], {
          concurrency: "unbounded"
        })
      )
      yield* untilWaiting(other, "CREATE INDEX")
      // The other server asks for the lock from time to time
      yield* untilAsked(other, "SELECT pg_try_advisory_lock")
      yield* ask(writer, "COMMIT")
      const applied = yield* Fiber.join(both)
      expect(applied.flat()).toStrictEqual([{ migration_id: withIndexes, name: "large_deployments" }])
      expect(yield* found(other)).toStrictEqual(allValid)
    })
  )

  it.scopedLive("are created again after an attempt that failed", () =>
    Effect.gen(function* () {
      const { server, url } = yield* databaseAt(before)
      const [writer, other] = yield* within(url, "UPDATE workspaces SET name = name")
      const failing = yield* Effect.fork(Effect.either(Effect.provide(migrateTo(withIndexes), server)))
      yield* untilWaiting(other, "CREATE INDEX")
      yield* ask(
        other,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX%'"
      )
      expect(yield* Fiber.join(failing)).toMatchObject({ _tag: "Left", left: { message: 'Migration "600_large_deployments" failed' } })
      expect(yield* found(other)).toStrictEqual(["workspaces_owners_by_template false"])
      yield* ask(writer, "COMMIT")
      expect(yield* Effect.provide(migrateTo(withIndexes), server)).toHaveLength(1)
      expect(yield* found(other)).toStrictEqual(allValid)
    })
  )

  it.scopedLive.each<readonly [string, ReadonlyArray<string>, string | null]>([
    ["are made of the parts of names", [], "workspaces_name_parts"],
    [
      "are not made of the parts of names where the extension that they need is out of reach",
      ["DROP EXTENSION pg_trgm CASCADE", "CREATE SCHEMA others", "CREATE EXTENSION pg_trgm SCHEMA others"],
      null
    ]
  ])("%s", ([, prepared, index]) =>
    Effect.gen(function* () {
      const { server, url } = yield* databaseAt(beforeNameParts)
      const client = yield* clientOf(url)
      for (const statement of prepared) yield* ask(client, statement)
      expect(yield* Effect.provide(migrateTo(withNameParts), server)).toHaveLength(1)
      const made = yield* ask(client, "SELECT to_regclass('workspaces_name_parts')::text AS index")
      expect(made.rows).toStrictEqual([{ index }])
    })
  )

  it.scopedLive("of the parts of names fail the migration that meets another fault than a missing extension", () =>
    Effect.gen(function* () {
      const { server, url } = yield* databaseAt(beforeNameParts)
      const client = yield* clientOf(url)
      yield* ask(client, "DROP EXTENSION pg_trgm CASCADE")
      yield* ask(client, "CREATE FUNCTION show_trgm(text) RETURNS text[] LANGUAGE sql AS 'SELECT NULL::text[]'")
      expect(yield* Effect.either(Effect.provide(migrateTo(withNameParts), server))).toMatchObject({
        _tag: "Left",
        left: { message: 'Migration "630_workspace_name_parts" failed' }
      })
    })
  )

  it.scopedLive("of the parts of names are made by the first start after the extension was installed", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const client = yield* clientOf(url)
      const role = `role_${new URL(url).pathname.slice(1)}`
      yield* Effect.acquireRelease(ask(client, `CREATE ROLE ${role} LOGIN PASSWORD 'few'`), () =>
        Effect.zipRight(ask(client, `DROP OWNED BY ${role} CASCADE`), ask(client, `DROP ROLE ${role}`))
      )
      // It owns its tables, and may not install extensions
      yield* ask(client, `GRANT CREATE ON SCHEMA public TO ${role}`)
      const restricted = new URL(url)
      restricted.username = role
      restricted.password = "few"
      const start = Effect.scoped(Layer.build(Postgres.layer({ url: restricted.href })))
      const names = Effect.map(
        ask(
          client,
          "SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid WHERE relname IN ('users_by_text', 'workspaces_name_parts') AND indisvalid ORDER BY 1"
        ),
        ({ rows }) => rows.map(({ relname }) => relname)
      )
      yield* start
      expect(yield* names).toStrictEqual([])
      yield* ask(client, "CREATE EXTENSION pg_trgm")
      yield* Effect.all([start, start], { concurrency: "unbounded" })
      expect(yield* names).toStrictEqual(["users_by_text", "workspaces_name_parts"])
      yield* ask(client, "DROP INDEX users_by_text")
      const [writer, other] = yield* within(url, "UPDATE users SET name = name")
      const starting = yield* Effect.fork(start)
      yield* untilWaiting(other, "CREATE INDEX")
      // Another server starts without the index that the first one makes
      yield* start
      yield* ask(writer, "COMMIT")
      yield* Fiber.join(starting)
      expect(yield* names).toStrictEqual(["users_by_text", "workspaces_name_parts"])
    })
  )

  it.scopedLive("of the parts of names are made by a server that is there when another one could not end them", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const client = yield* clientOf(url)
      // The pauses of minutes are short
      const real = Clock.make()
      const clock = Object.assign(Clock.make(), {
        sleep: (duration: Duration.Duration) => real.sleep(Duration.min(duration, "300 millis"))
      })
      const start = Effect.withClock(Layer.build(Postgres.layer({ url })), clock)
      const isValid = Effect.map(
        ask(client, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('users_by_text')"),
        ({ rows }) => rows.map(({ indisvalid }) => indisvalid)
      )
      yield* Effect.scoped(start)
      yield* ask(client, "DROP INDEX users_by_text")
      const [writer, other] = yield* within(url, "UPDATE users SET name = name")
      const first = yield* Scope.make()
      const starting = yield* Effect.fork(Scope.extend(start, first))
      yield* untilWaiting(other, "CREATE INDEX")
      yield* start
      yield* ask(
        client,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%' AND datname = current_database()"
      )
      yield* Fiber.join(starting)
      yield* Scope.close(first, Exit.void)
      expect(yield* isValid).toStrictEqual([false])
      yield* ask(writer, "COMMIT")
      yield* Effect.repeat(isValid, { until: ([valid]) => valid === true, schedule: Schedule.spaced("100 millis") })
    })
  )

  it.scopedLive("of the parts of names are tried again after longer and longer pauses where they cannot be made", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabaseUrl
      const client = yield* clientOf(url)
      const pauses: Array<number> = []
      const real = Clock.make()
      const clock = Object.assign(Clock.make(), {
        sleep: (duration: Duration.Duration) => {
          if (Duration.greaterThanOrEqualTo(duration, "5 minutes")) pauses.push(Duration.toMinutes(duration))
          return real.sleep(Duration.min(duration, "10 millis"))
        }
      })
      const start = Effect.withClock(Layer.build(Postgres.layer({ url })), clock)
      yield* Effect.scoped(start)
      yield* ask(
        client,
        `DROP INDEX users_by_text;
        CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$;
        CREATE EVENT TRIGGER refused ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse()`
      )
      yield* start
      yield* Effect.repeat(Effect.void, { until: () => pauses.length >= 9, schedule: Schedule.spaced("100 millis") })
      expect(pauses.slice(0, 9)).toStrictEqual([5, 10, 20, 40, 80, 160, 320, 360, 360])
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
  )

  it.scopedLive("leave the session of the pool without their settings", () =>
    Effect.gen(function* () {
      const { url } = yield* databaseAt(before)
      const storage = yield* Layer.build(Postgres.layer({ url, maxConnections: 1, statementTimeout: "7 seconds" }))
      const sql = Context.get(storage, Statements)
      expect(yield* sql`SHOW statement_timeout`).toStrictEqual([{ statement_timeout: "7s" }])
      expect(yield* sql`SELECT count(*)::int AS locks FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`).toStrictEqual([
        { locks: 0 }
      ])
    })
  )
})

describe("a table that a migration waits for", () => {
  it.scopedLive("answers others again after a second", () =>
    Effect.gen(function* () {
      const { server, url } = yield* databaseAt(withIndexes)
      const [reader, other] = yield* within(url, "SELECT count(*) FROM workspace_agents")
      const migrating = yield* Effect.fork(Effect.provide(migrateTo(withColumns), server))
      yield* untilWaiting(other, "ALTER TABLE workspace_agents")
      // It stands behind the migration, which has to give way
      yield* ask(other, "SELECT count(*) FROM workspace_agents")
      yield* ask(reader, "COMMIT")
      expect(yield* Fiber.join(migrating)).toStrictEqual([{ migration_id: withColumns, name: "seen_agents" }])
    })
  )
})

/** Agents of one resource: 1,500 that have connected, and one that never did. */
const manyAgents = `WITH resource AS (
    INSERT INTO workspace_resources (id, created_at, job_id, transition, type, name, hide, icon, instance_type, daily_cost, module_path, metadata)
    VALUES (gen_random_uuid(), now(), gen_random_uuid(), 'start', '', '', FALSE, '', '', 0, '', '[]') RETURNING id
  )
  INSERT INTO workspace_agents (id, created_at, updated_at, resource_id, name, api_key_scope, architecture, operating_system, directory,
    expanded_directory, version, api_version, subsystems, display_apps, display_order, motd_file, troubleshooting_url,
    connection_timeout_seconds, lifecycle_state, logs_length, logs_count, logs_overflowed, deleted, last_connected_at)
  SELECT gen_random_uuid(), now(), now(), resource.id, 'agent' || i, 'all', '', '', '', '', '', '', '[]', '[]', 0, '', '', 120, 'ready', 0, 0, FALSE, FALSE,
    CASE WHEN i <= 1500 THEN now() END
  FROM resource, generate_series(1, 1501) AS i`

describe("rows that a migration fills", () => {
  it.scopedLive("are filled once others have let go of them", () =>
    Effect.gen(function* () {
      const { server, url } = yield* databaseAt(beforeLostAgents)
      const client = yield* clientOf(url)
      yield* ask(client, "SET session_replication_role = replica")
      yield* ask(client, manyAgents)
      yield* ask(client, "SET session_replication_role = origin")
      const [holder] = yield* within(
        url,
        "SELECT 1 FROM workspace_agents WHERE last_connected_at IS NOT NULL ORDER BY id LIMIT 1 FOR UPDATE"
      )
      const left = ask(client, "SELECT count(*)::int AS rows FROM workspace_agents WHERE seen_in IS NULL")
      const migrating = yield* Effect.fork(Effect.provide(migrateTo(withLostAgents), server))
      yield* Effect.repeat(left, { until: ({ rows }) => rows[0]?.["rows"] === 2, schedule: Schedule.spaced("10 millis") })
      yield* ask(holder, "COMMIT")
      expect(yield* Fiber.join(migrating)).toStrictEqual([{ migration_id: withLostAgents, name: "lost_agents" }])
      // The agent that never connected
      expect((yield* left).rows).toStrictEqual([{ rows: 1 }])
      const jobs = yield* ask(client, "SELECT count(*)::int AS rows FROM workspace_agents WHERE seen_job_id IS NOT NULL")
      expect(jobs.rows).toStrictEqual([{ rows: 1500 }])
    })
  )
})
