import { PushedParameters, PushedRequestRepository } from "@atelier/core/oauth2"
import { service } from "@atelier/core/platform"
import { Effect } from "effect"
import { bytes, columnList, json, row, text, timestamp, uuid } from "../../platform/Row.js"
import { applied, first, insertReferring } from "../../platform/Statement.js"
import { orDefect } from "../../platform/Unavailability.js"
import { waitingRows } from "../waitingRows.js"
import { Statements } from "../../platform/Statements.js"

const columns = { prefix: text(), app_id: uuid, request: json(PushedParameters), expires_at: timestamp }
const pushed = row(columns)
const hashed = row({ hashed_secret: bytes })

export const layer = service(
  PushedRequestRepository,
  Effect.map(Statements, (sql) =>
    PushedRequestRepository.of({
      insert: ({ request, ...value }, hashedSecret) =>
        orDefect(
          insertReferring(
            sql`INSERT INTO oauth2_pushed_requests ${sql.insert({ ...value, request: JSON.stringify(request), hashed_secret: hashedSecret })}`
          )
        ),
      byPrefix: (prefix) =>
        first(
          (from) => ({ value: pushed(from), ...hashed(from) }),
          sql`SELECT ${sql.literal(columnList(columns))}, hashed_secret FROM oauth2_pushed_requests WHERE prefix = ${prefix}`
        ),
      delete: (prefix) => applied(sql`DELETE FROM oauth2_pushed_requests WHERE prefix = ${prefix} RETURNING prefix`),
      ...waitingRows(sql, "oauth2_pushed_requests", "prefix")
    })
  )
)
