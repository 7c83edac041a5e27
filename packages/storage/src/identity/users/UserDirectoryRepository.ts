import { UserDirectoryRepository, type UserFilter, type UserQuery } from "@atelier/core/identity"
import { Effect } from "effect"
import { accessCondition } from "../../platform/AccessPredicate.js"
import { contains, withPlanOfItsOwn } from "../../platform/Contains.js"
import { dialectOf, unindexed } from "../../platform/Dialect.js"
import { limited, rowsWanted } from "../../platform/Limit.js"
import { number, row, uuid } from "../../platform/Row.js"
import { all, one } from "../../platform/Statement.js"
import { selectUser, withOrganizations } from "./UserRepository.js"
import { service } from "@atelier/core/platform"
import { type Fragment, Statements } from "../../platform/Statements.js"

const counted = row({ count: number })

/** Users that the trigrams of a text may name; with more, reading the list in its order comes to a page sooner. */
const maximumCandidates = 1000

/** A text as the index of trigrams is asked for it; undefined for one that has none. */
const phrase = (columns: string, text: string | undefined): string | undefined =>
  text === undefined || Array.from(text).length < 3 ? undefined : `${columns}"${text.replaceAll('"', '""')}"`

/** Users of a period that are rather sorted than looked for in the order of all. */
const maximumSorted = 10_000

const isOfPeriod = (filter: UserFilter): boolean =>
  [filter.created_after, filter.created_before, filter.last_seen_after, filter.last_seen_before].some((at) => at !== undefined)

/** A part of a list, counted from the end that is nearer. */
interface Slice {
  readonly backwards: boolean
  /** They are few enough to be sorted. */
  readonly isSorted: boolean
  readonly limit: number
  readonly offset: number
}

