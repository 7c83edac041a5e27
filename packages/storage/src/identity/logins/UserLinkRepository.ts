import { type ExternalLoginType, LinkClaims, type UserLink, UserLinkRepository } from "@atelier/core/identity"
import type { Sealed } from "@atelier/core/platform"
import { Effect, Option } from "effect"
import { bytes, json, nullable, row, text, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, run, runUnique } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const columns = {
  id: uuid,
  user_id: uuid,
  login_type: text<ExternalLoginType>(),
  linked_id: text(),
  oauth_expiry: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp
}

const link = row(columns)
const sealedColumns = {
  id: uuid,
  user_id: uuid,
  login_type: text<ExternalLoginType>(),
  oauth_expiry: nullable(timestamp),
  tokens_key_id: text(),
  tokens: bytes
}
const sealedRow = row(sealedColumns)
const claims = row({ claims: json(LinkClaims) })

const sealed = (from: object) => {
  const { tokens: ciphertext, tokens_key_id: key_id, ...owner } = sealedRow(from)
  return { ...owner, value: { key_id, ciphertext } }
}

export const layer = service(
  UserLinkRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const selected = sql.literal(Object.keys(columns).join(", "))
    const values = sql.literal(Object.keys(sealedColumns).join(", "))

    const written = (value: UserLink, { ciphertext, key_id }: Sealed, said: LinkClaims) => ({
      ...value,
      tokens_key_id: key_id,
      tokens: ciphertext,
      claims: JSON.stringify(said)
    })

    return UserLinkRepository.of({
      byLinkedId: (type, linkedId) =>
        first(link, sql`SELECT ${selected} FROM user_links WHERE login_type = ${type} AND linked_id = ${linkedId} AND linked_id <> ''`),
      ofUser: (userId, type) => first(link, sql`SELECT ${selected} FROM user_links WHERE user_id = ${userId} AND login_type = ${type}`),
      sealedOf: (userId, type) => first(sealed, sql`SELECT ${values} FROM user_links WHERE user_id = ${userId} AND login_type = ${type}`),
      claimsOf: (userId, type) =>
        Effect.map(
          first(claims, sql`SELECT claims FROM user_links WHERE user_id = ${userId} AND login_type = ${type}`),
          Option.map(({ claims }) => claims)
        ),
      insert: (value, tokens, said) => runUnique(Effect.asVoid(sql`INSERT INTO user_links ${sql.insert(written(value, tokens, said))}`)),
      update: (value, tokens, said) =>
        runUnique(
          Effect.asVoid(
            sql`UPDATE user_links SET ${sql.update(written(value, tokens, said), ["id", "user_id", "login_type", "created_at"])}
              WHERE id = ${value.id}`
          )
        ),
      replaceTokens: (id, from, { oauth_expiry, updated_at, value }) =>
        applied(
          sql`UPDATE user_links SET tokens_key_id = ${value.key_id}, tokens = ${value.ciphertext}, oauth_expiry = ${oauth_expiry},
              updated_at = ${updated_at}
            WHERE id = ${id} AND tokens_key_id = ${from.key_id} AND tokens = ${from.ciphertext} RETURNING id`
        ),
      sealedOtherwise: (keyId, after, limit) =>
        all(sealed, sql`SELECT ${values} FROM user_links WHERE id > ${after} AND tokens_key_id <> ${keyId} ORDER BY id LIMIT ${limit}`),
      reseal: (id, from, to) =>
        applied(
          sql`UPDATE user_links SET tokens_key_id = ${to.key_id}, tokens = ${to.ciphertext}
            WHERE id = ${id} AND tokens_key_id = ${from.key_id} AND tokens = ${from.ciphertext} RETURNING id`
        ),
      mirror: ({ avatar_url, email, id, name, updated_at }, githubUserId) =>
        runUnique(
          Effect.asVoid(
            sql`UPDATE users SET email = ${email}, name = ${name}, avatar_url = ${avatar_url}, updated_at = ${updated_at}
                ${githubUserId === undefined ? sql.literal("") : sql`, github_com_user_id = ${githubUserId}`}
              WHERE id = ${id}`
          )
        ),
      convert: (id, to, at) =>
        Effect.zipRight(
          run(sql`UPDATE users SET login_type = ${to}, hashed_password = NULL, updated_at = ${at} WHERE id = ${id}`),
          run(sql`DELETE FROM one_time_passcodes WHERE user_id = ${id}`)
        )
    })
  })
)
