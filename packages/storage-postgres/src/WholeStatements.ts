import { SqlClient, type SqlError, type Statement } from "@effect/sql"
import { isSharedWrite, isStatement, sharedItem } from "@atelier/storage"
import { Effect, FiberRef } from "effect"
import type pg from "pg"
import { isRefusal, sqlError } from "./SharedConnection.js"
import type { SharedReads } from "./SharedReads.js"
import type { SharedWrites } from "./SharedWrites.js"

/** A lost connection fails its statement. */
const ignoreLoss = (): void => {}

/** Runs a statement on a connection of its own. The pool's own `query` gives a connection up with whatever statement fails. */
export const runOn =
  (pool: pg.Pool) =>
  <A extends object>(text: string, parameters: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> =>
    Effect.async((resume) => {
      const fail = (cause: unknown): void => resume(sqlError(cause))
      pool.connect((refusal, client) => {
        if (client === undefined) return fail(refusal)
        client.on("error", ignoreLoss)
        client.query<A>(text, [...parameters], (cause: Error | undefined, result) => {
          client.off("error", ignoreLoss).release(cause && !isRefusal(cause) ? cause : undefined)
          if (cause) fail(cause)
          else resume(Effect.succeed(result.rows))
        })
      })
    })

/**
 * The client, with statements that always run to their end. The database cancels an interrupted statement by the process id of its
 * connection, which by then may run another statement. Outside of transactions, statements go straight to the pool: the span and scope of
 * each cost as much as all the rest. With tracing enabled, statements have their spans. Those that are texts with parameters are the short reads
 * that storage prepares, and share one connection. So do those that storage has marked as short writes.
 */
export const whole = (client: SqlClient.SqlClient, pool: pg.Pool, { read }: SharedReads, { write }: SharedWrites): SqlClient.SqlClient => {
  const query = runOn(pool)

  const uncut = <A extends object>(
    statement: Statement.Statement<A>,
    run: () => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>
  ): Statement.Statement<A> =>
    Object.assign(statement, {
      // Runs the statement of an effect that the library made
      commit: () =>
        Effect.uninterruptible(
          Effect.withFiberRuntime<ReadonlyArray<A>, SqlError.SqlError>((fiber) => {
            const isInside = fiber.currentContext.unsafeMap.has(SqlClient.TransactionConnection.key)
            return isInside || fiber.getFiberRef(FiberRef.currentTracerEnabled) ? statement.withoutTransform : run()
          })
        )
    })

  const built = (statement: Statement.Statement<object>): Statement.Statement<object> =>
    uncut(statement, () => (isSharedWrite(statement) ? write : query)(...statement.compile(true)))

  const unsafe = <A extends object>(text: string, parameters: ReadonlyArray<unknown> = []): Statement.Statement<A> => {
    const statement = client.unsafe<A>(text, parameters)
    return uncut(statement, () => {
      if (isSharedWrite(statement)) return write<A>(text, parameters, sharedItem(statement))
      return parameters.length === 0 ? query<A>(text, parameters) : read<A>(text, parameters, sharedItem(statement))
    })
  }
  const made: SqlClient.SqlClient = new Proxy(client, {
    apply: (target, self, parameters) => {
      const made: unknown = Reflect.apply(target, self, parameters)
      return isStatement(made) ? built(made) : made
    },
    get: (target, name) => (name === "safe" ? made : name === "unsafe" ? unsafe : Reflect.get(target, name))
  })
  return made
}
