/** The store's tables as its own catalogue tells them: what holds for every table also holds for one that is added later. */
import { Timestamp } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { Statements } from "@atelier/storage"

const Column = Schema.Struct({
  table: Schema.String,
  name: Schema.String,
  type: Schema.String,
  /** Whether a row needs a value that the store does not give by itself. */
  required: Schema.Literal(0, 1)
})
type Column = typeof Column.Type

const sqlClient = Effect.flatten(Effect.serviceOption(Statements))

/** Every column of every table that holds the store's own rows, those of full-text indexes among them. */
const readColumns = Effect.gen(function* () {
  const sql = yield* sqlClient
  const rows = yield* sql.dialect({
    postgres: () =>
      sql.run(`SELECT c.table_name AS "table", c.column_name AS name, c.data_type AS type,
          CASE WHEN c.is_nullable = 'NO' AND c.column_default IS NULL AND c.is_generated = 'NEVER' AND c.is_identity = 'NO'
            THEN 1 ELSE 0 END AS required
        FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
        WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`),
    sqlite: () =>
      sql.run(`SELECT t.name AS "table", c.name, lower(c.type) AS type,
          CASE WHEN c."notnull" = 1 AND c.dflt_value IS NULL AND c.hidden = 0 THEN 1 ELSE 0 END AS required
        FROM pragma_table_list t, pragma_table_xinfo(t.name) c
        WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~' AND c.hidden <> 1
        ORDER BY t.name, c.cid`)
  })
  return yield* Schema.decodeUnknown(Schema.Array(Column))(rows)
})

type Tables = ReadonlyMap<string, ReadonlyArray<Column>>

/** PostgreSQL takes a tenth of a second of the processor to tell its columns, and a test stores a hundred rows. */
const known = new WeakMap<Statements, Tables>()

const readTables = Effect.map(readColumns, (all): Tables => {
  const tables = new Map<string, Array<Column>>()
  for (const column of all) tables.set(column.table, [...(tables.get(column.table) ?? []), column])
  return tables
})

const byTable = Effect.gen(function* () {
  const sql = yield* sqlClient
  const told = known.get(sql)
  if (told !== undefined) return told
  const tables = yield* readTables
  known.set(sql, tables)
  return tables
})

/** A value of a column that a test has nothing to say about. */
const anyValue = ({ name, type }: Column, now: string): string | number | boolean | Uint8Array => {
  if (type === "timestamp with time zone" || /_at$|_time$|^time$/.test(name)) return now
  switch (type) {
    case "boolean":
      return false
    case "bytea":
    case "blob":
      return new Uint8Array()
    case "integer":
    case "bigint":
    case "double precision":
      return 0
    case "jsonb":
      return "{}"
    default:
      return ""
  }
}

/** Stores a row of any table; what it does not name and the table demands is empty. */
export const storeRow = (table: string, row: Readonly<Record<string, unknown>>) =>
  Effect.gen(function* () {
    const sql = yield* sqlClient
    const now = yield* Timestamp.now
    const required = ((yield* byTable).get(table) ?? []).filter((column) => column.required === 1)
    yield* sql`INSERT INTO ${sql(table)} ${sql.insert({
      ...Object.fromEntries(required.map((column) => [column.name, anyValue(column, now)])),
      ...row
    })}`
  })

/** The tables without a row, and the columns of ids that have none in any row, as `table.column`. SQLite does not tell which hold ids. */
export const unfilled = Effect.gen(function* () {
  const sql = yield* sqlClient
  const found: Array<string> = []
  for (const [table, its] of yield* byTable) {
    const ids = its.filter(({ type }) => type === "uuid").map(({ name }) => name)
    const counts = ["count(*) AS rows", ...ids.map((name) => `count("${name}") AS "${name}"`)]
    const [row] = yield* sql.run(`SELECT ${counts.join(", ")} FROM "${table}"`)
    if (row?.["rows"] === 0) found.push(table)
    else found.push(...ids.filter((name) => row?.[name] === 0).map((name) => `${table}.${name}`))
  }
  return found
})

/**
 * Where a text stands, as `table.column`: in the text of any value, of rows that are not marked as deleted themselves. With `beside`, only
 * in rows that hold one of these too.
 */
export const placesOf = (text: string, beside: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const sql = yield* sqlClient
    /** Byte by byte on SQLite: what is compared as text ends where bytes of a hash are zero. */
    const holds = ({ name, type }: Column, needle: string) =>
      sql.dialect({
        postgres: () =>
          sql`strpos(${sql.literal(type === "bytea" ? `encode("${name}", 'escape')` : `CAST("${name}" AS TEXT)`)}, ${needle}) > 0`,
        sqlite: () => sql`instr(CAST(${sql(name)} AS BLOB), CAST(${needle} AS BLOB)) > 0`
      })
    const found: Array<string> = []
    // Anew: a migration may have changed them since the rows were stored
    for (const [table, its] of yield* readTables) {
      const anyHolds = (needle: string) => sql.or(its.map((column) => holds(column, needle)))
      const [row] = yield* sql<Record<string, number>>`SELECT ${sql.csv(
        its.map((column) => sql`count(CASE WHEN ${holds(column, text)} THEN 1 END) AS ${sql(column.name)}`)
      )} FROM ${sql(table)} WHERE ${sql.and([
        anyHolds(text),
        ...(its.some(({ name }) => name === "deleted") ? [sql`NOT deleted`] : []),
        ...(beside.length === 0 ? [] : [sql.or(beside.map(anyHolds))])
      ])}`
      found.push(...its.filter(({ name }) => (row?.[name] ?? 0) > 0).map(({ name }) => `${table}.${name}`))
    }
    return found.toSorted()
  })
