import { RightsRepository } from "@atelier/core/organizations"
import { Effect } from "effect"
import { readRights, selectRights } from "../identity/Rights.js"
import { row, text } from "../platform/Row.js"
import { first, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

const stored = row({ rights: text() })

export const layer = service(
  RightsRepository,
  Effect.map(Statements, (sql) => {
    // A statement that waited for the user would go on with the memberships that there were when it began
    const lock = (userId: string) =>
      sql.dialect({ postgres: () => run(sql`SELECT id FROM users WHERE id = ${userId} FOR SHARE`), sqlite: () => Effect.void })
    const of = (userId: string) =>
      first(
        (from) => readRights(stored(from).rights),
        sql`SELECT ${selectRights(sql)} FROM users u WHERE u.id = ${userId} AND NOT u.deleted AND u.status <> 'suspended'`
      )
    return RightsRepository.of({ of, lock: (userId) => Effect.zipRight(lock(userId), of(userId)) })
  })
)
