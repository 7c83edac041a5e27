import { SqlClient, type SqlConnection as Connection, type SqlError, type Statement } from "@effect/sql"
import { isStatement } from "@atelier/storage"
import { Effect, FiberRef, Scope } from "effect"

const run =
  (text: string) =>
  (connection: Connection.Connection): Effect.Effect<void, SqlError.SqlError> =>
    Effect.asVoid(connection.execute(text, [], undefined))

/** SQLite ends a transaction by itself when its disk is full; then there is nothing to roll back. */
const rollback = (connection: Connection.Connection): Effect.Effect<void> => Effect.ignore(run("ROLLBACK")(connection))

/**
 * Transactions of a client. One that cannot be committed, for want of space or by a rule that is checked then, stays open in SQLite: it is
 * rolled back, because the statements of others would become part of it and never be kept.
 */
const transactions = (client: SqlClient.SqlClient) =>
  SqlClient.makeWithTransaction({
    transactionTag: SqlClient.TransactionConnection,
    spanAttributes: [["db.system.name", "sqlite"]],
    acquireConnection: Effect.flatMap(Scope.make(), (scope) =>
      Effect.map(Scope.extend(client.reserve, scope), (connection) => [scope, connection] as const)
    ),
    begin: run("BEGIN"),
    savepoint: (connection, id) => run(`SAVEPOINT nested_${id}`)(connection),
    commit: (connection) => Effect.tapErrorCause(run("COMMIT")(connection), () => rollback(connection)),
    rollback,
    rollbackSavepoint: (connection, id) => run(`ROLLBACK TO SAVEPOINT nested_${id}`)(connection)
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
    const withTransaction = transactions(client)
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
          () => withTransaction(effect),
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
