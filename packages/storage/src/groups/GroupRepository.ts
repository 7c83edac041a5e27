import { SqlClient, type Statement } from "@effect/sql"
import { AccessPredicate } from "@atelier/core/access"
import { type Group, type GroupFilter, type GroupId, GroupRepository, type GroupSource, isEveryone } from "@atelier/core/groups"
import { Effect, Layer } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { among } from "../platform/Among.js"
import { insertAll } from "../platform/Batch.js"
import { contains } from "../platform/Contains.js"
import { inPages, pageSize } from "../platform/Pages.js"
import { number, row, type RowOf, text, uuid } from "../platform/Row.js"
import { all, applied, first, one, run, runUnique } from "../platform/Statement.js"
import { memberCount } from "./MemberCount.js"
import { userConditions } from "../identity/UserDirectoryRepository.js"
import { userColumns } from "../identity/UserRepository.js"
import { takeFromAcls } from "./AclEntries.js"

/** The value of a limit of 0. */
const maximumRows = 2_147_483_647

const columns = {
  id: uuid,
  organization_id: uuid,
  name: text(),
  display_name: text(),
  avatar_url: text(),
  quota_allowance: number,
  source: text<GroupSource>()
}

const stored = row(columns)
const named = row({ ...columns, organization_name: text(), organization_display_name: text(), total_member_count: number })
const user = row(userColumns)
const place = row({ username_key: text(), id: uuid })
const entry = row({ ...userColumns, group_id: uuid })
const identified = row({ id: uuid })
const counted = row({ count: number })

