import { SqlClient, type SqlConnection as Connection, type SqlError } from "@effect/sql"
import { makeStatements, type Statements, transactionOf } from "@atelier/storage"
import { Effect, Exit, FiberRef, Scope } from "effect"
import type { Watch } from "./Watch.js"

const send =
  (text: string) =>
  (connection: Connection.Connection): Effect.Effect<void, SqlError.SqlError> =>
    Effect.asVoid(connection.execute(text, [], undefined))

/** SQLite ends a transaction by itself when its disk is full; then there is nothing to roll back. */
const rollback = (connection: Connection.Connection): Effect.Effect<void> => Effect.ignore(send("ROLLBACK")(connection))

/**
 * Transactions on connections. One that cannot be committed, for want of space or by a rule that is checked then, stays open in SQLite: it is
 * rolled back, because the statements of others would become part of it and never be kept.
 */
const transactions = (reserve: SqlClient.SqlClient["reserve"]): SqlClient.SqlClient["withTransaction"] =>
  SqlClient.makeWithTransaction({
    transactionTag: SqlClient.TransactionConnection,
    spanAttributes: [["db.system.name", "sqlite"]],
    acquireConnection: Effect.flatMap(Scope.make(), (scope) =>
      Effect.map(Scope.extend(reserve, scope), (connection) => [scope, connection] as const)
    ),
    begin: send("BEGIN"),
    savepoint: (connection, id) => send(`SAVEPOINT nested_${id}`)(connection),
    commit: (connection) => Effect.tapErrorCause(send("COMMIT")(connection), () => rollback(connection)),
    rollback,
    rollbackSavepoint: (connection, id) => send(`ROLLBACK TO SAVEPOINT nested_${id}`)(connection)
  })

/** What stands for the content of the database, as long as no connection has written. */
interface Revision {
  readonly changes?: unknown
  readonly data_version?: unknown
}

/** By a watch. Undefined where it fails: rows are read then. */
const watchedRevision = (watch: Watch): (() => Revision | undefined) => {
  let current: Revision = {}
  return () => {
    try {
      const data_version = watch()
      if (data_version !== current.data_version) current = { data_version }
      return current
    } catch {
      return undefined
    }
  }
}

/**
 * By what was written on a connection, and whether anything was written on others. Each is a statement that is prepared once,
 * here: one statement for both would prepare the pragma anew each time, and the client looks its prepared statements up.
 */
const countedRevision = (connection: Connection.Connection): Effect.Effect<Revision, SqlError.SqlError> => {
  const changes = connection.executeUnprepared("SELECT total_changes() AS changes", [], undefined)
  const version = connection.executeUnprepared("PRAGMA data_version", [], undefined)
  let current: Revision = {}
  return Effect.flatMap(version, ([{ data_version } = {}]: ReadonlyArray<Revision>) =>
    Effect.map(changes, ([{ changes } = {}]: ReadonlyArray<Revision>) => {
      if (changes !== current.changes || data_version !== current.data_version) current = { changes, data_version }
      return current
    })
  )
}

/** Both ways to ask: at once, and in a fiber. */
const revisionsOn = (connection: Connection.Connection, watch: Watch | undefined) => {
  if (watch !== undefined) {
    const now = watchedRevision(watch)
    return { now, inFiber: Effect.sync(now) }
  }
  const inFiber = countedRevision(connection)
  return {
    now: () => {
      const present = Effect.runSyncExit(inFiber)
      return Exit.isSuccess(present) ? present.value : undefined
    },
    inFiber
  }
}

/**
 * Statements that go straight to the connection of a client. A statement on SQLite is one synchronous call, so outside of
 * transactions no other fiber can come between; the span, scope and permit that each statement of the client takes cost several times as much as
 * the call. While a transaction is open, the statements of other fibers wait for its end, and where spans are wanted
 * statements have theirs. The client that is returned beside them is for others: its transactions are known to these statements.
 */
export const over = <Client extends SqlClient.SqlClient>(
  given: Client,
  watch?: Watch
): Effect.Effect<{ readonly statements: Statements; readonly client: Client }> =>
  Effect.map(Effect.scoped(Effect.orDie(given.reserve)), (connection) => {
    /** How many hold the connection for themselves or wait to. */
    let exclusive = 0
    const begin = Effect.sync(() => void exclusive++)
    const end = Effect.sync(() => void exclusive--)
    const reserve = Effect.zipRight(
      Effect.acquireRelease(begin, () => end),
      given.reserve
    )
    const inTransaction = transactions(given.reserve)
    // A scope of its own for the count would cost a third of a transaction
    const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
      Effect.acquireUseRelease(
        begin,
        () => inTransaction(effect),
        () => end
      )
    const client: Client = Object.assign(given.bind(undefined), given, { reserve, withTransaction })
    Object.assign(client, { safe: client })

    const revisions = revisionsOn(connection, watch)
    const statements: Statements = makeStatements(client, {
      run: (text, values) =>
        Effect.withFiberRuntime((fiber) => {
          if (fiber.getFiberRef(FiberRef.currentTracerEnabled)) return client.unsafe<object>(text, values).withoutTransform
          const own = transactionOf(fiber) ?? (exclusive === 0 ? connection : undefined)
          return own !== undefined
            ? own.execute(text, values, undefined)
            : Effect.scoped(Effect.flatMap(reserve, (free) => free.execute(text, values, undefined)))
        }),
      revision: Effect.withFiberRuntime((fiber) =>
        // With spans, each request shows all that it may ask for
        exclusive > 0 || transactionOf(fiber) !== undefined || fiber.getFiberRef(FiberRef.currentTracerEnabled)
          ? Effect.succeed(undefined)
          : revisions.inFiber
      ),
      revisionNow: () => (exclusive > 0 ? undefined : revisions.now()),
      batch: (texts) => Effect.forEach(texts, (text) => statements.run(text, []), { discard: true }),
      transaction: withTransaction
    })
    return { statements, client }
  })
