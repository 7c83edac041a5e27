/** A store in a database that the host has opened: an example of a storage backend. docs/extending.md */
import type { Stored } from "@atelier/core"
import { EventBus, Locks } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { clientStatements, layer as repositories, Statements } from "@atelier/storage"

/** Lets one fiber of this process at a time do what a name stands for. */
const locks = Layer.sync(Locks, () => {
  const held = new Set<string>()
  return Locks.of({
    tryWith: (name, effect) =>
      Effect.suspend(() => {
        if (held.has(name)) return Effect.succeedNone
        held.add(name)
        return Effect.ensuring(
          Effect.asSome(effect),
          Effect.sync(() => held.delete(name))
        )
      })
  })
})

/** SQLite checks foreign keys only where a connection asks for it. */
const foreignKeys = Layer.effectDiscard(Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.orDie(sql`PRAGMA foreign_keys = ON`)))

/** How the repositories ask the database: here by the client as it is. */
const statements = Layer.effect(Statements, Effect.map(SqlClient.SqlClient, clientStatements))

/** Everything that the services need stored, on any client of SQLite; for one process. */
export const layer = <E>(client: Layer.Layer<SqlClient.SqlClient, E>) =>
  Layer.mergeAll(repositories, locks, EventBus.layerMemory).pipe(
    Layer.provide(statements),
    Layer.provide(foreignKeys),
    Layer.provide(client)
  ) satisfies Layer.Layer<Stored, E>
