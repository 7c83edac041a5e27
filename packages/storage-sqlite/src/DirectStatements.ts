import { SqlClient, type SqlError, type Statement } from "@effect/sql"
import { type Cause, Effect, FiberRef } from "effect"

/** A call of the client makes a statement, which is an effect, or a name. */
const isStatement = (made: unknown): made is Statement.Statement<object> => Effect.isEffect(made)

/**
 * Runs an effect in a transaction and fails as the effect does. SQLite ends a transaction by itself when its disk is full; the statement that
 * rolls it back fails then, and would hide why.
 */
const withCause = <A, E, R>(
  withTransaction: SqlClient.SqlClient["withTransaction"],
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.suspend(() => {
    let failure: Cause.Cause<E> | undefined
    const observed = Effect.tapErrorCause(effect, (cause) => Effect.sync(() => void (failure = cause)))
    return Effect.catchAllCause(withTransaction(observed), (cause) => Effect.failCause(failure ?? cause))
  })

/**
 * The client, with statements that go straight to its connection. A statement on SQLite is one synchronous call, so outside of
 * transactions no other fiber can come between; the span, scope and permit that each statement takes by itself cost twice as much as
 * the call. While a transaction is open, the statements of other fibers wait for its end as before, and where spans are wanted
 * statements have theirs.
 */
export const direct = (client: SqlClient.SqlClient): Effect.Effect<SqlClient.SqlClient> =>
  Effect.map(Effect.scoped(Effect.orDie(client.reserve)), (connection) => {
    /** How many hold the connection for themselves or wait to. */
    let exclusive = 0
    const begin = Effect.sync(() => void exclusive++)
    const end = Effect.sync(() => void exclusive--)

    const straight = <A extends object>(
      statement: Statement.Statement<A>,
      compile = (): readonly [string, ReadonlyArray<unknown>] => statement.compile(true)
    ): Statement.Statement<A> =>
      Object.assign(statement, {
        // Runs the statement of an effect that the library made
        commit: (): Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> =>
          Effect.withFiberRuntime((fiber) => {
            const isInside = fiber.currentContext.unsafeMap.has(SqlClient.TransactionConnection.key)
            if ((exclusive > 0 && !isInside) || fiber.getFiberRef(FiberRef.currentTracerEnabled)) return statement.withoutTransform
            const [text, parameters] = compile()
            return connection.execute(text, parameters, undefined)
          })
      })

    const replaced = {
      unsafe: <A extends object>(text: string, parameters: ReadonlyArray<unknown> = []) =>
        straight(client.unsafe<A>(text, parameters), () => [text, parameters]),
      withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.acquireUseRelease(
          begin,
          () => withCause(client.withTransaction, effect),
          () => end
        ),
      reserve: Effect.zipRight(
        Effect.acquireRelease(begin, () => end),
        client.reserve
      )
    }
    const names: Readonly<Record<PropertyKey, unknown>> = replaced
    const made: SqlClient.SqlClient = new Proxy(client, {
      apply: (target, self, parameters) => {
        const made: unknown = Reflect.apply(target, self, parameters)
        return isStatement(made) ? straight(made) : made
      },
      get: (target, name) => (name === "safe" ? made : Object.hasOwn(replaced, name) ? names[name] : Reflect.get(target, name))
    })
    return made
  })
