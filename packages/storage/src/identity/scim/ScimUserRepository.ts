import { type ScimQuery, ScimUserRepository } from "@atelier/core/identity"
import { Effect } from "effect"
import { accessCondition } from "../../platform/AccessPredicate.js"
import { number, row } from "../../platform/Row.js"
import { all, one } from "../../platform/Statement.js"
import { userConditions } from "../users/UserDirectoryRepository.js"
import { userColumns } from "../users/UserRepository.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../../platform/Statements.js"

const user = row(userColumns)
const counted = row({ count: number })

export const layer = service(
  ScimUserRepository,
  Effect.map(Statements, (sql) => {
    const selected = sql.literal(Object.keys(userColumns).join(", "))

    const matching = ({ filter, readable }: ScimQuery): Fragment =>
      sql.and([
        sql`NOT u.deleted`,
        sql`NOT u.is_system`,
        accessCondition(sql, readable, { id: "u.id", owner: "u.id" }),
        ...userConditions(sql, filter ?? {})
      ])

    return ScimUserRepository.of({
      page: (query) =>
        all(
          user,
          sql`SELECT ${selected} FROM users u WHERE ${matching(query)}
            ORDER BY u.username_key LIMIT ${query.limit} OFFSET ${query.offset}`
        ),
      count: (query) => Effect.map(one(counted, sql`SELECT count(*) AS count FROM users u WHERE ${matching(query)}`), ({ count }) => count)
    })
  })
)
