import type { SqlError } from "@effect/sql"
import { Cryptography } from "@atelier/core/platform"
import { Effect } from "effect"
import { ddl } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/** Agents whose tokens are in memory at once. */
const batchSize = 1000

/** SQLite has no function for SHA-256. */
const hashedHere: Effect.Effect<void, SqlError.SqlError, Statements> = Effect.gen(function* () {
  const sql = yield* Statements
  const { sha256 } = yield* Cryptography
  let after = ""
  while (true) {
    const batch = yield* sql<{ readonly id: string; readonly auth_token: string }>`SELECT id, auth_token FROM workspace_agents
      WHERE id > ${after} ORDER BY id LIMIT ${batchSize}`
    yield* Effect.forEach(
      batch,
      ({ auth_token, id }) =>
        Effect.flatMap(
          sha256(new TextEncoder().encode(auth_token)),
          (hash) => sql`UPDATE workspace_agents SET hashed_token = ${hash} WHERE id = ${id}`
        ),
      { discard: true }
    )
    const last = batch.at(-1)
    if (last === undefined) return
    after = last.id
  }
}).pipe(Effect.provide(Cryptography.layerWeb))

const hashed = Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () => ddl(`UPDATE workspace_agents SET hashed_token = sha256(convert_to(CAST(auth_token AS TEXT), 'UTF8'))`),
    sqlite: () => hashedHere
  })
)

/** Tokens of agents are stored as their SHA-256, by which an agent is found. */
export default Effect.all(
  [
    ddl(`ALTER TABLE workspace_agents ADD COLUMN hashed_token :bytes NOT NULL DEFAULT ''`),
    hashed,
    ddl(
      `DROP INDEX workspace_agents_by_token`,
      `ALTER TABLE workspace_agents DROP COLUMN auth_token`,
      `CREATE INDEX workspace_agents_by_token ON workspace_agents (hashed_token)`
    )
  ],
  { discard: true }
)
