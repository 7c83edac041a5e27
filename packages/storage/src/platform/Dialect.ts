/**
 * Where the two databases differ in value or type. Statements are written once and ask here.
 */
import type { Fragment, Statements } from "./Statements.js"

export interface Dialect {
  /** Column types of the resources' fields, to be interpolated into DDL with `sql.literal`. */
  readonly types: {
    readonly uuid: string
    readonly timestamp: string
    /** A timestamp of microseconds, as the lines of logs have them. */
    readonly line_time: string
    readonly json: string
    readonly bytes: string
    readonly boolean: string
    /** 64 bits. */
    readonly bigint: string
    /** A 64-bit primary key the store counts up and never uses twice. */
    readonly serial: string
  }
  /** A boolean as a bind value. */
  readonly boolean: (value: boolean) => boolean | number
}

const sqlite: Dialect = {
  types: {
    uuid: "TEXT",
    timestamp: "TEXT",
    line_time: "TEXT",
    json: "TEXT",
    bytes: "BLOB",
    boolean: "INTEGER",
    bigint: "INTEGER",
    serial: "INTEGER PRIMARY KEY AUTOINCREMENT"
  },
  boolean: (value) => (value ? 1 : 0)
}

const postgres: Dialect = {
  types: {
    uuid: "uuid",
    timestamp: "timestamptz(3)",
    line_time: "timestamptz(6)",
    json: "jsonb",
    bytes: "bytea",
    boolean: "boolean",
    bigint: "bigint",
    serial: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
  },
  boolean: (value) => value
}

/** A form for each of the databases. One that is missing, or has another name, is an error of types. */
export interface Forms<Sqlite, Postgres> {
  readonly sqlite: () => Sqlite
  readonly postgres: () => Postgres
}

/** A clause that locks the rows that a statement reads. SQLite needs none: it has one writer, whose transaction no other one comes between. */
export const locking = (
  sql: Statements,
  clause: `FOR ${"UPDATE" | "NO KEY UPDATE" | "SHARE" | "KEY SHARE"}${"" | ` OF ${string}`}${"" | " SKIP LOCKED"}`
): Fragment => sql.literal(sql.dialect({ sqlite: () => "", postgres: () => clause }))

/**
 * A column that SQLite is to look up by no index. Without statistics, it takes an index that leads to most rows for as good as one that leads to
 * few. PostgreSQL knows by itself.
 */
export const unindexed = (sql: Statements, column: string): Fragment =>
  sql.literal(sql.dialect({ sqlite: () => `+${column}`, postgres: () => column }))

/** The dialect of a client. */
export const dialectOf = (sql: Statements): Dialect => sql.dialect({ sqlite: () => sqlite, postgres: () => postgres })
