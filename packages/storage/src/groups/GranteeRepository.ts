import { SqlClient } from "@effect/sql"
import { GranteeRepository } from "@atelier/core/groups"
import { Effect, Layer } from "effect"
import { selectUser, withOrganizations } from "../identity/UserRepository.js"
import { among } from "../platform/Among.js"
import { all } from "../platform/Statement.js"

export const layer = Layer.effect(
  GranteeRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const selected = selectUser(sql)
    return GranteeRepository.of({
      users: (ids) =>
        all(
          withOrganizations,
          sql`SELECT ${selected} FROM users u WHERE ${among(sql, sql`u.id`, ids)} AND NOT u.deleted ORDER BY lower(u.username)`
        )
    })
  })
)