export const layer = Layer.effect(
  GroupRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const listed = (names: object) =>
      sql.literal(
        Object.keys(names)
          .map((name) => `g.${name}`)
          .join(", ")
      )
    const selected = listed(columns)
    const userSelected = sql.literal(
      Object.keys(userColumns)
        .map((name) => `u.${name}`)
        .join(", ")
    )
    // Leaves rows that refer to the row free to come and go
    const forUpdate = sql.onDialectOrElse({ pg: () => sql`FOR NO KEY UPDATE`, orElse: () => sql`` })
    const forShareOfUser = sql.onDialectOrElse({ pg: () => sql`FOR SHARE OF u`, orElse: () => sql`` })
    const forKeyShare = sql.onDialectOrElse({ pg: () => sql`FOR KEY SHARE`, orElse: () => sql`` })
    const forDeletion = sql.onDialectOrElse({ pg: () => sql`FOR UPDATE`, orElse: () => sql`` })

    const groups = sql`SELECT ${selected}, o.name AS organization_name, o.display_name AS organization_display_name,
        ${memberCount(sql, sql`g.id`)} AS total_member_count
      FROM groups g JOIN organizations o ON o.id = g.organization_id AND NOT o.deleted`

    /** A group's own members may read it: the ACL of `AccessObjects.group`. */
    const readableGroup = (readable: AccessPredicate): Statement.Fragment =>
      accessCondition(sql, readable, {
        id: "g.id",
        org: "g.organization_id",
        groupAcl: sql.onDialectOrElse({
          pg: () => `jsonb_build_object(CAST(g.id AS text), jsonb_build_array('read'))`,
          orElse: () => `json_object(g.id, json_array('read'))`
        })
      })

    /** The places `r` of users in a group, in the order of an index. */
    const placesOf = (group: Pick<Group, "id" | "organization_id">): Statement.Fragment =>
      isEveryone(group)
        ? sql`(SELECT m.user_id, m.organization_id, m.username_key FROM organization_members m
            WHERE m.organization_id = ${group.id} AND m.listed) r`
        : sql`(SELECT m.user_id, g.organization_id, m.username_key FROM group_members m JOIN groups g ON g.id = m.group_id
            WHERE m.group_id = ${group.id} AND m.listed) r`

    /** The places `r` of users in groups. */
    const placesIn = (ids: ReadonlyArray<GroupId>): Statement.Fragment =>
      sql`(SELECT m.group_id, m.user_id, g.organization_id, m.username_key FROM group_members m JOIN groups g ON g.id = m.group_id
          WHERE ${among(sql, sql`m.group_id`, ids)} AND m.listed
        UNION ALL SELECT m.organization_id, m.user_id, m.organization_id, m.username_key FROM organization_members m
          WHERE ${among(sql, sql`m.organization_id`, ids)} AND m.listed) r`

    /** Of a place `r`. */
    const readablePlace = (readable: AccessPredicate): Statement.Fragment =>
      accessCondition(sql, readable, { id: "r.user_id", org: "r.organization_id", owner: "r.user_id" })

    const conditions = ({ has_member, ids, name, organization_id }: GroupFilter): ReadonlyArray<Statement.Fragment> => {
      const when = <A>(value: A | undefined, condition: (value: A) => Statement.Fragment) => (value === undefined ? [] : [condition(value)])
      return [
        ...when(organization_id, (id) => sql`g.organization_id = ${id}`),
        ...when(ids, (ids) => among(sql, sql`g.id`, ids)),
        ...when(name, (name) => sql`lower(g.name) = lower(${name})`),
        ...when(
          has_member,
          (id) => sql`g.id IN (SELECT m.group_id FROM group_members m WHERE m.user_id = ${id}
            UNION ALL SELECT m.organization_id FROM organization_members m WHERE m.user_id = ${id})`
        )
      ]
    }

    return GroupRepository.of({
      byId: (id) => first(named, sql`${groups} WHERE g.id = ${id}`),
      find: (id) =>
        first(
          stored,
          sql`SELECT ${selected} FROM groups g JOIN organizations o ON o.id = g.organization_id AND NOT o.deleted WHERE g.id = ${id}`
        ),
      byName: (organizationId, name) =>
        first(
          named,
          sql`${groups} WHERE g.organization_id = ${organizationId} AND lower(g.name) = lower(${name})
            ORDER BY CASE WHEN g.name = ${name} THEN 0 ELSE 1 END, g.id LIMIT 1`
        ),
      list: (filter, readable) =>
        all(
          named,
          sql`${groups} WHERE ${sql.and([readableGroup(readable), ...conditions(filter)])} ORDER BY g.organization_id, lower(g.name), g.id`
        ),
      page: ({ after_id, limit, offset, organization_id, search }) =>
        Effect.gen(function* () {
          const holds = (column: string, part: string) => contains(sql, sql.literal(`lower(g.${column})`), part)
          const matching = sql.and([
            sql`g.organization_id = ${organization_id}`,
            ...(search === undefined ? [] : [sql.or([holds("name", search), holds("display_name", search)])])
          ])
          const behind =
            after_id === undefined
              ? []
              : [
                  sql`(lower(g.name), g.id) > (SELECT lower(c.name), c.id FROM groups c
                    WHERE c.id = ${after_id} AND c.organization_id = ${organization_id})`
                ]
          const found = yield* all(
            named,
            sql`${groups} WHERE ${sql.and([matching, ...behind])}
              ORDER BY lower(g.name), g.id LIMIT ${limit === 0 ? maximumRows : limit} OFFSET ${offset}`
          )
          if (found.length === 0) return { count: 0, groups: found }
          const { count } = yield* one(counted, sql`SELECT count(*) AS count FROM groups g WHERE ${sql.and([matching, ...behind])}`)
          return { count, groups: found }
        }),
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
      members: ({ after_id, filter, group, limit, offset, readable }) =>
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
                ORDER BY r.username_key LIMIT ${limit === 0 ? maximumRows : limit} OFFSET ${offset}
              ) p JOIN users u ON u.id = p.user_id ORDER BY p.username_key`
          )
          if (users.length === 0) return { users, count: 0 }
          const count =
            conditions.length === 0 && after_id === undefined
              ? sql`SELECT ${memberCount(sql, sql`${group.id}`)} AS count`
              : sql`SELECT count(*) AS count FROM ${from} WHERE ${sql.and([...conditions, ...behind])}`
          return { users, count: (yield* one(counted, count)).count }
        }),
      memberIds: (id, users) =>
        all(
          (from) => identified(from).id,
          sql`SELECT m.user_id AS id FROM group_members m
            WHERE m.group_id = ${id} AND ${users === undefined ? sql`TRUE` : among(sql, sql`m.user_id`, users)} ORDER BY m.user_id`
        ),
      lockMembers: (organizationId, ids) =>
        ids.length === 0
          ? Effect.void
          : run(
              sql`SELECT u.id FROM organization_members m JOIN users u ON u.id = m.user_id
                WHERE m.organization_id = ${organizationId} AND ${among(sql, sql`m.user_id`, ids)} ORDER BY u.id ${forShareOfUser}`
            ),
      lockOrganization: (id) => applied(sql`SELECT id FROM organizations WHERE id = ${id} AND NOT deleted ${forUpdate}`),
      lock: (id) => first(stored, sql`SELECT ${selected} FROM groups g WHERE g.id = ${id} ${forUpdate}`),
      lockForDeletion: (id) => first(stored, sql`SELECT ${selected} FROM groups g WHERE g.id = ${id} ${forDeletion}`),
      insert: (group) => runUnique(Effect.asVoid(sql`INSERT INTO groups ${sql.insert({ ...group })}`)),
      update: ({ avatar_url, display_name, id, name, quota_allowance }) =>
        runUnique(
          Effect.asVoid(
            sql`UPDATE groups SET name = ${name}, display_name = ${display_name}, avatar_url = ${avatar_url},
              quota_allowance = ${quota_allowance} WHERE id = ${id}`
          )
        ),
      delete: (id) => Effect.zipRight(takeFromAcls(sql, "group_acl", id), run(sql`DELETE FROM groups WHERE id = ${id}`)),
      membersAmong: (organizationId, ids) =>
        ids.length === 0
          ? Effect.succeed([])
          : all(
              (from) => identified(from).id,
              sql`SELECT m.user_id AS id FROM organization_members m
                WHERE m.organization_id = ${organizationId} AND ${among(sql, sql`m.user_id`, ids)} ORDER BY m.user_id ${forKeyShare}`
            ),
      addMembers: (id, userIds) =>
        runUnique(
          Effect.asVoid(
            insertAll(
              sql,
              "group_members",
              userIds.map((user_id) => ({ group_id: id, user_id }))
            )
          )
        ),
      removeMembers: (id, userIds) =>
        userIds.length === 0
          ? Effect.void
          : run(sql`DELETE FROM group_members WHERE group_id = ${id} AND ${among(sql, sql`user_id`, userIds)}`)
    })
  })
)
