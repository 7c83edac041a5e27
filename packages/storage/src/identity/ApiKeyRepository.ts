import { SqlClient } from "@effect/sql"
import { AllowListEntry } from "@atelier/core/access"
import { ApiKeyRepository, type KeyLoginType } from "@atelier/core/identity"
import { Effect, Layer, Schema } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { json, number, row, text, texts, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, one, run, runUnique } from "../platform/Statement.js"
import { orDefect } from "../platform/Unavailability.js"

const columns = {
  id: text(),
  user_id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  last_used: timestamp,
  expires_at: timestamp,
  lifetime_seconds: number,
  login_type: text<KeyLoginType>(),
  ip: text(),
  token_name: text(),
  scopes: texts,
  allow_list: json(Schema.Array(AllowListEntry))
}

const key = row(columns)
const owner = row({ username: text() })
const counted = row({ count: number })

export const layer = Layer.effect(
  ApiKeyRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const selected = sql.literal(
      Object.keys(columns)
        .map((name) => `k.${name}`)
        .join(", ")
    )
    const hasScope = (scope: string) =>
      sql.onDialectOrElse({
        pg: () => sql`jsonb_exists(scopes, ${scope})`,
        orElse: () => sql`EXISTS (SELECT 1 FROM json_each(scopes) WHERE value = ${scope})`
      })

    return ApiKeyRepository.of({
      insert: (value, hashedSecret) =>
        runUnique(
          Effect.asVoid(
            sql`INSERT INTO api_keys ${sql.insert({
              ...value,
              scopes: JSON.stringify(value.scopes),
              allow_list: JSON.stringify(value.allow_list),
              hashed_secret: hashedSecret
            })}`
          )
        ),
      byId: (id) => first(key, sql`SELECT ${selected} FROM api_keys k WHERE k.id = ${id}`),
      byName: (userId, name) =>
        first(
          key,
          sql`SELECT ${selected} FROM api_keys k WHERE k.user_id = ${userId} AND k.token_name = ${name} AND k.token_name <> ''
            ORDER BY CASE k.login_type WHEN 'token' THEN 0 ELSE 1 END, k.created_at DESC LIMIT 1`
        ),
      tokens: ({ readable, unexpiredAt, userId, usersReadable }) =>
        all(
          (from) => ({ token: key(from), username: owner(from).username }),
          sql`SELECT ${selected},
              CASE WHEN ${accessCondition(sql, usersReadable, { id: "u.id", owner: "u.id" })} THEN u.username ELSE '' END AS username
            FROM api_keys k JOIN users u ON u.id = k.user_id
            WHERE k.login_type = 'token'
              AND ${userId === undefined ? sql`1 = 1` : sql`k.user_id = ${userId}`}
              AND ${unexpiredAt === undefined ? sql`1 = 1` : sql`k.expires_at >= ${unexpiredAt}`}
              AND ${accessCondition(sql, readable, { id: "k.id", owner: "k.user_id" })}
            ORDER BY k.created_at, k.id`
        ),
      count: (userId, limit) =>
        Effect.map(
          one(counted, sql`SELECT count(*) AS count FROM (SELECT 1 FROM api_keys WHERE user_id = ${userId} LIMIT ${limit}) counted`),
          ({ count }) => count
        ),
      delete: (id) => applied(sql`DELETE FROM api_keys WHERE id = ${id} RETURNING id`),
      expire: (id, at) => applied(sql`UPDATE api_keys SET expires_at = ${at} WHERE id = ${id} AND expires_at > ${at} RETURNING id`),
      deleteWithScope: (userId, scope) => run(sql`DELETE FROM api_keys WHERE user_id = ${userId} AND ${hasScope(scope)}`),
      deleteExpired: (before, limit) =>
        Effect.map(
          orDefect(
            sql`DELETE FROM api_keys WHERE id IN (SELECT id FROM api_keys WHERE expires_at < ${before} AND login_type <> 'oauth2_provider_app' ORDER BY expires_at LIMIT ${limit}) RETURNING id`
          ),
          ({ length }) => length
        )
    })
  })
)
