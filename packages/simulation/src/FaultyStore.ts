/**
 * The one database of all replicas: SQLite in memory, whose statements happen when the world says so, and fail as it says. A transaction has the database for
 * itself, so a history finds the faults between transactions and single statements.
 */
import { SqlClient, SqlError, type SqlConnection } from "@effect/sql"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { makeStatements, type Statements, transactionOf } from "@atelier/storage"
import { Context, Effect, type Fiber, FiberRef, HashMap, Layer, Option, Scope } from "effect"
import type { Process, World } from "./World.js"

/** What becomes of a statement or a commit. */
export type StoreFault =
  /** It is not done, and its sender is told so. */
  | "refused"
  /** It is done, and the connection dies before its sender hears of it. */
  | "unheard"
  /** It is not done, and its sender hears nothing until it gives up. */
  | "silent"
  /** It is done, and its sender hears nothing until it gives up. */
  | "done in silence"
  /** The transaction could not have run in any order with others, and is rolled back. */
  | "rolled back"

/** Decides what becomes of a statement, of the background work with this name; undefined where all goes well. */
export type DecideFault = (process: Process, text: string, work: string | undefined) => StoreFault | undefined

/** The name by which background work logs. */
const workOf = (fiber: Fiber.RuntimeFiber<unknown, unknown>): string | undefined => {
  const annotations = fiber.getFiberRef(FiberRef.currentLogAnnotations)
  const name = Option.getOrUndefined(Option.orElse(HashMap.get(annotations, "worker"), () => HashMap.get(annotations, "work")))
  return typeof name === "string" ? name : undefined
}

/** Milliseconds after which the driver gives up a statement. */
const readTimeout = 15_000

const failureOf = (code: string): SqlError.SqlError =>
  new SqlError.SqlError({ cause: Object.assign(new Error(code), { code }), message: "Failed to execute statement" })
const refused = failureOf("57P01")
const lost = failureOf("ECONNRESET")
const rolledBack = failureOf("40001")
const timedOut = new SqlError.SqlError({ cause: new Error("Query read timeout"), message: "Failed to execute statement" })

/** The connection of one transaction. */
interface Transaction {
  readonly process: Process
  readonly connection: SqlConnection.Connection
  /** Whether the database has ended it. */
  isOver: boolean
}

export interface FaultyStore {
  /** The database as one replica sees it. */
  readonly statementsOf: (process: Process) => Statements
  /** The database without faults and at once, for invariants. */
  readonly plain: Statements
  /** Rolls back what a process had begun. */
  readonly abandon: (process: Process) => void
  readonly setFaults: (decide: DecideFault | undefined) => void
  /** The content of the database, for others to begin with. */
  readonly content: Effect.Effect<Uint8Array>
}

/** As `Effect.async`, with the name of the background work that asks. */
const forWork = <A>(
  register: (work: string | undefined, resume: (answer: Effect.Effect<A, SqlError.SqlError>) => void) => Effect.Effect<void>
): Effect.Effect<A, SqlError.SqlError> =>
  Effect.withFiberRuntime((fiber) => {
    const work = workOf(fiber)
    return Effect.async((resume) => register(work, resume))
  })

const shortTexts = new Map<string, string>()

/** The beginning of a statement, for the trace. */
const short = (text: string): string => {
  const known = shortTexts.get(text)
  if (known !== undefined) return known
  const made = text.replaceAll(/\s+/g, " ").trim().slice(0, 110)
  shortTexts.set(text, made)
  return made
}

/** Opens a database in memory, and the one connection to it. */
const openDatabase = (content: Uint8Array | undefined) =>
  Effect.gen(function* () {
    // Where the client's type wants the name of a file, the driver takes the content of one too
    const options = {
      filename: content === undefined ? ":memory:" : (content as unknown as string),
      prepareCacheSize: 5_000,
      disableWAL: true
    }
    const context = yield* Layer.build(Layer.orDie(SqliteClient.layer(options)))
    const client = Context.get(context, SqliteClient.SqliteClient)
    return { client, base: yield* Effect.scoped(Effect.orDie(client.reserve)) }
  })

