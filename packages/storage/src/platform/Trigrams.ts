/** Indexes of trigrams on PostgreSQL. They need an extension, which servers may lack or keep from the owner of the database. */
import { Background } from "@atelier/core/platform"
import type { SqlError } from "@effect/sql"
import { Duration, Effect, type Scope } from "effect"
import { indexes } from "./Indexes.js"
import { Statements } from "./Statements.js"

/**
 * The conditions of PL/pgSQL under which a server does not have the extension, or does not let the owner of the database install it. The second is that of PostgreSQL 14,
 * and the third that of later versions. Another failure, such as a lock that is not free in time, is one of the migration.
 */
export const outOfReach = "insufficient_privilege OR undefined_file OR feature_not_supported"

/** Returns whether statements find the operators of the extension by their names. */
const hasTrigrams = Effect.flatMap(Statements, (sql) =>
  Effect.map(sql`SELECT 1 FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid)`, (found) => found.length > 0)
)

/** Installs the extension where the server offers it to the owner of the database. Returns whether statements find its operators. */
export const installed = Effect.gen(function* () {
  const sql = yield* Statements
  yield* sql.run(`DO $$
    BEGIN
      CREATE EXTENSION IF NOT EXISTS pg_trgm;
    EXCEPTION WHEN ${outOfReach} THEN
      RAISE NOTICE 'without pg_trgm, searches for a part of a name read all names: %', SQLERRM;
    END $$`)
  return yield* hasTrigrams
})

/** How long a start may be delayed by indexes that it can do without, and how long a later attempt may take. */
const madeWithin = { start: "1min", later: "10min" }

/** The pause before a later attempt, which doubles with each: what fails again and again reads the whole table each time, and may fill the disk. */
const again = { first: Duration.minutes(5), longest: Duration.hours(6) }

interface Wanted {
  /** The indexes by their names. */
  readonly create: Readonly<Record<string, string>>
  /** The lock of the process that changes indexes. */
  readonly key: string
}

/** Makes the indexes that are lacking or that an attempt has left unfinished, unless another process does. Returns whether none was lacking. */
const attempt = ({ create, key }: Wanted, within: string) =>
  Effect.gen(function* () {
    const sql = yield* Statements
    const names = Object.keys(create)
    const lacking = yield* sql`SELECT 1 FROM unnest(CAST(${names} AS text[])) AS wanted (name)
      WHERE EXISTS (SELECT 1 FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))
        AND NOT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(name) AND indisvalid)`
    if (lacking.length === 0) return true
    const make = Effect.gen(function* () {
      const [lock] = yield* sql<{ readonly is_ours: boolean }>`SELECT pg_try_advisory_lock(hashtextextended(${key}, 0)) AS is_ours`
      if (lock?.is_ours !== true) return
      yield* Effect.logInfo("the extension pg_trgm is there by now: the indexes that need it are made")
      yield* sql.run(`SET statement_timeout = '${within}'`)
      yield* indexes(create).concurrently
    })
    const leave = Effect.forEach(["SELECT pg_advisory_unlock_all()", "RESET statement_timeout"], (text) => Effect.ignore(sql.run(text)))
    yield* Effect.catchAll(sql.session(Effect.ensuring(make, leave)), (error) =>
      Effect.logWarning("searches for a part of a name go on without an index: it could not be made", error)
    )
    return false
  })

/**
 * Makes the indexes that the migrations did not make because the extension was out of reach then. No write waits for it, and a start that cannot make them goes on. Of the
 * processes that start together one makes them, and the others do not wait for it. Each of them looks again until all indexes are there: the one that makes them may end before.
 */
export const complete = (wanted: Wanted): Effect.Effect<void, SqlError.SqlError, Statements | Scope.Scope> =>
  Effect.gen(function* () {
    if (yield* attempt(wanted, madeWithin.start)) return
    const looking = attempt(wanted, madeWithin.later).pipe(
      Effect.catchAllCause((cause) => Effect.as(Background.logFailure("the indexes of trigrams could not be looked at", cause), false))
    )
    const lookAfter = (pause: Duration.Duration): Effect.Effect<void, never, Statements> =>
      Effect.flatMap(Effect.delay(looking, pause), (isComplete) =>
        isComplete ? Effect.void : lookAfter(Duration.min(Duration.times(pause, 2), again.longest))
      )
    yield* Background.once("trigram_indexes", lookAfter(again.first))
  })
