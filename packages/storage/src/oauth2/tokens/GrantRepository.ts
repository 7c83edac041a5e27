import { type Grant, GrantRepository } from "@atelier/core/oauth2"
import { Effect } from "effect"
import { bytes, columnList, nullable, row, text, texts, timestamp, uuid } from "../../platform/Row.js"
import { applied, first, run, touched } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const columns = {
  id: uuid,
  app_id: uuid,
  user_id: uuid,
  status: text<Grant["status"]>(),
  created_at: timestamp,
  updated_at: timestamp,
  code_expires_at: timestamp,
  redirect_uri: nullable(text()),
  hashed_state: nullable(text()),
  code_challenge: text(),
  resource: texts,
  scopes: texts,
  secret_id: nullable(uuid),
  api_key_id: nullable(text()),
  refresh_expires_at: nullable(timestamp),
  dpop_jkt: nullable(text())
}
const grant = row(columns)
const hashed = row({ hashed_secret: bytes })
const refreshToken = row({ prefix: text(), grant_id: uuid, expires_at: timestamp, rotated_at: nullable(timestamp) })

const withHash =
  <A>(shape: (from: object) => A) =>
  (from: object) => ({ value: shape(from), ...hashed(from) })

export const layer = service(
  GrantRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(columnList(columns, "g"))
    const keyShare = locking(sql, "FOR KEY SHARE")

    return GrantRepository.of({
      insert: ({ resource, scopes, ...value }, code, consentKeyId) =>
        run(
          sql`INSERT INTO oauth2_grants ${sql.insert({
            ...value,
            resource: JSON.stringify(resource),
            scopes: JSON.stringify(scopes),
            code_prefix: code.prefix,
            hashed_code: code.hashedSecret,
            consent_key_id: consentKeyId ?? null
          })}`
        ),
      byId: (id) => first(grant, sql`SELECT ${selected} FROM oauth2_grants g WHERE g.id = ${id}`),
      byCode: (prefix) =>
        first(
          withHash(grant),
          sql`SELECT ${selected}, g.hashed_code AS hashed_secret FROM oauth2_grants g WHERE g.code_prefix = ${prefix}`
        ),
      byAccessToken: (apiKeyId) =>
        first(
          withHash(grant),
          sql`SELECT ${selected}, k.hashed_secret FROM oauth2_grants g JOIN api_keys k ON k.id = g.api_key_id WHERE g.api_key_id = ${apiKeyId}`
        ),
      refreshToken: (prefix) =>
        first(
          withHash(refreshToken),
          sql`SELECT prefix, grant_id, hashed_secret, expires_at, rotated_at FROM oauth2_refresh_tokens WHERE prefix = ${prefix}`
        ),
      end: ({ api_key_id, id, status: current }, status, at) =>
        Effect.gen(function* () {
          // The grant outlives its key here, so that its code and refresh tokens are recognised
          const isFirst = yield* applied(
            sql`UPDATE oauth2_grants SET status = ${status}, api_key_id = NULL, consent_key_id = NULL, updated_at = ${at}
              WHERE id = ${id} AND status = ${current} RETURNING id`
          )
          if (isFirst && api_key_id !== null) yield* run(sql`DELETE FROM api_keys WHERE id = ${api_key_id}`)
          return isFirst
        }),
      renew: ({ api_key_id, id, resource, status }, { apiKeyId, dpopKey, refreshToken, replaces, secretId }, at) =>
        Effect.gen(function* () {
          // Before the grant: a deletion of the secret locks them in this order
          if (secretId !== null && !(yield* applied(sql`SELECT id FROM oauth2_app_secrets WHERE id = ${secretId} ${keyShare}`)))
            return false
          const isFirst = yield* applied(
            sql`UPDATE oauth2_grants SET status = 'active', api_key_id = ${apiKeyId}, consent_key_id = NULL, secret_id = ${secretId},
                refresh_expires_at = ${refreshToken.expires_at}, dpop_jkt = ${dpopKey ?? null}, updated_at = ${at}
              WHERE id = ${id} AND status = ${status} RETURNING id`
          )
          if (!isFirst) return false
          if (resource.length > 0) yield* run(sql`UPDATE api_keys SET audience = ${JSON.stringify(resource)} WHERE id = ${apiKeyId}`)
          if (dpopKey !== undefined) yield* run(sql`UPDATE api_keys SET dpop_jkt = ${dpopKey} WHERE id = ${apiKeyId}`)
          if (api_key_id !== null) yield* run(sql`DELETE FROM api_keys WHERE id = ${api_key_id}`)
          if (replaces !== undefined) yield* run(sql`UPDATE oauth2_refresh_tokens SET rotated_at = ${at} WHERE prefix = ${replaces}`)
          yield* run(
            sql`INSERT INTO oauth2_refresh_tokens ${sql.insert({
              prefix: refreshToken.prefix,
              grant_id: id,
              hashed_secret: refreshToken.hashedSecret,
              expires_at: refreshToken.expires_at,
              rotated_at: null
            })}`
          )
          return true
        }),
      deleteOfUser: (appId, userId) =>
        Effect.gen(function* () {
          yield* run(sql`DELETE FROM oauth2_grants WHERE app_id = ${appId} AND user_id = ${userId}`)
          // The user has answered these devices, which have not come for their tokens yet
          yield* run(sql`DELETE FROM oauth2_device_codes WHERE app_id = ${appId} AND user_id = ${userId}`)
        }),
      deleteBeyond: (appId, userId, kept) =>
        run(
          sql`DELETE FROM oauth2_grants WHERE app_id = ${appId} AND user_id = ${userId} AND id NOT IN (
            SELECT id FROM oauth2_grants WHERE app_id = ${appId} AND user_id = ${userId} ORDER BY created_at DESC, id DESC LIMIT ${kept})`
        ),
      deleteEnded: (before, limit) =>
        touched(
          // The condition stands outside too: PostgreSQL judges it again for a row that it has waited for
          sql`DELETE FROM oauth2_grants WHERE status <> 'active' AND id IN (
            SELECT id FROM oauth2_grants WHERE status <> 'active' AND code_expires_at < ${before} ORDER BY code_expires_at LIMIT ${limit}) RETURNING id`
        ),
      deleteLapsed: ({ keysBefore, now }, limit) =>
        touched(
          sql`DELETE FROM oauth2_grants WHERE refresh_expires_at < ${now} AND id IN (
            SELECT g.id FROM oauth2_grants g LEFT JOIN api_keys k ON k.id = g.api_key_id
            WHERE g.status = 'active' AND g.refresh_expires_at < ${now} AND (k.id IS NULL OR k.expires_at < ${keysBefore})
            ORDER BY g.refresh_expires_at LIMIT ${limit}) RETURNING id`
        ),
      deleteRefreshTokens: (before, limit) =>
        touched(
          sql`DELETE FROM oauth2_refresh_tokens WHERE prefix IN (
            SELECT prefix FROM oauth2_refresh_tokens WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit}) RETURNING prefix`
        )
    })
  })
)
