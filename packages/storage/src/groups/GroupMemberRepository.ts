import type { AccessPredicate } from "@atelier/core/access"
import { type Group, type GroupId, GroupMemberRepository, isEveryone } from "@atelier/core/groups"
import { Effect } from "effect"
import { userConditions } from "../identity/users/UserDirectoryRepository.js"
import { userColumns } from "../identity/users/UserRepository.js"
import { accessCondition } from "../platform/AccessPredicate.js"
import { among } from "../platform/Among.js"
import { insertAll } from "../platform/Batch.js"
import { limited, rowsWanted } from "../platform/Limit.js"
import { inPages, pageSize } from "../platform/Pages.js"
import { number, row, type RowOf, text, uuid } from "../platform/Row.js"
import { all, one, run, runUnique } from "../platform/Statement.js"
import { memberCount } from "./MemberCount.js"
import { service } from "@atelier/core/platform"
import { locking } from "../platform/Dialect.js"
import { type Fragment, Statements } from "../platform/Statements.js"

const user = row(userColumns)
const place = row({ username_key: text(), id: uuid })
const entry = row({ ...userColumns, group_id: uuid })
const identified = row({ id: uuid })
const counted = row({ count: number })

export const layer = service(
  GroupMemberRepository,
  Effect.map(Statements, (sql) => {
    const userSelected = sql.literal(
      Object.keys(userColumns)
        .map((name) => `u.${name}`)
        .join(", ")
    )
    const forShareOfUser = locking(sql, "FOR SHARE OF u")
    const forKeyShare = locking(sql, "FOR KEY SHARE")

    /** The places `r` of users in a group, in the order of an index. */
    const placesOf = (group: Pick<Group, "id" | "organization_id">): Fragment =>
      isEveryone(group)
        ? sql`(SELECT m.user_id, m.organization_id, m.username_key FROM organization_members m
            WHERE m.organization_id = ${group.id} AND m.listed) r`
        : sql`(SELECT m.user_id, g.organization_id, m.username_key FROM group_members m JOIN groups g ON g.id = m.group_id
            WHERE m.group_id = ${group.id} AND m.listed) r`

    /** The places `r` of users in groups. */
    const placesIn = (ids: ReadonlyArray<GroupId>): Fragment =>
      sql`(SELECT m.group_id, m.user_id, g.organization_id, m.username_key FROM group_members m JOIN groups g ON g.id = m.group_id
          WHERE ${among(sql, sql`m.group_id`, ids)} AND m.listed
        UNION ALL SELECT m.organization_id, m.user_id, m.organization_id, m.username_key FROM organization_members m
          WHERE ${among(sql, sql`m.organization_id`, ids)} AND m.listed) r`

    /** Of a place `r`. */
    const readablePlace = (readable: AccessPredicate): Fragment =>
      accessCondition(sql, readable, { id: "r.user_id", org: "r.organization_id", owner: "r.user_id" })

    return GroupMemberRepository.of({
      rosters: (ids, readable) =>
        all(
          entry,
          sql`SELECT ${userSelected}, r.group_id FROM ${placesIn(ids)} JOIN users u ON u.id = r.user_id
            WHERE ${readablePlace(readable)} ORDER BY r.username_key`
        ),
      roster: (group, readable) =>
        inPages((behind: RowOf<typeof place> | undefined) =>
          all(
            (from) => ({ row: user(from), place: place(from) }),
            sql`SELECT ${userSelected}, r.username_key FROM ${placesOf(group)} JOIN users u ON u.id = r.user_id
              WHERE ${readablePlace(readable)}
                ${behind === undefined ? sql`` : sql`AND (r.username_key, r.user_id) > (${behind.username_key}, ${behind.id})`}
              ORDER BY r.username_key, r.user_id LIMIT ${pageSize}`
          )
        ),
      rosterLength: (ids, readable, bound) =>
        Effect.map(
          one(
            counted,
            sql`SELECT count(*) AS count FROM (SELECT r.user_id FROM ${placesIn(ids)} WHERE ${readablePlace(readable)} LIMIT ${bound}) c`
          ),
          ({ count }) => count
        ),
      page: ({ after_id, filter, group, limit, offset, readable }) =>
        Effect.gen(function* () {
          const conditions = userConditions(sql, filter)
          const places = placesOf(group)
          // Without a filter a page is found, and what is before it passed over, in an index alone
          const from = conditions.length === 0 ? places : sql`${places} JOIN users u ON u.id = r.user_id`
          const visible = readablePlace(readable)
          const behind =
            after_id === undefined
              ? []
              : [sql`r.username_key > (SELECT r.username_key FROM ${places} WHERE r.user_id = ${after_id} AND ${visible})`]
          const users = yield* all(
            user,
            sql`SELECT ${userSelected} FROM (
                SELECT r.user_id, r.username_key FROM ${from} WHERE ${sql.and([visible, ...conditions, ...behind])}
                ORDER BY r.username_key ${limited(sql, { limit: rowsWanted(limit), offset })}
              ) p JOIN users u ON u.id = p.user_id ORDER BY p.username_key`
          )
          if (users.length === 0) return { users, count: 0 }
          const count =
            conditions.length === 0 && after_id === undefined
              ? sql`SELECT ${memberCount(sql, sql`${group.id}`)} AS count`
              : sql`SELECT count(*) AS count FROM ${from} WHERE ${sql.and([...conditions, ...behind])}`
          return { users, count: (yield* one(counted, count)).count }
        }),
      ids: (id, users) =>
        all(
          (from) => identified(from).id,
          sql`SELECT m.user_id AS id FROM group_members m
            WHERE m.group_id = ${id} AND ${users === undefined ? sql`TRUE` : among(sql, sql`m.user_id`, users)} ORDER BY m.user_id`
        ),
      lock: (organizationId, ids) =>
        ids.length === 0
          ? Effect.void
          : run(
              sql`SELECT u.id FROM organization_members m JOIN users u ON u.id = m.user_id
                WHERE m.organization_id = ${organizationId} AND ${among(sql, sql`m.user_id`, ids)} ORDER BY u.id ${forShareOfUser}`
            ),
      among: (organizationId, ids) =>
        ids.length === 0
          ? Effect.succeed([])
          : all(
              (from) => identified(from).id,
              sql`SELECT m.user_id AS id FROM organization_members m
                WHERE m.organization_id = ${organizationId} AND ${among(sql, sql`m.user_id`, ids)} ORDER BY m.user_id ${forKeyShare}`
            ),
      add: (id, userIds) =>
        runUnique(
          Effect.asVoid(
            insertAll(
              sql,
              "group_members",
              userIds.map((user_id) => ({ group_id: id, user_id }))
            )
          )
        ),
      remove: (id, userIds) =>
        userIds.length === 0
          ? Effect.void
          : run(sql`DELETE FROM group_members WHERE group_id = ${id} AND ${among(sql, sql`user_id`, userIds)}`)
    })
  })
)
