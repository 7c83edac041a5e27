/**
 * How values arrive from PostgreSQL: in the forms the row shapes read, which are SQLite's too where that has a form of its own.
 */
import pg from "pg"
import { Timestamp } from "@atelier/core/platform"

const int8 = 20
const json = 114
const timestamptz = 1184
const numeric = 1700
const jsonb = 3802

/**
 * `2026-01-31 23:59:59.123+00` → `2026-01-31T23:59:59.123Z`, with three fractional digits, or six where the column has microseconds; the
 * zone is UTC in every session of ours.
 */
export const instant = (text: string): string => {
  if (text.startsWith("0001-01-01 00:00:00")) return Timestamp.never
  const fraction = text.slice(20, -3)
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(fraction.length > 3 ? 6 : 3, "0")}Z`
}

const same = (text: string): string => text

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  // Counts and row ids stay far below 2^53
  [int8]: Number,
  [numeric]: Number,
  [json]: same,
  [jsonb]: same,
  [timestamptz]: instant
}

export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") => parsers[oid] ?? pg.types.getTypeParser(oid, format)
}
