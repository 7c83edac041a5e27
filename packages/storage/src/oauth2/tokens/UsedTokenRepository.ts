import { UsedTokenRepository } from "@atelier/core/oauth2"
import { service } from "@atelier/core/platform"
import { Effect } from "effect"
import { applied } from "../../platform/Statement.js"
import { expiringRows } from "../waitingRows.js"
import { Statements } from "../../platform/Statements.js"

export const layer = service(
  UsedTokenRepository,
  Effect.map(Statements, (sql) =>
    UsedTokenRepository.of({
      use: (hashedId, expiresAt) =>
        applied(
          sql`INSERT INTO oauth2_used_tokens ${sql.insert({ hashed_id: hashedId, expires_at: expiresAt })}
            ON CONFLICT (hashed_id) DO NOTHING RETURNING expires_at`
        ),
      ...expiringRows(sql, "oauth2_used_tokens", "hashed_id")
    })
  )
)
