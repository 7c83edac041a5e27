/** Statements about rows that are of no use after their column `expires_at`. */
import type { ExpiringRows, WaitingRows } from "@atelier/core/oauth2"
import { Effect } from "effect"
import { number, row } from "../platform/Row.js"
import { one, touched } from "../platform/Statement.js"
import type { Statements } from "../platform/Statements.js"

const counted = row({ count: number })

/** For a table whose primary key is `key`. */
export const expiringRows = (sql: Statements, table: string, key: string): ExpiringRows => ({
  deleteExpired: (before, limit) =>
    touched(
      sql`DELETE FROM ${sql(table)} WHERE ${sql(key)} IN (
        SELECT ${sql(key)} FROM ${sql(table)} WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit}) RETURNING expires_at`
    )
})

/** The same for rows of applications. */
export const waitingRows = (sql: Statements, table: string, key: string): WaitingRows => ({
  ...expiringRows(sql, table, key),
  countWaiting: (now, limit, appId) =>
    Effect.map(
      one(
        counted,
        sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${sql(table)}
          WHERE expires_at >= ${now} AND ${appId === undefined ? sql`1 = 1` : sql`app_id = ${appId}`} LIMIT ${limit}) counted`
      ),
      ({ count }) => count
    )
})