/** The conditions that a filter adds on users `u`; none where it says nothing. */
export const userConditions = (sql: Statements, filter: UserFilter): ReadonlyArray<Fragment> => {
  const { boolean: bool } = dialectOf(sql)
  const when = <A>(value: A | undefined, condition: (value: A) => Fragment): ReadonlyArray<Fragment> =>
    value === undefined ? [] : [condition(value)]
  const holds = (column: string, part: string) => sql`${contains(sql, sql.literal(`lower(u.${column})`), part)} ${withPlanOfItsOwn(sql)}`
  const anyRole = (roles: ReadonlyArray<string>) =>
    sql.dialect({
      postgres: () => sql`jsonb_exists_any(u.rbac_roles, ARRAY(SELECT jsonb_array_elements_text(CAST(${JSON.stringify(roles)} AS jsonb))))`,
      sqlite: () =>
        sql`EXISTS (SELECT 1 FROM json_each(u.rbac_roles) r WHERE r.value IN (SELECT value FROM json_each(${JSON.stringify(roles)})))`
    })

  return [
    ...when(filter.search, (part) => sql.or(["email", "username", "name"].map((column) => holds(column, part)))),
    ...when(filter.name, (part) => holds("name", part)),
    ...when(filter.username, (username) => sql`lower(u.username) = ${username}`),
    // An empty address never matches
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

export const layer = service(
  UserDirectoryRepository,
  Effect.map(Statements, (sql) => {
    const selected = selectUser(sql)
    const { boolean: bool } = dialectOf(sql)

    const key = sql`u.username_key`
    /** Keeps SQLite from reading all users in their order where an index knows the few that are meant. */
    const sortedKey = unindexed(sql, "u.username_key")

    /** SQLite takes an index that is much longer, unless it is told: few have a role. */
    const users = (filter: UserFilter): Fragment =>
      sql.dialect({
        postgres: () => sql`users u`,
        sqlite: () => (filter.roles === undefined ? sql`users u` : sql`users u INDEXED BY users_with_roles`)
      })

    /** The users that may match a text, if SQLite's index of trigrams finds few enough. PostgreSQL uses its own index by itself. */
    const candidates = (filter: UserFilter): Effect.Effect<ReadonlyArray<Fragment>> => {
      const [match] = [phrase("", filter.search), phrase("name : ", filter.name)].filter((one) => one !== undefined)
      return sql.dialect({
        postgres: () => Effect.succeed([]),
        sqlite: () =>
          match === undefined
            ? Effect.succeed([])
            : Effect.map(
                all(
                  row({ user_id: uuid }),
                  sql`SELECT t.user_id FROM user_trigrams JOIN user_texts t ON t.number = user_trigrams.rowid
                    WHERE user_trigrams MATCH ${match} LIMIT ${maximumCandidates + 1}`
                ),
                (found) =>
                  found.length > maximumCandidates
                    ? []
                    : [sql`u.id IN (SELECT value FROM json_each(${JSON.stringify(found.map(({ user_id }) => user_id))}))`]
              )
      })
    }

    const matching = ({ after_id, filter, readable }: UserQuery, found: ReadonlyArray<Fragment>): Fragment =>
      sql.and([
        ...found,
        sql`NOT u.deleted`,
        sql`NOT u.is_system`,
        accessCondition(sql, readable, { id: "u.id", owner: "u.id" }),
        ...userConditions(sql, filter),
        ...(after_id === undefined
          ? []
          : [
              sql`u.username_key > (SELECT c.username_key FROM users c
                WHERE c.id = ${after_id} AND ${accessCondition(sql, readable, { id: "c.id", owner: "c.id" })})`
            ])
      ])

    /** Users in their order, which are first found by an index alone: those before them are not read. */
    const slice = (from: Fragment, condition: Fragment, { backwards, isSorted, limit, offset }: Slice) =>
      all(
        withOrganizations,
        sql`SELECT ${selected} FROM (
            SELECT u.id, u.username_key FROM ${from} WHERE ${condition}
            ORDER BY ${isSorted ? sortedKey : key} ${sql.literal(backwards ? "DESC" : "ASC")} ${limited(sql, { limit, offset })}
          ) p JOIN users u ON u.id = p.id ORDER BY p.username_key`
      )

    /** How many there are, which is counted already unless it depends on what hardly any other list does. */
    const countOf = (query: UserQuery, from: Fragment, condition: Fragment): Effect.Effect<number> => {
      const { after_id, filter, readable } = query
      const { is_service_account, login_types, statuses, ...others } = filter
      const isCounted =
        after_id === undefined && readable._tag === "True" && Object.values(others).every((condition) => condition === undefined)
      const counts = [
        ...(statuses === undefined ? [] : [sql`n.status IN ${sql.in(statuses)}`]),
        ...(login_types === undefined ? [] : [sql`n.login_type IN ${sql.in(login_types)}`]),
        ...(is_service_account === undefined ? [] : [sql`n.is_service_account = ${bool(is_service_account)}`])
      ]
      const count = isCounted
        ? sql`SELECT coalesce(sum(n.count), 0) AS count FROM user_counts n ${counts.length === 0 ? sql`` : sql`WHERE ${sql.and(counts)}`}`
        : sql`SELECT count(*) AS count FROM ${from} WHERE ${condition}`
      return Effect.map(one(counted, count), ({ count }) => count)
    }

    return UserDirectoryRepository.of({
      page: (query) =>
        Effect.gen(function* () {
          const { filter, limit, offset } = query
          const from = users(filter)
          const condition = matching(query, yield* candidates(filter))
          const wanted = rowsWanted(limit)
          if (offset === 0 && !isOfPeriod(filter)) {
            const found = yield* slice(from, condition, { backwards: false, isSorted: false, limit: wanted, offset })
            // A page that is not full ends the list
            return { users: found, count: found.length < wanted ? found.length : yield* countOf(query, from, condition) }
          }
          const count = yield* countOf(query, from, condition)
          if (offset >= count) return { users: [], count: 0 }
          const size = Math.min(wanted, count - offset)
          const behind = count - offset - size
          const isNearEnd = behind < offset
          const found = yield* slice(from, condition, {
            backwards: isNearEnd,
            isSorted: isOfPeriod(filter) && count <= maximumSorted,
            limit: size,
            offset: isNearEnd ? behind : offset
          })
          return { users: found, count }
        })
    })
  })
)
