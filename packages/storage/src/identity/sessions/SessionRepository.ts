import { AllowListEntry } from "@atelier/core/access"
import { type KeyLoginType, SessionRepository, type StoredSession, type UserStatus } from "@atelier/core/identity"
import { Effect, Schema } from "effect"
import { boolean, bytes, json, nullable, number, row, text, texts, timestamp, uuid, uuids } from "../../platform/Row.js"
import { keptFirst } from "../../platform/Kept.js"
import { applied, first, prepared, run } from "../../platform/Statement.js"
import { readRights, selectRights } from "../Rights.js"
import { organizationIdsOf, userColumns } from "../users/UserRepository.js"
import { Remembered, service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

/** JSON stays text here: it is read when the rights are new. */
const session = row({
  id: text(),
  user_id: uuid,
  hashed_secret: bytes,
  last_used: timestamp,
  ip: text(),
  expires_at: timestamp,
  lifetime_seconds: number,
  login_type: text<KeyLoginType>(),
  username: text(),
  status: text<UserStatus>(),
  deleted: boolean,
  audience: nullable(text()),
  dpop_jkt: nullable(text()),
  rights: text(),
  scopes: text(),
  allow_list: text()
})

const readAllowList = json(Schema.Array(AllowListEntry)).read

/** The columns of the user begin with this: the key has some of the same names. */
const prefix = "u_"

const columnsOfUser = { ...userColumns, organization_ids: uuids }

const user = row(columnsOfUser, prefix)

const namesOfUser = Object.keys(columnsOfUser).map((name) => `${prefix}${name}`)

/** Bytes of users that are kept: one whose row is as before is the same object, whose view and text may be kept. */
const keptUsers = 2 ** 20

const users = Remembered.make<ReturnType<typeof user>>(keptUsers)

const userOf = (id: string, from: object): ReturnType<typeof user> =>
  users.get(
    id,
    namesOfUser.map((name) => Reflect.get(from, name)),
    () => user(from)
  )

const selectedUser = Object.keys(userColumns)
  .map((name) => `u.${name} AS ${prefix}${name}`)
  .join(", ")

/** Sessions whose rows are kept at once: about four kilobytes each. */
const keptSessions = 500

const stored = (from: object): StoredSession => {
  const { allow_list, rights, scopes, ...read } = session(from)
  const isApp = read.login_type === "oauth2_provider_app"
  let known: ReturnType<typeof user> | undefined
  return {
    ...read,
    user: () => (known ??= userOf(read.user_id, from)),
    rights: {
      fingerprint: `${isApp ? "app" : ""}\n${rights}\n${scopes}\n${allow_list}`,
      read: () => ({ ...readRights(rights), scopes: texts.read(scopes), allowList: readAllowList(allow_list), isApp })
    }
  }
}

export const layer = service(
  SessionRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const byKeyId = prepared(
      sql,
      "text",
      sql`SELECT k.id, k.user_id, k.hashed_secret, k.last_used, k.ip, k.expires_at, k.lifetime_seconds, k.login_type, k.scopes, k.allow_list, k.audience, k.dpop_jkt,
          u.username, u.status, u.deleted, ${selectRights(sql)},
          ${sql.literal(selectedUser)}, ${organizationIdsOf(sql)} AS ${sql.literal(`${prefix}organization_ids`)}
        FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.id = ${""}`
    )

    return SessionRepository.of({
      byKeyId: keptFirst(sql, keptSessions, (id) => first(stored, byKeyId(id))),
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
