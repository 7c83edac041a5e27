import type { Stored } from "@atelier/core"
import type { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { HostOptions, StartError, startedWith } from "@atelier/core/platform"
import { layer as repositories, Statements } from "@atelier/storage"
import { Duration, Effect, Layer, Redacted } from "effect"
import { isPostgresUrl, withSettings, shown, urlForm } from "./ConnectionUrl.js"
import { layer as events } from "./EventBus.js"
import { layer as locks } from "./Locks.js"
import { makePool, makeReads, makeWrites } from "./Pool.js"
import { over } from "./PostgresStatements.js"

export { backup, type Backup, type BackupOptions, check, read, restore, type RestoreOptions, type Version } from "./Backup.js"

export interface Options {
  /** `postgres://user:password@host:port/database`. */
  readonly url: Redacted.Redacted<string> | string
  /** The connections of this process; default 10. It has four others: for events, for locks, for the reads that requests begin with, and for short writes. */
  readonly maxConnections?: number
  /**
   * How long a statement waits for a connection, and a read that a request begins with for its answer, before the request is answered 503;
   * 10 seconds unless given.
   */
  readonly connectionTimeout?: Duration.DurationInput
  /**
   * How long another statement may run before PostgreSQL ends it and its request is answered 503; a minute unless given. A connection that is silent for five
   * seconds longer is given up. Migrations have no limit.
   */
  readonly statementTimeout?: Duration.DurationInput
}

const optionsSchema = HostOptions.object<Options>(
  {
    url: HostOptions.SecretText.annotations({ description: urlForm }),
    maxConnections: HostOptions.wholeNumber(1),
    connectionTimeout: HostOptions.Time,
    statementTimeout: HostOptions.Time
  },
  ["url"]
)

/**
 * Everything the services need stored, in one PostgreSQL database, shared by any number of processes. Version 14 or newer. Fails with
 * `StartError` when the database cannot be used.
 */
export const layer = (options: Options): Layer.Layer<Stored | Statements | SqlClient.SqlClient | PgClient.PgClient, StartError> =>
  HostOptions.checkedLayer("storage", optionsSchema, options, () => layerOf(options))

const layerOf = (options: Options) => {
  const given = Redacted.isRedacted(options.url) ? Redacted.value(options.url) : options.url
  // A text that does not parse may have its password anywhere
  if (!isPostgresUrl(given)) {
    return Layer.fail(new StartError({ option: "storage.url", reason: `must be ${urlForm}` }))
  }
  const url = Redacted.make(withSettings(given))
  const limits = {
    max: options.maxConnections ?? 10,
    connectionTimeout: Duration.toMillis(options.connectionTimeout ?? "10 seconds"),
    statementTimeout: Duration.toMillis(options.statementTimeout ?? "1 minute")
  }
  const connected = Effect.gen(function* () {
    const { begun, pool, servedBy } = yield* makePool(url, limits)
    const reads = yield* makeReads(url, limits)
    const writes = yield* makeWrites(url, limits, pool)
    return Layer.mergeAll(
      repositories,
      locks(url),
      events(url, (processId) => servedBy(processId) || writes.servedBy(processId))
    ).pipe(
      Layer.provideMerge(
        Layer.effect(
          Statements,
          Effect.map(PgClient.PgClient, (client) => over(client, pool, reads, writes))
        )
      ),
      Layer.provideMerge(PgClient.layerFromPool({ acquire: Effect.succeed(pool) })),
      Layer.tap(() => begun)
    )
  })
  return Layer.unwrapScoped(connected).pipe(startedWith({ option: "storage.url", value: shown(given) }))
}
