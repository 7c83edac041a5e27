import { Migrator, SqlClient, type SqlError } from "@effect/sql"
import { Cause, Effect, Layer } from "effect"
import { migrations as agents } from "./agents/layer.js"
import { migrations as ai } from "./ai/layer.js"
import { migrations as audit } from "./audit/layer.js"
import { migrations as deployment } from "./deployment/layer.js"
import { migrations as externalAuth } from "./externalAuth/layer.js"
import { migrations as groups } from "./groups/layer.js"
import { migrations as identity } from "./identity/layer.js"
import { migrations as insights } from "./insights/layer.js"
import { migrations as logs } from "./logs/layer.js"
import { migrations as network } from "./network/layer.js"
import { migrations as notifications } from "./notifications/layer.js"
import { migrations as oauth2 } from "./oauth2/layer.js"
import { migrations as organizations } from "./organizations/layer.js"
import { gathering } from "./platform/Gathering.js"
import { migrations as platform } from "./platform/layer.js"
import { migrations as provisioning } from "./provisioning/layer.js"
import { migrations as retention } from "./retention/layer.js"
import { migrations as tasks } from "./tasks/layer.js"
import { migrations as templates } from "./templates/layer.js"
import { migrations as workspaces } from "./workspaces/layer.js"
import { inDialect } from "./platform/Dialect.js"

/**
 * The migrations of each area. One that has landed is never edited. On PostgreSQL, statements without parameters by `sql.unsafe` or `ddl` wait for the next
 * other one, so that they answer no rows: a migration reads with the template.
 */
export const areas: ReadonlyArray<Readonly<Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>>> = [
  agents,
  ai,
  audit,
  deployment,
  externalAuth,
  groups,
  identity,
  insights,
  logs,
  network,
  notifications,
  oauth2,
  organizations,
  platform,
  provisioning,
  retention,
  tasks,
  templates,
  workspaces
]

/** Every migration, in the order of its number. A new one has the highest number: a store looks for no lower one than the last it has applied. */
export const migrations = Object.fromEntries(areas.flatMap(Object.entries).toSorted(([one], [other]) => (one < other ? -1 : 1)))

/** The record of the migrations that have run. */
export const table = "atelier_migrations"

/** The migrator makes its table by itself, but on PostgreSQL only one of the processes that find an empty database together can. */
const makeTable = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  inDialect(sql, {
    postgres: () =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`atelier:${table}`}, 0))`
          const [existing] = yield* sql`SELECT 1 WHERE to_regclass(${table}) IS NOT NULL`
          if (existing !== undefined) return
          yield* sql`CREATE TABLE ${sql(table)} (
            migration_id integer PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL)`
        })
      ),
    sqlite: () => Effect.void
  })
)

/** A migration of a large table, or of another process that is waited for, may take longer than the statements of requests may. */
const withoutTimeout = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(Effect.zipRight(sql`SET LOCAL statement_timeout = 0`, effect)))

const run = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table })

/**
 * Brings the store to the present schema. Processes that start together wait for each other. A round trip for each statement would take a third of the
 * time on PostgreSQL.
 */
export const migrate = Effect.zipRight(
  makeTable,
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    inDialect(sql, {
      postgres: () =>
        Effect.catchAllCause(withoutTimeout(Effect.provideService(run, SqlClient.SqlClient, gathering(sql))), (cause) =>
          // Nothing has changed. The failure of gathered texts names no migration, which that of the same texts one by one does
          Cause.isInterrupted(cause) ? Effect.failCause(cause) : withoutTimeout(run)
        ),
      sqlite: () => run
    })
  )
)

/** The number of the last migration that this version knows. */
const latest = Math.max(...Object.keys(migrations).map((name) => Number(name.slice(0, 4))))

/**
 * Fails if a newer version has migrated the store: what this version reads may be named otherwise there, or be gone. It is asked after the migrations, because a
 * newer version may migrate at the same time.
 */
const refuseNewer = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [last] = yield* sql<{
    readonly migration_id: number
    readonly name: string
  }>`SELECT migration_id, name FROM ${sql(table)} ORDER BY migration_id DESC LIMIT 1`
  if (last === undefined || last.migration_id <= latest) return
  const applied = `${String(last.migration_id).padStart(4, "0")}_${last.name}`
  return yield* Effect.dieMessage(
    `belongs to a newer version of Atelier, which applied the migration ${applied}; this version knows none after ${String(latest).padStart(4, "0")}. Start the newer version, or restore a backup that was made before the upgrade`
  )
})

/** Migrates the store. Dies if it cannot, and for a store of a newer version. */
export const layer = Layer.effectDiscard(Effect.orDie(Effect.zipRight(migrate, refuseNewer)))
