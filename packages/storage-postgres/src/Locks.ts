import { SqlClient } from "@effect/sql"
import { Locks } from "@atelier/core/platform"
import { Effect, Layer, Option } from "effect"

/**
 * Advisory locks of a session: a process that dies loses its connections, and with them its locks. A lock keeps one connection of the
 * pool while it is held.
 */
export const layer = Layer.effect(
  Locks,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Locks.of({
      tryWith: (name, effect) =>
        Effect.scoped(
          Effect.gen(function* () {
            const connection = yield* Effect.orDie(sql.reserve)
            const key = `hashtextextended($1, 0)`
            const acquired = yield* Effect.acquireRelease(
              Effect.orDie(connection.executeValues(`SELECT pg_try_advisory_lock(${key})`, [`atelier:${name}`])).pipe(
                Effect.map((rows) => rows[0]?.[0] === true)
              ),
              (held) =>
                held ? Effect.ignore(connection.executeValues(`SELECT pg_advisory_unlock(${key})`, [`atelier:${name}`])) : Effect.void
            )
            return acquired ? yield* Effect.map(effect, Option.some) : Option.none()
          })
        )
    })
  )
)
