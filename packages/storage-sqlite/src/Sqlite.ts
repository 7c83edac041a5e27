import type { Stored } from "@atelier/core"
import { SqlClient } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import {
  EventBus,
  HostOptions,
  Locks,
  running,
  service,
  services,
  stacked,
  standingOn,
  type StartError,
  startedWith
} from "@atelier/core/platform"
import { layer as repositories, Statements } from "@atelier/storage"
import { Context, Effect, type Layer, Option, type Scope } from "effect"
import { over } from "./SqliteStatements.js"
import { forServers, owned } from "./FileOwner.js"
import { type Watch, watchOf } from "./Watch.js"
import { clientOf } from "./WriteAheadLog.js"

export { backup, type Backup, type BackupOptions, check, read, restore, type RestoreOptions, type Version } from "./Backup.js"

export interface Options {
  /**
   * The database file, made when absent, for its owner alone; `:memory:` lasts as long as the layer. One process at a time may use it.
   */
  readonly filename: string
}

const pragmas = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`PRAGMA foreign_keys = ON`
  // In WAL mode NORMAL keeps every committed transaction over a crash of the process; a power loss may drop the last ones
  yield* sql`PRAGMA synchronous = NORMAL`
  yield* sql`PRAGMA busy_timeout = 5000`
})

/**
 * What statements put aside while they run stays in memory: a page of workspaces takes a quarter less time so. Not while the store is migrated: what an index of
 * a large table is made of may be larger than the memory.
 */
const temporaries = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`PRAGMA temp_store = MEMORY`
})

/** Mutual exclusion within the one process that uses the database. */
const locks = service(
  Locks,
  Effect.sync(() => {
    const held = new Set<string>()
    return Locks.of({
      tryWith: (name, effect) =>
        Effect.suspend(() => {
          if (held.has(name)) return Effect.succeedNone
          held.add(name)
          return Effect.ensuring(
            Effect.map(effect, Option.some),
            Effect.sync(() => held.delete(name))
          )
        })
    })
  })
)

type Watching = Effect.Effect<Watch | undefined, never, Scope.Scope | SqlClient.SqlClient>

/** The port of storage, and a client for the host whose transactions the port knows. */
const statements = (watching: Watching) =>
  services(
    Effect.gen(function* () {
      const given = yield* SqliteClient.SqliteClient
      const watch = yield* Effect.provideService(watching, SqlClient.SqlClient, given)
      const { client, statements } = yield* over(given, watch)
      return Context.make(Statements, statements).pipe(
        Context.add(SqlClient.SqlClient, client),
        Context.add(SqliteClient.SqliteClient, client)
      )
    })
  )

const layerWith = <E>(client: Layer.Layer<SqliteClient.SqliteClient, E>, watching: Watching) =>
  stacked(
    client,
    statements(watching),
    running(Effect.orDie(pragmas)),
    repositories,
    running(Effect.orDie(temporaries)),
    locks,
    EventBus.layerMemory
  )

/**
 * Everything the services need stored, in the database of a client that the host has made. The host takes the client of this layer for its own transactions: the
 * services know nothing of those of the client that it gives.
 */
export const layerOn = <E>(client: Layer.Layer<SqliteClient.SqliteClient, E>) => layerWith(client, Effect.succeed(undefined))

const optionsSchema = HostOptions.object<Options>({ filename: HostOptions.FilledText }, ["filename"])

/** Everything the services need stored, in one SQLite database. Fails with `StartError` when the file cannot be used, or is in use. */
export const layer = (options: Options) =>
  HostOptions.checkedLayer("storage", optionsSchema, options, () => {
    const { filename } = options
    const store = layerWith(clientOf(filename), watchOf(filename))
    const alone = filename === ":memory:" ? store : standingOn(store, running(owned(filename, forServers)))
    return alone.pipe(startedWith({ option: "storage.filename", value: filename }))
  }) satisfies Layer.Layer<Stored, StartError>
