import { Effect, type Effect as Effects } from "effect"
import { orDefect } from "../platform/Unavailability.js"
import type { Query, Statements } from "../platform/Statements.js"

/** A statement that holds of all rows of a database whenever no transaction is under way, whatever has happened before. */
export interface Invariant {
  /** Lower-case letters and hyphens. */
  readonly name: string
  /** What holds, in one sentence. */
  readonly holds: string
  /** The rows that break it, each in one line. At most `shownRows`. Reads only. */
  readonly violations: (sql: Statements) => Effects.Effect<ReadonlyArray<string>>
}

/** Rows that one invariant shows. */
export const shownRows = 20

const line = (row: object): string =>
  Object.entries(row)
    .map(([column, value]) => `${column}=${String(value)}`)
    .join(" ")

/** An invariant that one statement tells: it selects the rows that break it. */
export const noRows = (name: string, holds: string, rows: (sql: Statements) => Query): Invariant => ({
  name,
  holds,
  violations: (sql) => Effect.map(orDefect(sql`${rows(sql)} LIMIT ${shownRows}`), (found) => found.map(line))
})
