import { UsedTokenRepository } from "@atelier/core/oauth2"
import { service } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { applied, run } from "../../platform/Statement.js"

export const layer = service(
  UsedTokenRepository,
  Effect.map(SqlClient.SqlClient, (sql) =>
    UsedTokenRepository.of({
      use: (hashedId, expiresAt) =>
        applied(
          sql`INSERT INTO oauth2_used_tokens ${sql.insert({ hashed_id: hashedId, expires_at: expiresAt })}
            ON CONFLICT (hashed_id) DO NOTHING RETURNING expires_at`
        ),
      deleteExpired: (before, limit) =>
        run(
          sql`DELETE FROM oauth2_used_tokens WHERE hashed_id IN (
            SELECT hashed_id FROM oauth2_used_tokens WHERE expires_at < ${before} ORDER BY expires_at LIMIT ${limit})`
        )
    })
  )
)
