/**
 * Where the two databases differ in value or type. Statements are written once and ask here.
 */
import type { SqlClient } from "@effect/sql"

export interface Dialect {
  readonly name: "sqlite" | "postgres"
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
  name: "sqlite",
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
  name: "postgres",
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

/** The dialect of a client. */
export const dialectOf = (sql: SqlClient.SqlClient): Dialect => sql.onDialectOrElse({ pg: () => postgres, orElse: () => sqlite })
