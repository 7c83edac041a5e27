import { SqlError } from "@effect/sql"
import { running } from "@atelier/core/platform"
import { Duration, Effect, Schedule } from "effect"
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
import { migrations as platform } from "./platform/layer.js"
import { migrations as provisioning } from "./provisioning/layer.js"
import { migrations as retention } from "./retention/layer.js"
import { migrations as tasks } from "./tasks/layer.js"
import { migrations as templates } from "./templates/layer.js"
import { migrations as workspaces } from "./workspaces/layer.js"
import { trigramIndexes as usersByText } from "./identity/migrations/0087_user_pages.js"
import { trigramIndexes as workspacesByName } from "./workspaces/migrations/0630_workspace_name_parts.js"
import type { Indexes } from "./platform/Indexes.js"
import { Statements } from "./platform/Statements.js"
import * as Trigrams from "./platform/Trigrams.js"

type Change = Effect.Effect<void, SqlError.SqlError, Statements>

/** The migrations of each area. One that has landed is never edited. */
export const areas: ReadonlyArray<Readonly<Record<string, Change | Indexes>>> = [
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
export const migrations = Object.fromEntries(
  areas.flatMap((area) => Object.entries(area)).toSorted(([one], [other]) => (one < other ? -1 : 1))
)

/** The record of the migrations that have run. */
export const table = "atelier_migrations"

/** Of the processes that find an empty database of PostgreSQL together, one makes the table. The others wait for it. */
const makeTable = (sql: Statements) =>
  sql.dialect({
    postgres: () =>
      sql.transaction(
        Effect.gen(function* () {
          yield* sql`SELECT pg_advisory_xact_lock(hashtextextended(${`atelier:${table}`}, 0))`
          const [existing] = yield* sql`SELECT 1 WHERE to_regclass(${table}) IS NOT NULL`
          if (existing !== undefined) return
          yield* sql`CREATE TABLE ${sql(table)} (
            migration_id integer PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now(), name text NOT NULL)`
        })
      ),
    sqlite: () =>
      sql`CREATE TABLE IF NOT EXISTS ${sql(table)} (
        migration_id integer PRIMARY KEY NOT NULL, created_at datetime NOT NULL DEFAULT current_timestamp, name VARCHAR(255) NOT NULL)`
  })

type Applied = {
  readonly migration_id: number
  readonly name: string
}

/** The last migration that was applied. */
const lastApplied = (sql: Statements) =>
  Effect.map(
    sql<Applied>`SELECT migration_id, name FROM ${sql(table)} ORDER BY migration_id DESC LIMIT 1`,
    ([last]): Applied => last ?? { migration_id: 0, name: "" }
  )

interface Migration extends Applied {
  readonly change: Change | Indexes
}

/** Every migration by its number and name. */
const numbered = Object.entries(migrations).map(([key, change]): Migration => {
  const [number = "", ...words] = key.split("_")
  return { migration_id: Number(number), name: words.join("_"), change }
})

/** The number of the last migration that this version knows. */
export const latest = Math.max(...numbered.map(({ migration_id }) => migration_id))

const failedIn =
  ({ migration_id, name }: Applied) =>
  ({ cause }: SqlError.SqlError) =>
    new SqlError.SqlError({ cause, message: `Migration "${migration_id}_${name}" failed` })

/** Runs migrations in the transaction of their caller, and records them. */
const run = (sql: Statements, lacking: ReadonlyArray<Migration>) =>
  Effect.gen(function* () {
    const applied = lacking.map(({ migration_id, name }): Applied => ({ migration_id, name }))
    yield* sql`INSERT INTO ${sql(table)} ${sql.insert(applied)}`
    for (const migration of lacking) {
      const { change } = migration
      yield* Effect.mapError(Effect.isEffect(change) ? change : change.inTransaction, failedIn(migration))
    }
    return applied
  })

/** What the store lacks up to a number. */
const lackingIn = (sql: Statements, upTo: number) =>
  Effect.map(lastApplied(sql), ({ migration_id: last }) => ({
    isEmpty: last === 0,
    lacking: numbered.filter(({ migration_id }) => migration_id > last && migration_id <= upTo)
  }))

/** One transaction. The store has one process, or no rows that requests wait for. */
const applyAll = (sql: Statements, upTo: number) =>
  sql.transaction(Effect.flatMap(lackingIn(sql, upTo), ({ lacking }) => (lacking.length === 0 ? Effect.succeed([]) : run(sql, lacking))))

/** How long requests wait behind a migration that waits for a table itself. */
const lockTimeout = Duration.seconds(1)

/** For ten minutes, a migration lets others have the tables it waits for, and tries again. */
const untilFree = Schedule.intersect(Schedule.jittered(Schedule.spaced("1 second")), Schedule.recurs(300))

/** Whether a migration has waited too long for a table, or it and a request have waited for each other. */
const isTaken = ({ cause }: SqlError.SqlError): boolean =>
  cause instanceof Error && "code" in cause && (cause.code === "55P03" || cause.code === "40P01")

/**
 * Applies the next migration that a PostgreSQL database lacks in a transaction of its own, so that it holds locks for no longer than it takes. An empty database gets all
 * at once. Returns the migration instead if it changes indexes alone. Processes that start together wait for each other.
 */
const applyNext = (sql: Statements, upTo: number) =>
  sql
    .transaction(
      Effect.gen(function* () {
        // A migration of a large table, or of another process that is waited for, may take longer than the statements of requests may
        yield* sql`SET LOCAL statement_timeout = 0`
        yield* sql`LOCK TABLE ${sql(table)} IN ACCESS EXCLUSIVE MODE`
        const { isEmpty, lacking } = yield* lackingIn(sql, upTo)
        const [next] = lacking
        if (next === undefined) return []
        if (isEmpty) return yield* run(sql, lacking)
        if (!Effect.isEffect(next.change)) return { next, indexes: next.change }
        yield* sql.run(`SET LOCAL lock_timeout = ${Duration.toMillis(lockTimeout)}`)
        return yield* run(sql, [next])
      })
    )
    .pipe(
      Effect.tapError((error) =>
        isTaken(error) ? Effect.logWarning(`${error.message}: others use a table that it changes. It is tried again`) : Effect.void
      ),
      Effect.retry({ while: isTaken, schedule: untilFree })
    )

/** The lock of the process that changes indexes. */
const indexesKey = `atelier:${table}:indexes`

/**
 * Changes indexes outside of transactions. A process that waits for the lock of another one asks again and again: a statement that waited would be one of those that
 * the other's statements wait for. The connection that changes the indexes holds the lock, so it is free when PostgreSQL has ended the change.
 */
const applyConcurrently = (sql: Statements, { migration_id, name }: Applied, { concurrently }: Indexes) => {
  const limits = ["statement_timeout", "lock_timeout"]
  const tryLock = Effect.map(
    sql<{ readonly is_ours: boolean }>`SELECT pg_try_advisory_lock(hashtextextended(${indexesKey}, 0)) AS is_ours`,
    ([row]) => row?.is_ours === true
  )
  const change = Effect.gen(function* () {
    // The statements wait for the transactions of others through locks
    for (const limit of limits) yield* sql.run(`SET ${limit} = 0`)
    if (!(yield* tryLock)) {
      yield* Effect.logInfo(`The migration ${numberOf(migration_id)} waits for another server that changes indexes`)
      yield* Effect.repeat(tryLock, { until: (isOurs) => isOurs, schedule: Schedule.spaced("200 millis") })
    }
    if ((yield* lastApplied(sql)).migration_id >= migration_id) return []
    yield* Effect.logInfo(`The migration ${numberOf(migration_id)} changes indexes, and waits for all transactions that began before`)
    yield* Effect.mapError(concurrently, failedIn({ migration_id, name }))
    yield* sql`INSERT INTO ${sql(table)} ${sql.insert({ migration_id, name })}`
    return [{ migration_id, name }]
  })
  // The connection goes back to the pool
  const leave = Effect.forEach(["SELECT pg_advisory_unlock_all()", ...limits.map((limit) => `RESET ${limit}`)], (text) =>
    Effect.ignore(sql.run(text))
  )
  return sql.session(Effect.ensuring(change, leave))
}

const applyOnline = (sql: Statements, upTo: number) =>
  Effect.gen(function* () {
    const applied: Array<Applied> = []
    for (;;) {
      const step = yield* applyNext(sql, upTo)
      if ("next" in step) applied.push(...(yield* applyConcurrently(sql, step.next, step.indexes)))
      else if (step.length === 0) return applied
      else applied.push(...step)
    }
  })

/** Applies what the store lacks up to a number, and returns what it applied. */
const apply = (sql: Statements, upTo: number) => sql.dialect({ postgres: () => applyOnline(sql, upTo), sqlite: () => applyAll(sql, upTo) })

/** Brings the store to the schema of a migration, by its number, and returns the migrations that it applied. */
export const migrateTo = (upTo: number) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    yield* makeTable(sql)
    return yield* apply(sql, upTo)
  })

