import { GranteeRepository } from "@atelier/core/groups"
import { Effect } from "effect"
import { selectUser, withOrganizations } from "../identity/users/UserRepository.js"
import { among } from "../platform/Among.js"
import { row, uuid } from "../platform/Row.js"
import { all } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../platform/Dialect.js"
import { Statements } from "../platform/Statements.js"

const identified = row({ id: uuid })
const idOf = (from: object) => identified(from).id

export const layer = service(
  GranteeRepository,
  Effect.map(Statements, (sql) => {
    const selected = selectUser(sql)
    const forShare = locking(sql, "FOR SHARE")
    const forKeyShare = locking(sql, "FOR KEY SHARE OF g")
    return GranteeRepository.of({
      users: (ids) =>
        all(
          withOrganizations,
          sql`SELECT ${selected} FROM users u WHERE ${among(sql, sql`u.id`, ids)} AND NOT u.deleted ORDER BY lower(u.username)`
        ),
      lockUsers: (ids) =>
        all(idOf, sql`SELECT u.id FROM users u WHERE ${among(sql, sql`u.id`, ids)} AND NOT u.deleted ORDER BY u.id ${forShare}`),
      lockGroups: (ids) =>
        all(
          idOf,
          sql`SELECT g.id FROM groups g JOIN organizations o ON o.id = g.organization_id AND NOT o.deleted
            WHERE ${among(sql, sql`g.id`, ids)} ORDER BY g.id ${forKeyShare}`
        )
    })
  })
)
