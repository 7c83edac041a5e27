/**
 * The list of workspaces: the requester's favorites first, then running ones, then by owner and name. It has two parts, favorites and the
 * rest, and a page is made of a slice of each. workspaces.md §3.3.
 */
import type { WorkspaceQuery } from "@atelier/core/workspaces"
import { eitherAgent } from "./AgentConditions.js"
import { filterConditions, trigram, visibility } from "./WorkspaceConditions.js"
import { withPlanOfItsOwn } from "../platform/Contains.js"
import { limited, rowsWanted } from "../platform/Limit.js"
import type { Fragment, Query, Statements } from "../platform/Statements.js"

/** Which rows of one part of the list belong to a page. */
export interface Slice {
  readonly offset: number
  readonly limit: number
  /** Counted from the end. */
  readonly backwards: boolean
}

export interface Slices {
  readonly favorites: Slice
  readonly rest: Slice
  /** Rows of the page at most. */
  readonly size: number
}

/** The first page, whatever the parts' lengths: as much of each as fits. */
export const firstSlices = ({ limit }: Pick<WorkspaceQuery, "limit">): Slices => {
  const size = rowsWanted(limit)
  const slice: Slice = { offset: 0, limit: size, backwards: false }
  return { favorites: slice, rest: slice, size }
}

const nothing: Slice = { offset: 0, limit: 0, backwards: false }

/** A slice is read from the end it is nearer to: skipping rows costs as much as reading them. */
const sliceOf = (length: number, offset: number, wanted: number): Slice => {
  const limit = Math.min(wanted, length - offset)
  if (limit <= 0) return nothing
  const behind = length - offset - limit
  return behind < offset ? { offset: behind, limit, backwards: true } : { offset, limit, backwards: false }
}

/** The lengths of the list, and of its first part. */
export interface Total {
  readonly count: number
  readonly favorites: number
}

/** A later page. */
export const laterSlices = ({ limit, offset }: Pick<WorkspaceQuery, "limit" | "offset">, total: Total): Slices => {
  const wanted = rowsWanted(limit)
  const favorites = sliceOf(total.favorites, offset, wanted)
  const rest = sliceOf(total.count - total.favorites, Math.max(0, offset - total.favorites), wanted - favorites.limit)
  return { favorites, rest, size: favorites.limit + rest.limit }
}

export interface WorkspaceList {
  /** Answers a `Total`. */
  readonly total: Query
  /** The length of the list where the database keeps it, within a statement that begins with `page`. */
  readonly knownCount: Fragment | undefined
  /** Whether few of many workspaces may match, and no index has them in the order of the list: it is counted before its first page is read. */
  readonly isSought: boolean
  /**
   * A `WITH` clause that names the rows `page`: ids with the columns that order them. `total` is given if it is known. A short list is sought as a whole and then
   * ordered, while of a long one the workspaces that are next in the order soon fill a page. Where no favorite matches, none is looked for among the rows that the
   * page skips.
   */
  readonly page: (slices: Slices, total?: Total) => Fragment
  /** The order of the statement that reads `page`. */
  readonly order: Fragment
}

/** Workspaces of a list that is sought as a whole. A longer one of a million fills a page of 25 with the first 25,000 in the order. */
const shortList = 1000

/** The same for those with a part of a name, which an index leads to: more of them are read in the time in which a page of their order is. */
const shortListOfNames = 20_000

