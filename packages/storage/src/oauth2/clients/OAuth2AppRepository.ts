import { DescriptiveMetadata, type OAuth2App, OAuth2AppRepository } from "@atelier/core/oauth2"
import { Effect, Option } from "effect"
import { dialectOf, locking } from "../../platform/Dialect.js"
import { boolean, bytes, columnList, json, nullable, number, row, text, texts, timestamp, uuid } from "../../platform/Row.js"
import { all, applied, first, one, run, touched } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

const columns = {
  id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  name: text(),
  icon: text(),
  redirect_uris: texts,
  client_type: text<OAuth2App["client_type"]>(),
  dynamically_registered: boolean,
  token_endpoint_auth_method: text<OAuth2App["token_endpoint_auth_method"]>(),
  grant_types: texts,
  response_types: texts,
  metadata: json(DescriptiveMetadata),
  last_used_at: nullable(timestamp)
}
const app = row(columns)

const secretColumns = { id: uuid, app_id: uuid, created_at: timestamp, truncated: text(), last_used_at: nullable(timestamp) }
const secret = row(secretColumns)
const hashed = row({ hashed_secret: bytes })
const token = row({ hashed_registration_token: nullable(bytes) })
const counted = row({ count: number })
const stored = row({ value: text() })

const registrationKey = "oauth2_dynamic_client_registration_enabled"

export const layer = service(
  OAuth2AppRepository,
  Effect.map(Statements, (sql) => {
    const { boolean: bool } = dialectOf(sql)
    const selected = sql.literal(columnList(columns, "a"))
    const selectedSecret = sql.literal(columnList(secretColumns))
    const written = ({ dynamically_registered, grant_types, metadata, redirect_uris, response_types, ...rest }: OAuth2App) => ({
      ...rest,
      dynamically_registered: bool(dynamically_registered),
      grant_types: JSON.stringify(grant_types),
      metadata: JSON.stringify(metadata),
      redirect_uris: JSON.stringify(redirect_uris),
      response_types: JSON.stringify(response_types)
    })
    const unused = sql`last_used_at IS NULL AND dynamically_registered = ${bool(true)}`

    return OAuth2AppRepository.of({
      list: all(app, sql`SELECT ${selected} FROM oauth2_apps a ORDER BY a.name, a.id`),
      ofUser: (userId) =>
        all(
          app,
          sql`SELECT ${selected} FROM oauth2_apps a
            WHERE EXISTS (SELECT 1 FROM oauth2_grants g WHERE g.app_id = a.id AND g.user_id = ${userId} AND g.status = 'active')
            ORDER BY a.name, a.id`
        ),
      byId: (id) => first(app, sql`SELECT ${selected} FROM oauth2_apps a WHERE a.id = ${id}`),
      lock: (id) => first(app, sql`SELECT ${selected} FROM oauth2_apps a WHERE a.id = ${id} ${locking(sql, "FOR NO KEY UPDATE")}`),
      hashedRegistrationToken: (id) =>
        Effect.map(
          first(token, sql`SELECT hashed_registration_token FROM oauth2_apps WHERE id = ${id}`),
          Option.flatMapNullable(({ hashed_registration_token }) => hashed_registration_token)
        ),
      insert: (value, hashedToken) =>
        run(sql`INSERT INTO oauth2_apps ${sql.insert({ ...written(value), hashed_registration_token: hashedToken })}`),
      insertMissing: (value) =>
        run(sql`INSERT INTO oauth2_apps ${sql.insert({ ...written(value), hashed_registration_token: null })} ON CONFLICT (id) DO NOTHING`),
      update: (value) => run(sql`UPDATE oauth2_apps SET ${sql.update(written(value), ["id", "last_used_at"])} WHERE id = ${value.id}`),
      delete: (id) => applied(sql`DELETE FROM oauth2_apps WHERE id = ${id} RETURNING id`),
      recordUse: (id, at) => run(sql`UPDATE oauth2_apps SET last_used_at = ${at} WHERE id = ${id}`),
      countUnused: (limit) =>
        Effect.map(
          one(counted, sql`SELECT count(*) AS count FROM (SELECT 1 FROM oauth2_apps WHERE ${unused} LIMIT ${limit}) counted`),
          ({ count }) => count
        ),
      deleteUnused: (before, limit) =>
        touched(
          // The condition stands outside too: PostgreSQL judges it again for a row that it has waited for
          sql`DELETE FROM oauth2_apps WHERE ${unused} AND id IN (
            SELECT id FROM oauth2_apps WHERE ${unused} AND created_at < ${before} ORDER BY created_at LIMIT ${limit}) RETURNING id`
        ),
      secrets: (appId) =>
        all(secret, sql`SELECT ${selectedSecret} FROM oauth2_app_secrets WHERE app_id = ${appId} ORDER BY created_at, id`),
      secret: (id) => first(secret, sql`SELECT ${selectedSecret} FROM oauth2_app_secrets WHERE id = ${id}`),
      secretByPrefix: (prefix) =>
        first(
          (from) => ({ ...secret(from), ...hashed(from) }),
          sql`SELECT ${selectedSecret}, hashed_secret FROM oauth2_app_secrets WHERE prefix = ${prefix}`
        ),
      insertSecret: (value, prefix) => run(sql`INSERT INTO oauth2_app_secrets ${sql.insert({ ...value, prefix })}`),
      deleteSecret: (id) => applied(sql`DELETE FROM oauth2_app_secrets WHERE id = ${id} RETURNING id`),
      recordSecretUse: (id, at, unlessSince) =>
        run(
          sql`UPDATE oauth2_app_secrets SET last_used_at = ${at} WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at < ${unlessSince})`
        ),
      registrationEnabled: Effect.map(
        first(stored, sql`SELECT value FROM deployment_values WHERE key = ${registrationKey}`),
        Option.map(({ value }) => value === "true")
      ),
      setRegistrationEnabled: (enabled) =>
        run(
          sql`INSERT INTO deployment_values ${sql.insert({ key: registrationKey, value: String(enabled) })}
            ON CONFLICT (key) DO UPDATE SET value = excluded.value`
        )
    })
  })
)