/** Opens a database that holds a copy of `content`, or nothing. */
export const openStore = (world: World, content: Uint8Array | undefined): Effect.Effect<FaultyStore, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { base, client } = yield* openDatabase(content)
    const execute = (text: string, values: ReadonlyArray<unknown> = []) => base.execute(text, values, undefined)
    yield* Effect.orDie(execute("PRAGMA foreign_keys = ON"))

    let decide: DecideFault | undefined
    let holder: Transaction | undefined

    const now = (text: string): void => void Effect.runSync(Effect.ignore(execute(text)))

    const end = (transaction: Transaction): void => {
      if (transaction.isOver) return
      transaction.isOver = true
      now("ROLLBACK")
    }

    /** Sends a statement. It happens when the world chooses it, and its fiber goes on with what `answer` gives. */
    const sent = <A>(
      process: Process,
      transaction: Transaction | undefined,
      text: string,
      statement: Effect.Effect<A, SqlError.SqlError>
    ) =>
      forWork<A>((work, resume) => {
        const late = (answer: Effect.Effect<A, SqlError.SqlError>): void => void world.after(readTimeout, () => resume(answer), process)
        const happen = (): void => {
          if (transaction?.isOver === true) return resume(lost)
          const fault = decide?.(process, text, work)
          if (fault === undefined) return resume(statement)
          const isDone = fault === "unheard" || fault === "done in silence"
          if (isDone) Effect.runSync(Effect.ignore(statement))
          if (transaction !== undefined) {
            if (isDone && text === "COMMIT") transaction.isOver = true
            else end(transaction)
          }
          if (fault === "silent" || fault === "done in silence") return late(timedOut)
          return resume(fault === "rolled back" && transaction !== undefined ? rolledBack : isDone ? lost : refused)
        }
        const isPossible = () => holder === undefined || holder === transaction
        const withdraw = world.submit({ process, name: short(text), isPossible, happen })
        return Effect.sync(withdraw)
      })

    const statementsOf = (process: Process): Statements => {
      const own = new Map<SqlConnection.Connection, Transaction>()

      const begin = Effect.flatMap(Scope.make(), (scope) =>
        forWork<readonly [Scope.CloseableScope, SqlConnection.Connection]>((work, resume) => {
          const happen = (): void => {
            if (decide?.(process, "BEGIN", work) !== undefined) return resume(refused)
            const connection: SqlConnection.Connection = { ...base }
            const transaction: Transaction = { process, connection, isOver: false }
            own.set(connection, transaction)
            holder = transaction
            now("BEGIN")
            const release = Effect.sync(() => {
              end(transaction)
              own.delete(connection)
              if (holder === transaction) holder = undefined
            })
            resume(Effect.as(Scope.addFinalizer(scope, release), [scope, connection] as const))
          }
          const withdraw = world.submit({ process, name: "BEGIN", isPossible: () => holder === undefined, happen })
          return Effect.sync(withdraw)
        })
      )

      const inTransaction = (connection: SqlConnection.Connection, text: string): Effect.Effect<void, SqlError.SqlError> => {
        const transaction = own.get(connection)
        return Effect.asVoid(sent(process, transaction, text, execute(text)))
      }

      const transaction = SqlClient.makeWithTransaction({
        transactionTag: SqlClient.TransactionConnection,
        spanAttributes: [],
        acquireConnection: begin,
        begin: () => Effect.void,
        savepoint: (connection, id) => inTransaction(connection, `SAVEPOINT nested_${id}`),
        commit: (connection) =>
          Effect.zipRight(
            inTransaction(connection, "COMMIT"),
            Effect.sync(() => {
              const done = own.get(connection)
              if (done !== undefined) done.isOver = true
            })
          ),
        rollback: (connection) =>
          Effect.sync(() => {
            const ended = own.get(connection)
            if (ended !== undefined) end(ended)
          }),
        rollbackSavepoint: (connection, id) => Effect.ignore(inTransaction(connection, `ROLLBACK TO SAVEPOINT nested_${id}`))
      })

      const statements: Statements = makeStatements(client, {
        run: (text, values) =>
          Effect.withFiberRuntime((fiber) => {
            const connection = transactionOf(fiber)
            return sent(process, connection === undefined ? undefined : own.get(connection), text, execute(text, values))
          }),
        batch: (texts) => Effect.forEach(texts, (text) => statements.run(text, []), { discard: true }),
        transaction
      })
      return statements
    }

    const plain: Statements = makeStatements(client, {
      run: (text, values) => execute(text, values),
      batch: (texts) => Effect.forEach(texts, (text) => execute(text), { discard: true }),
      transaction: client.withTransaction
    })

    return {
      statementsOf,
      plain,
      content: Effect.orDie(client.export),
      abandon: (process) => {
        if (holder?.process !== process) return
        end(holder)
        holder = undefined
      },
      setFaults: (next) => {
        decide = next
      }
    }
  })
