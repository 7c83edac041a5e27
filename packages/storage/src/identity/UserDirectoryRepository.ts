import { SqlClient, type Statement } from "@effect/sql"
import { UserDirectoryRepository, type UserFilter, type UserQuery } from "@atelier/core/identity"
import { Effect, Layer } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { contains } from "../platform/Contains.js"
import { dialectOf } from "../platform/Dialect.js"
import { number, row } from "../platform/Row.js"
import { all, one } from "../platform/Statement.js"
import { selectUser, withOrganizations } from "./UserRepository.js"

/** What a limit of 0 stands for. */
const maximumRows = 2_147_483_647

const counted = row({ count: number })

/** The conditions that a filter adds on users `u`; none where it says nothing. */
export const userConditions = (sql: SqlClient.SqlClient, filter: UserFilter): ReadonlyArray<Statement.Fragment> => {
  const { boolean: bool } = dialectOf(sql)
  const when = <A>(value: A | undefined, condition: (value: A) => Statement.Fragment): ReadonlyArray<Statement.Fragment> =>
    value === undefined ? [] : [condition(value)]
  const holds = (column: string, part: string) => contains(sql, sql.literal(`lower(u.${column})`), part)
  const anyRole = (roles: ReadonlyArray<string>) =>
    sql.onDialectOrElse({
      pg: () => sql`jsonb_exists_any(u.rbac_roles, ARRAY(SELECT jsonb_array_elements_text(CAST(${JSON.stringify(roles)} AS jsonb))))`,
      orElse: () =>
        sql`EXISTS (SELECT 1 FROM json_each(u.rbac_roles) r WHERE r.value IN (SELECT value FROM json_each(${JSON.stringify(roles)})))`
    })

  return [
    ...when(filter.search, (part) => sql.or(["email", "username", "name"].map((column) => holds(column, part)))),
    ...when(filter.name, (part) => holds("name", part)),
    ...when(filter.username, (username) => sql`lower(u.username) = ${username}`),
    // An empty address is none
    ...when(filter.email, (email) => sql`lower(u.email) = ${email} AND u.email <> ''`),
    ...when(filter.statuses, (statuses) => sql`u.status IN ${sql.in(statuses)}`),
    // Few have a role: those have an index
    ...when(filter.roles, (roles) => sql`u.rbac_roles <> '[]' AND ${anyRole(roles)}`),
    ...when(filter.login_types, (types) => sql`u.login_type IN ${sql.in(types)}`),
    ...when(filter.is_service_account, (value) => sql`u.is_service_account = ${bool(value)}`),
    ...when(filter.github_com_user_id, (id) => sql`u.github_com_user_id = ${id} AND u.github_com_user_id <> 0`),
    ...when(filter.last_seen_before, (at) => sql`u.last_seen_at <= ${at}`),
    ...when(filter.last_seen_after, (at) => sql`u.last_seen_at >= ${at}`),
    ...when(filter.created_before, (at) => sql`u.created_at <= ${at}`),
    ...when(filter.created_after, (at) => sql`u.created_at >= ${at}`)
  ]
}

export const layer = Layer.effect(
  UserDirectoryRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const selected = selectUser(sql)

    const matching = ({ after_id, filter, readable }: UserQuery): Statement.Fragment =>
      sql.and([
        sql`NOT u.deleted`,
        sql`NOT u.is_system`,
        accessCondition(sql, readable, { id: "u.id", owner: "u.id" }),
        ...userConditions(sql, filter),
        ...(after_id === undefined
          ? []
          : [
              sql`lower(u.username) > (SELECT lower(c.username) FROM users c
                WHERE c.id = ${after_id} AND ${accessCondition(sql, readable, { id: "c.id", owner: "c.id" })})`
            ])
      ])

    return UserDirectoryRepository.of({
      page: (query) =>
        Effect.gen(function* () {
          const { limit, offset } = query
          const condition = matching(query)
          const users = yield* all(
            withOrganizations,
            sql`SELECT ${selected} FROM users u WHERE ${condition}
              ORDER BY lower(u.username) LIMIT ${limit === 0 ? maximumRows : limit} OFFSET ${offset}`
          )
          if (users.length === 0) return { users, count: 0 }
          // A page that is not full ends the list
          if (limit === 0 || users.length < limit) return { users, count: offset + users.length }
          return { users, count: (yield* one(counted, sql`SELECT count(*) AS count FROM users u WHERE ${condition}`)).count }
        })
    })
  })
)
