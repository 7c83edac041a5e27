import { type DeviceCode, DeviceCodeRepository } from "@atelier/core/oauth2"
import { service } from "@atelier/core/platform"
import { Effect } from "effect"
import { bytes, columnList, nullable, number, row, text, texts, timestamp, uuid } from "../../platform/Row.js"
import { applied, first, insertReferring, run, runUnique } from "../../platform/Statement.js"
import { waitingRows } from "../waitingRows.js"
import { locking } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const columns = {
  id: uuid,
  app_id: uuid,
  prefix: text(),
  status: text<DeviceCode["status"]>(),
  scopes: texts,
  resource: texts,
  created_at: timestamp,
  expires_at: timestamp,
  interval_seconds: number,
  polled_at: nullable(timestamp),
  user_id: nullable(uuid),
  consent_key_id: nullable(text())
}
const device = row(columns)
const hashed = row({ hashed_secret: bytes })

export const layer = service(
  DeviceCodeRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(columnList(columns))
    const forUpdate = locking(sql, "FOR UPDATE")

    return DeviceCodeRepository.of({
      insert: ({ resource, scopes, ...value }, { hashedSecret, hashedUserCode }) =>
        runUnique(
          insertReferring(
            sql`INSERT INTO oauth2_device_codes ${sql.insert({
              ...value,
              resource: JSON.stringify(resource),
              scopes: JSON.stringify(scopes),
              hashed_secret: hashedSecret,
              hashed_user_code: hashedUserCode
            })}`
          )
        ),
      byPrefix: (prefix) =>
        first(
          (from) => ({ value: device(from), ...hashed(from) }),
          sql`SELECT ${selected}, hashed_secret FROM oauth2_device_codes WHERE prefix = ${prefix}`
        ),
      byUserCode: (code) => first(device, sql`SELECT ${selected} FROM oauth2_device_codes WHERE hashed_user_code = ${code}`),
      lock: (id) => first(device, sql`SELECT ${selected} FROM oauth2_device_codes WHERE id = ${id} ${forUpdate}`),
      answer: (id, { consent_key_id, status, user_id }) =>
        applied(
          sql`UPDATE oauth2_device_codes SET status = ${status}, user_id = ${user_id}, consent_key_id = ${consent_key_id}
            WHERE id = ${id} AND status = 'pending' RETURNING id`
        ),
      recordPoll: (id, at, intervalSeconds) =>
        run(sql`UPDATE oauth2_device_codes SET polled_at = ${at}, interval_seconds = ${intervalSeconds} WHERE id = ${id}`),
      delete: (id) => applied(sql`DELETE FROM oauth2_device_codes WHERE id = ${id} RETURNING id`),
      ...waitingRows(sql, "oauth2_device_codes", "id")
    })
  })
)
