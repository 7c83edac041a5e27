import { ExternalAuthRepository } from "@atelier/core/externalAuth"
import { Effect } from "effect"
import { dialectOf, locking } from "../platform/Dialect.js"
import { bytes, columnList, nullable, row, text, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const columns = {
  id: uuid,
  user_id: uuid,
  provider_id: text(),
  oauth_expiry: nullable(timestamp),
  refresh_failure: text(),
  tokens_key_id: text(),
  tokens: bytes,
  created_at: timestamp,
  updated_at: timestamp
}

const shape = row(columns)
const sealedShape = row({ id: uuid, user_id: uuid, tokens_key_id: text(), tokens: bytes })

const link = (from: object) => {
  const { tokens: ciphertext, tokens_key_id: key_id, ...rest } = shape(from)
  return { ...rest, tokens: { key_id, ciphertext } }
}

const sealed = (from: object) => {
  const { tokens: ciphertext, tokens_key_id: key_id, ...owner } = sealedShape(from)
  return { ...owner, value: { key_id, ciphertext } }
}

export const layer = service(
  ExternalAuthRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const selected = sql.literal(columnList(columns))
    const { types } = dialectOf(sql)
    const as = { uuid: sql.literal(types.uuid), timestamp: sql.literal(types.timestamp), bytes: sql.literal(types.bytes) }
    // A deletion of the user that has begun is waited for
    const forShare = locking(sql, "FOR SHARE")

    return ExternalAuthRepository.of({
      ofUser: (userId) => all(link, sql`SELECT ${selected} FROM external_auth_links WHERE user_id = ${userId} ORDER BY provider_id`),
      find: (userId, providerId) =>
        first(link, sql`SELECT ${selected} FROM external_auth_links WHERE user_id = ${userId} AND provider_id = ${providerId}`),
      put: ({ created_at, id, oauth_expiry, provider_id, refresh_failure, tokens, updated_at, user_id }) =>
        applied(
          sql`INSERT INTO external_auth_links (
              id, user_id, provider_id, oauth_expiry, refresh_failure, tokens_key_id, tokens, created_at, updated_at
            )
            SELECT CAST(${id} AS ${as.uuid}), u.id, CAST(${provider_id} AS TEXT), CAST(${oauth_expiry} AS ${as.timestamp}),
              CAST(${refresh_failure} AS TEXT), CAST(${tokens.key_id} AS TEXT), CAST(${tokens.ciphertext} AS ${as.bytes}),
              CAST(${created_at} AS ${as.timestamp}), CAST(${updated_at} AS ${as.timestamp})
            FROM users u WHERE u.id = ${user_id} AND NOT u.deleted ${forShare}
            ON CONFLICT (user_id, provider_id) DO UPDATE SET id = excluded.id, oauth_expiry = excluded.oauth_expiry,
              refresh_failure = excluded.refresh_failure, tokens_key_id = excluded.tokens_key_id, tokens = excluded.tokens,
              updated_at = excluded.updated_at
            RETURNING id`
        ),
      replaceTokens: (id, from, { oauth_expiry, refresh_failure, tokens, updated_at }) =>
        applied(
          sql`UPDATE external_auth_links SET tokens_key_id = ${tokens.key_id}, tokens = ${tokens.ciphertext},
              oauth_expiry = ${oauth_expiry}, refresh_failure = ${refresh_failure}, updated_at = ${updated_at}
            WHERE id = ${id} AND tokens_key_id = ${from.key_id} AND tokens = ${from.ciphertext} RETURNING id`
        ),
      remove: (userId, providerId) =>
        first(link, sql`DELETE FROM external_auth_links WHERE user_id = ${userId} AND provider_id = ${providerId} RETURNING ${selected}`),
      sealedOtherwise: (keyId, after, limit) =>
        all(
          sealed,
          sql`SELECT id, user_id, tokens_key_id, tokens FROM external_auth_links
            WHERE id > ${after} AND tokens_key_id <> ${keyId} ORDER BY id LIMIT ${limit}`
        ),
      reseal: (id, from, to) =>
        applied(
          sql`UPDATE external_auth_links SET tokens_key_id = ${to.key_id}, tokens = ${to.ciphertext}
            WHERE id = ${id} AND tokens_key_id = ${from.key_id} AND tokens = ${from.ciphertext} RETURNING id`
        )
    })
  })
)