export const workspaceList = (sql: Statements, query: WorkspaceQuery): WorkspaceList => {
  const { requester } = query
  const { own, shared, whole, wholeByOrganization } = visibility(sql, query.readable, requester)
  const { agent_status, ids, is_outdated, name: namePart, organization_id, owner_id, owner_username } = query.filter
  const seen = [whole, own, shared].filter((part) => part !== null)
  const isSeen = seen.length === 0 ? sql`1 = 0` : sql.or(seen.map((part) => sql`(${part})`))
  const live = (condition: Fragment) => sql`SELECT w.* FROM workspaces w WHERE NOT w.deleted AND ${condition}`

  // The databases do not know how few some rows are: they are told to begin with those, by the indexes of owners and of shares
  const isFavorite = sql`w.owner_id = ${requester} AND w.favorite`
  const isNarrow = whole === null && seen.length > 0
  const isFew = isNarrow || owner_id !== undefined || owner_username !== undefined || ids !== undefined
  const filters = filterConditions(sql, query, { isEach: isFew })
  const eachFilters = filterConditions(sql, query, { isEach: true })
  const first = isNarrow
    ? sql`mine AS MATERIALIZED (${sql.join(" UNION ALL ", false)(seen.map(live))})`
    : sql`favorites AS MATERIALIZED (${live(isFavorite)})`

  const matchingFavorites = isNarrow
    ? sql`FROM mine w WHERE ${sql.and([isFavorite, ...eachFilters])}`
    : sql`FROM favorites w WHERE ${sql.and([isSeen, ...eachFilters])}`
  const matchingBy = (conditions: ReadonlyArray<Fragment>) =>
    isNarrow
      ? sql`FROM mine w WHERE ${sql.and([sql`NOT w.deleted`, ...conditions])}`
      : sql`FROM workspaces w WHERE ${sql.and([sql`NOT w.deleted`, isSeen, ...conditions])}`
  const matching = matchingBy(filters)
  const sought = sql`${first}, matching AS MATERIALIZED (SELECT w.* ${matching})`

  // Within one status the rank is the same; without it the index of statuses has the order
  const keys = query.filter.status === undefined ? ["list_rank", "owner_key", "name_key", "id"] : ["owner_key", "name_key", "id"]
  const order = (table: string, direction: "ASC" | "DESC") => sql.literal(keys.map((key) => `${table}.${key} ${direction}`).join(", "))
  const part = (number: 0 | 1, rows: Fragment, slice: Slice) =>
    sql`SELECT w.id, ${sql.literal(String(number))} AS part, w.list_rank, w.owner_key, w.name_key ${rows}
      ORDER BY ${order("w", slice.backwards ? "DESC" : "ASC")} ${limited(sql, slice)}`

  // Whole organizations are counted already, so a filter by organization leaves the count known
  const others = { ...query.filter, organization_id: undefined }
  const isCounted = wholeByOrganization !== null && filterConditions(sql, { ...query, filter: others }, { isEach: false }).length === 0
  const within = (column: string): Fragment =>
    organization_id === undefined ? sql`1 = 1` : sql`${sql.literal(column)} = ${organization_id}`
  const sums = [own, shared].flatMap((part) =>
    part === null ? [] : [sql`(SELECT count(*) FROM workspaces w WHERE NOT w.deleted AND ${within("w.organization_id")} AND ${part})`]
  )
  const knownCount = isCounted
    ? sql.join(
        " + ",
        false
      )([
        sql`(SELECT coalesce(sum(c.count), 0) FROM workspace_counts c WHERE ${within("c.organization_id")} AND ${wholeByOrganization})`,
        ...sums
      ])
    : undefined
  const counted =
    isFew || agent_status === undefined
      ? [matching]
      : eitherAgent(sql, agent_status, query).map((agent) => matchingBy(filterConditions(sql, query, { agent, isEach: false })))
  const count = knownCount ?? sql.join(" + ", false)(counted.map((rows) => sql`(SELECT count(*) ${rows})`))

  // SQLite has no index of the parts of names: it reads all names, in whatever order
  const isNameSought = sql.dialect({ postgres: () => namePart !== undefined && namePart.length >= trigram, sqlite: () => false })
  const isSought = !isFew && (agent_status !== undefined || is_outdated === true || isNameSought)

  return {
    isSought,
    total: sql`WITH ${first} SELECT ${namePart === undefined ? sql`` : withPlanOfItsOwn(sql)} ${count} AS count, (SELECT count(*) ${matchingFavorites}) AS favorites`,
    knownCount,
    page: (slices, total) => {
      // All of them are at hand
      if (isNarrow) {
        return sql`WITH ${first}, page AS (
          SELECT w.id, CASE WHEN ${isFavorite} THEN 0 ELSE 1 END AS part, w.list_rank, w.owner_key, w.name_key ${matching}
          ORDER BY part, ${order("w", "ASC")} ${limited(sql, { limit: slices.size, offset: query.offset })}
        )`
      }
      const isShort = isSought && total !== undefined && total.count <= (isNameSought ? shortListOfNames : shortList)
      const all = isShort ? sql`FROM matching w WHERE 1 = 1` : matchingBy(eachFilters)
      const rest = total?.favorites === 0 ? all : sql`${all} AND w.id NOT IN (SELECT id FROM favorites)`
      return sql`WITH ${isShort ? sought : first}, page AS (
        SELECT * FROM (${part(0, matchingFavorites, slices.favorites)}) f
        UNION ALL SELECT * FROM (${part(1, rest, slices.rest)}) r
      )`
    },
    order: sql`page.part, ${order("page", "ASC")}`
  }
}