/** Brings the store to the present schema. */
export const migrate = migrateTo(latest)

const numberOf = (migration_id: number): string => String(migration_id).padStart(4, "0")

/** Why this version cannot read what the last migration of a store has made; undefined if it can. */
const refusalOf = ({ migration_id, name }: Applied): string | undefined =>
  migration_id <= latest
    ? undefined
    : `belongs to a newer version of Atelier, which applied the migration ${numberOf(migration_id)}_${name}; this version knows none after ${numberOf(latest)}. Start the newer version, or restore a backup that was made before the upgrade`

/**
 * Fails if a newer version has migrated the store: what this version reads may be named otherwise there, or be gone. It is asked after the migrations, because a
 * newer version may migrate at the same time.
 */
const refuseNewer = Effect.gen(function* () {
  const refusal = refusalOf(yield* lastApplied(yield* Statements))
  if (refusal !== undefined) return yield* Effect.dieMessage(refusal)
})

/** Returns the number of the last migration of a store, which is not changed. Fails with the reason if it is no store of Atelier, or one of a newer version. */
export const versionOf = Effect.gen(function* () {
  const last = yield* Effect.orElseFail(lastApplied(yield* Statements), () => "is no database of Atelier")
  const refusal = last.migration_id === 0 ? "is no database of Atelier" : refusalOf(last)
  return refusal === undefined ? last.migration_id : yield* Effect.fail(refusal)
})

/** Makes what the migrations left out because the server lacked an extension. */
export const complete = Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () => Trigrams.complete({ create: { ...usersByText, ...workspacesByName }, key: indexesKey }),
    sqlite: () => Effect.void
  })
)

/**
 * Whether a store has the schema of this version already, as most starts find it: on PostgreSQL, each of the ten statements of migrations that change nothing waits for its
 * answer. A migration is recorded in its own transaction, or after it. A database without the record fails the statement.
 */
const isPresent = Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () => Effect.map(lastApplied(sql), ({ migration_id }) => migration_id === latest).pipe(Effect.orElseSucceed(() => false)),
    sqlite: () => Effect.succeed(false)
  })
)

/** Migrates the store. Dies if it cannot, and for a store of a newer version. */
export const layer = running(
  Effect.orDie(
    Effect.gen(function* () {
      if (!(yield* isPresent)) yield* Effect.zipRight(migrate, refuseNewer)
      yield* complete
    })
  )
)
