import { SqlClient } from "@effect/sql"
import { GitSshKeyRepository } from "@atelier/core/identity"
import { Effect, Layer, Option, Redacted } from "effect"
import { row, text, timestamp, uuid } from "../platform/Row.js"
import { first, run } from "../platform/Statement.js"

const key = row({ user_id: uuid, created_at: timestamp, updated_at: timestamp, public_key: text() })
const pair = row({ public_key: text(), private_key: text() })

export const layer = Layer.effect(
  GitSshKeyRepository,
  Effect.map(SqlClient.SqlClient, (sql) =>
    GitSshKeyRepository.of({
      insert: (value, privateKey) =>
        run(sql`INSERT INTO git_ssh_keys ${sql.insert({ ...value, private_key: Redacted.value(privateKey) })}`),
      ofUser: (userId) => first(key, sql`SELECT user_id, created_at, updated_at, public_key FROM git_ssh_keys WHERE user_id = ${userId}`),
      pairOf: (userId) =>
        Effect.map(
          first(pair, sql`SELECT public_key, private_key FROM git_ssh_keys WHERE user_id = ${userId}`),
          Option.map(({ private_key, public_key }) => ({ public_key, private_key: Redacted.make(private_key) }))
        )
    })
  )
)
