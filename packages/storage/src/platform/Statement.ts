import { Effect, Encoding, Option } from "effect"
import type { SqlError } from "@effect/sql"
import { Duplicate } from "@atelier/core/platform"
import { dialectOf } from "./Dialect.js"
import { dieOf, missesReference, orDefect } from "./Unavailability.js"
import type { Query, Rows, Statements } from "./Statements.js"

/**
 * A statement that serves several requests at once where the database allows it. Its only value is the JSON text of a list, here of one item. Each row that
 * it answers has the `position` of its item in the list, from 1.
 */
export const withItem = <A extends object>(
  sql: Statements,
  shared: "read" | "write",
  text: string,
  item: unknown
): Effect.Effect<Rows<A>, SqlError.SqlError> => {
  const written = JSON.stringify(item)
  return sql.run<A>(text, [`[${written}]`], { shared, item: written })
}

/** A write that may be committed together with those of other requests. */
export const sharedWrite = <A extends object>(sql: Statements, statement: Query<A>): Effect.Effect<Rows<A>, SqlError.SqlError> =>
  sql.run<A>(...statement.compile(), { shared: "write" })

/** A value as JSON that PostgreSQL casts to the column's type. */
const jsonOf = (value: string | Uint8Array): string => (typeof value === "string" ? value : `\\x${Encoding.encodeHex(value)}`)

/**
 * A statement with one parameter that is put into text once, when its layer is built, for short reads that many requests begin with: on PostgreSQL those that wait
 * at the same time share a statement, and all of them a connection. They wait for each other. Give it any value of the right type in the place of the parameter.
 */
export const prepared = (
  sql: Statements,
  type: "uuid" | "bytes" | "text",
  statement: Query
): ((parameter: string | Uint8Array) => Effect.Effect<Rows, SqlError.SqlError>) => {
  const [text] = statement.compile()
  return sql.dialect({
    postgres: () => {
      const { types } = dialectOf(sql)
      const value = `CAST(item.value AS ${type === "text" ? type : types[type]})`
      // The offset keeps the planner from joining the list, whose length it does not know, with whole tables
      const shared = `SELECT item.position, found.* FROM json_array_elements_text(CAST($1 AS json)) WITH ORDINALITY AS item (value, position)
        CROSS JOIN LATERAL (${text.replace("$1", value)} OFFSET 0) AS found`
      return (parameter: string | Uint8Array) => withItem(sql, "read", shared, jsonOf(parameter))
    },
    sqlite: () => (parameter: string | Uint8Array) => sql.run(text, [parameter])
  })
}

/** All rows. A failing store is a defect: no caller can do better than answer 500. */
export const all = <A>(shape: (row: object) => A, statement: Effect.Effect<Rows, SqlError.SqlError>): Effect.Effect<ReadonlyArray<A>> =>
  Effect.map(orDefect(statement), (rows) => rows.map(shape))

/** The first row, if there is one. */
export const first = <A>(shape: (row: object) => A, statement: Effect.Effect<Rows, SqlError.SqlError>): Effect.Effect<Option.Option<A>> =>
  Effect.map(orDefect(statement), (rows) => {
    const [row] = rows
    return row === undefined ? Option.none() : Option.some(shape(row))
  })

/** The only row of a statement that always answers one. */
export const one = <A>(shape: (row: object) => A, statement: Effect.Effect<Rows, SqlError.SqlError>): Effect.Effect<A> =>
  Effect.flatMap(
    first(shape, statement),
    Option.match({ onNone: () => Effect.dieMessage("The statement answered no row"), onSome: Effect.succeed })
  )

/** Whether a statement with `RETURNING` touched at least one row: how a guarded update says that it applied. */
export const applied = (statement: Effect.Effect<Rows, SqlError.SqlError>): Effect.Effect<boolean> =>
  Effect.map(orDefect(statement), (rows) => rows.length > 0)

/** How many rows a statement with `RETURNING` touched. */
export const touched = (statement: Effect.Effect<Rows, SqlError.SqlError>): Effect.Effect<number> =>
  Effect.map(orDefect(statement), (rows) => rows.length)

/** Runs a statement for its effect. */
export const run = (statement: Effect.Effect<unknown, SqlError.SqlError>): Effect.Effect<void> => Effect.asVoid(orDefect(statement))

/**
 * The unique index a statement ran into. Unique indexes are named `<table>_<column>[_<column>…]`, which is also what is derived from
 * SQLite's message where it names columns instead of the index.
 */
const violatedIndex = (cause: unknown): string | undefined => {
  if (!(cause instanceof Error)) return undefined
  if ("code" in cause && cause.code === "23505" && "constraint" in cause && typeof cause.constraint === "string") return cause.constraint
  const named = /UNIQUE constraint failed: index '([^']+)'/.exec(cause.message)
  if (named?.[1] !== undefined) return named[1]
  const columns = /UNIQUE constraint failed: (.+)$/.exec(cause.message)
  if (columns?.[1] === undefined) return undefined
  const names = columns[1].split(", ").map((column) => column.split("."))
  return [names[0]?.[0], ...names.map((name) => name[1])].join("_")
}

/** Runs a write that may meet an existing unique value. Fails with `Duplicate` naming the index. */
export const runUnique = <A>(statement: Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A, Duplicate> =>
  Effect.catchAll(statement, (error) => {
    const constraint = violatedIndex(error.cause)
    return constraint === undefined ? dieOf(error) : Effect.fail(new Duplicate({ constraint }))
  })

/**
 * Runs an insert outside of transactions. Returns false if a row that the new one refers to does not exist: it may have been deleted since the caller
 * read it.
 */
export const insertReferring = (statement: Effect.Effect<unknown, SqlError.SqlError>): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.catchIf(Effect.as(statement, true), missesReference, () => Effect.succeed(false))
