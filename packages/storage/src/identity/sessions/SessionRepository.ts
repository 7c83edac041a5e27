import { AllowListEntry } from "@atelier/core/access"
import { type KeyLoginType, SessionRepository, type StoredSession } from "@atelier/core/identity"
import { Effect, Schema } from "effect"
import { bytes, json, nullable, number, row, text, texts, timestamp, uuid, uuids } from "../../platform/Row.js"
import { keptFirst } from "../../platform/Kept.js"
import { applied, first, prepared, run } from "../../platform/Statement.js"
import { readRights, selectRights } from "../Rights.js"
import { organizationIdsOf, userColumns } from "../users/UserRepository.js"
import { Remembered, service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"
import { type WideColumns, type WideRows, wideRows } from "../../platform/WideRows.js"

/** JSON stays text here: it is read when the rights are new. */
const columnsOfKey = {
  id: text(),
  user_id: uuid,
  last_used: timestamp,
  ip: text(),
  expires_at: timestamp,
  lifetime_seconds: number,
  login_type: text<KeyLoginType>(),
  audience: nullable(text()),
  dpop_jkt: nullable(text()),
  scopes: text(),
  allow_list: text()
}

const key = row(columnsOfKey)

/** The columns of the user begin with this: the key has some of the same names. */
const prefix = "u_"

const user = row(userColumns, prefix)

/** The names of the user's columns in the row, with the id first. */
const userNames = Object.keys(userColumns).map((name) => `${prefix}${name}`)

const selected: WideColumns = [
  { name: "key_id", expression: "k.id" },
  ...Object.keys(columnsOfKey).map((name) => ({ name, expression: `k.${name}` })),
  ...Object.keys(userColumns).map((name) => ({ name: `${prefix}${name}`, expression: `u.${name}` }))
]

/** What databases make for the row, or answer as bytes. */
const others = row({ hashed_secret: bytes, rights: text(), organization_ids: text() })

const readAllowList = json(Schema.Array(AllowListEntry)).read

/** Sessions whose rows are kept at once: about four kilobytes each. */
const keptSessions = 500

/** Bytes of keys and users that are kept. A user whose row is as before is the same object, whose view and text may be kept too. */
const keptRecords = 2 ** 20

/** Reads rows of sessions. */
const sessionReader = ({ remembering }: WideRows): ((from: object) => StoredSession) => {
  // Apart from their keys, so that a user with several has one record
  const userRecords = Remembered.make<ReturnType<typeof user>>(keptRecords)
  const userOf = (from: object) => {
    const values = userNames.map((name) => Reflect.get(from, name))
    return userRecords.get(String(values[0]), values, () => user(from))
  }
  const records = remembering(keptRecords, (from) => ({ key: key(from), user: userOf(from) }))
  const users = Remembered.make<ReturnType<StoredSession["user"]>>(keptRecords)
  return (from) => {
    const { key, user } = records(from)
    const { hashed_secret, organization_ids, rights } = others(from)
    const { allow_list, scopes } = key
    const isApp = key.login_type === "oauth2_provider_app"
    return {
      id: key.id,
      user_id: key.user_id,
      hashed_secret,
      last_used: key.last_used,
      ip: key.ip,
      expires_at: key.expires_at,
      lifetime_seconds: key.lifetime_seconds,
      login_type: key.login_type,
      username: user.username,
      status: user.status,
      deleted: user.deleted,
      audience: key.audience,
      dpop_jkt: key.dpop_jkt,
      user: () => users.get(user.id, [user, organization_ids], () => ({ ...user, organization_ids: uuids.read(organization_ids) })),
      rights: {
        fingerprint: `${isApp ? "app" : ""}\n${rights}\n${scopes}\n${allow_list}`,
        read: () => ({ ...readRights(rights), scopes: texts.read(scopes), allowList: readAllowList(allow_list), isApp })
      }
    }
  }
}

export const layer = service(
  SessionRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const wide = wideRows(sql, selected)
    const stored = sessionReader(wide)
    const byKeyId = prepared(
      sql,
      "text",
      sql`SELECT ${sql.literal(wide.list)}, k.hashed_secret, ${selectRights(sql)}, ${organizationIdsOf(sql)} AS organization_ids
        FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.id = ${""}`
    )

    const { known, read } = keptFirst(sql, keptSessions, (id) => first(stored, byKeyId(id)))

    return SessionRepository.of({
      byKeyId: read,
      knownByKeyId: known,
      recordUse: (used, use, at) =>
        Effect.flatMap(
          applied(
            sql`UPDATE api_keys SET last_used = ${use.last_used}, ip = ${use.ip}, expires_at = ${use.expires_at}
              WHERE id = ${used.id} AND last_used = ${used.last_used} AND expires_at = ${used.expires_at} RETURNING id`
          ),
          (isFirst) =>
            isFirst ? run(sql`UPDATE users SET last_seen_at = ${at}, updated_at = ${at} WHERE id = ${used.user_id}`) : Effect.void
        )
    })
  })
)
