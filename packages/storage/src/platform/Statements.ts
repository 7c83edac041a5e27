/** The one port to the database: repositories ask it, and each storage package implements it once. */
import { SqlClient, type SqlConnection, type SqlError, Statement } from "@effect/sql"
import { Context, Effect, Effectable, type Fiber, identity, Scope } from "effect"
import type { Forms } from "./Dialect.js"

/** A part of statements. */
export type Fragment = Statement.Fragment

export type Rows<A extends object = object> = ReadonlyArray<A>

/** What a statement allows, which a database may use to answer many requests with less work. */
export interface Allowed {
  /**
   * That it shares a connection with those of other requests. A `read` is short: the others wait for it. A `write` is short too, is made outside of transactions, and may
   * be committed together with others. If their transaction fails, they run one by one. So it must not depend on being alone in its transaction, should hold
   * few locks, and must not fail by what a caller can choose, such as a name that is taken.
   */
  readonly shared?: "read" | "write"
  /**
   * The JSON text of the only item of the list that is the statement's only value. The items of others with the same text may be added to the list. Each row that
   * the statement answers has the `position` of its item in it, from 1.
   */
  readonly item?: string
}

/** What a storage package implements. */
export interface Store {
  /** Runs a statement, in the transaction of its fiber if there is one. */
  readonly run: (text: string, values: ReadonlyArray<unknown>, allowed?: Allowed) => Effect.Effect<Rows, SqlError.SqlError>
  /** Runs texts without values in their order, and drops their answers. */
  readonly batch: (texts: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError>
  /** Runs an effect in a transaction, or in a part of one that is rolled back by itself. */
  readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
  /**
   * Stands for the content of the database: as long as it is the same object, no connection has written. Undefined where the fiber's statements may see what
   * is not committed. A database that cannot tell for less than a statement costs has no revisions.
   */
  readonly revision?: Effect.Effect<object | undefined, SqlError.SqlError>
  /** The same for a caller that is in no transaction and wants no spans. Undefined also where the database failed. */
  readonly revisionNow?: () => object | undefined
}

/** A statement: an effect that runs it, and a part of other statements. */
export interface Query<A extends object = object> extends Effect.Effect<Rows<A>, SqlError.SqlError>, Fragment {
  readonly compile: () => readonly [text: string, values: ReadonlyArray<unknown>]
}

/** Statements of SQL, written as templates: an interpolated expression becomes a value, unless it is a fragment. */
export interface Statements
  extends Omit<Store, "run">, Pick<Statement.Constructor, "and" | "csv" | "in" | "insert" | "join" | "literal" | "or" | "update"> {
  <A extends object = SqlConnection.Row>(strings: TemplateStringsArray, ...parts: ReadonlyArray<unknown>): Query<A>
  /** Runs a statement that is a text. */
  readonly run: <A extends object = SqlConnection.Row>(
    text: string,
    values?: ReadonlyArray<unknown>,
    allowed?: Allowed
  ) => Effect.Effect<Rows<A>, SqlError.SqlError>
  /**
   * Runs an effect outside of transactions, with all its statements on one connection: for locks that a session holds, and for what PostgreSQL does not do in a
   * transaction. The effect must leave the settings of the session as they were, and begin no transaction.
   */
  readonly session: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
  /** The name of a table or column. */
  (name: string): Statement.Identifier
  /** Returns the form for the database. One that is missing, or has another name, is an error of types. */
  readonly dialect: <Sqlite, Postgres>(forms: Forms<Sqlite, Postgres>) => Sqlite | Postgres
}

export const Statements = Context.GenericTag<Statements>("@atelier/storage/Statements")

class Written<A extends object> extends Effectable.Class<Rows<A>, SqlError.SqlError> implements Query<A> {
  constructor(
    private readonly statement: Statement.Statement<A>,
    private readonly run: Statements["run"]
  ) {
    super()
  }

  get [Statement.FragmentId]() {
    return identity
  }

  get segments() {
    return this.statement.segments
  }

  compile() {
    return this.statement.compile(true)
  }

  commit() {
    return this.run<A>(...this.compile())
  }
}

/** A client's statements, run by a store. */
export const makeStatements = (client: SqlClient.SqlClient, store: Store): Statements => {
  const run = <A extends object>(text: string, values: ReadonlyArray<unknown> = [], allowed?: Allowed) =>
    // The rows are of the type that the caller names
    store.run(text, values, allowed) as Effect.Effect<Rows<A>, SqlError.SqlError>

  function write<A extends object>(strings: TemplateStringsArray, ...parts: ReadonlyArray<unknown>): Query<A>
  function write(name: string): Statement.Identifier
  function write(first: TemplateStringsArray | string, ...parts: ReadonlyArray<unknown>): Query | Statement.Identifier {
    return typeof first === "string" ? client(first) : new Written(client<object>(first, ...parts), run)
  }
  const { and, csv, insert, join, literal, or, update } = client
  return Object.assign(write, {
    ...store,
    run,
    session: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.scopedWith((scope) =>
        Effect.flatMap(Scope.extend(client.reserve, scope), (connection) =>
          Effect.provideService(effect, SqlClient.TransactionConnection, [connection, 0])
        )
      ),
    and,
    csv,
    in: client.in,
    insert,
    join,
    literal,
    or,
    update,
    dialect: <Sqlite, Postgres>({ postgres, sqlite }: Forms<Sqlite, Postgres>): Sqlite | Postgres =>
      client.onDialectOrElse({
        pg: postgres,
        sqlite,
        orElse: () => {
          throw new TypeError("The client is of neither SQLite nor PostgreSQL")
        }
      })
  })
}

/** Statements that a client runs, each by itself: for a host that has a client of its own. */
export const clientStatements = (client: SqlClient.SqlClient): Statements =>
  makeStatements(client, {
    run: (text, values) => client.unsafe<object>(text, values),
    batch: (texts) => Effect.forEach(texts, (text) => client.unsafe(text), { discard: true }),
    transaction: client.withTransaction
  })

/** Returns the connection of the transaction that a fiber is in. Read for each statement: `Context.getOption` costs several times as much. */
export const transactionOf = ({ currentContext }: Fiber.RuntimeFiber<unknown, unknown>): SqlConnection.Connection | undefined => {
  const held: readonly [SqlConnection.Connection, number] | undefined = currentContext.unsafeMap.get(SqlClient.TransactionConnection.key)
  return held?.[0]
}
