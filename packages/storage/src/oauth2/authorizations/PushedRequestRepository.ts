import { PushedParameters, PushedRequestRepository } from "@atelier/core/oauth2"
import { service } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { bytes, columnList, json, number, row, text, timestamp, uuid } from "../../platform/Row.js"
import { applied, first, one, run } from "../../platform/Statement.js"

const columns = { prefix: text(), app_id: uuid, request: json(PushedParameters), expires_at: timestamp }
const pushed = row(columns)
const hashed = row({ hashed_secret: bytes })
const counted = row({ count: number })

export const layer = service(
  PushedRequestRepository,
  Effect.map(SqlClient.SqlClient, (sql) =>
    PushedRequestRepository.of({
      insert: ({ request, ...value }, hashedSecret) =>
        run(
          sql`INSERT INTO oauth2_pushed_requests ${sql.insert({ ...value, request: JSON.stringify(request), hashed_secret: hashedSecret })}`
        ),
      byPrefix: (prefix) =>
        first(
          (from) => ({ value: pushed(from), ...hashed(from) }),
          sql`SELECT ${sql.literal(columnList(columns))}, hashed_secret FROM oauth2_pushed_requests WHERE prefix = ${prefix}`
        ),
      delete: (prefix) => applied(sql`DELETE FROM oauth2_pushed_requests WHERE prefix = ${prefix} RETURNING prefix`),
      count: (limit) =>
        Effect.map(
          one(counted, sql`SELECT count(*) AS count FROM (SELECT 1 FROM oauth2_pushed_requests LIMIT ${limit}) counted`),
          ({ count }) => count
        ),
      deleteExpired: (before, limit) =>
        run(
          sql`DELETE FROM oauth2_pushed_requests WHERE prefix IN (
            SELECT prefix FROM oauth2_pushed_requests WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit})`
        )
    })
  )
)
