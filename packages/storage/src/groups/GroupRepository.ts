import { AccessPredicate } from "@atelier/core/access"
import { type GroupFilter, GroupRepository, type GroupSource } from "@atelier/core/groups"
import { Effect } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { among } from "../platform/Among.js"
import { contains } from "../platform/Contains.js"
import { limited, rowsWanted } from "../platform/Limit.js"
import { number, row, text, uuid } from "../platform/Row.js"
import { all, applied, first, one, run, runUnique } from "../platform/Statement.js"
import { memberCount } from "./MemberCount.js"
import { takeFromAcls } from "./AclEntries.js"
import { service } from "@atelier/core/platform"
import { locking } from "../platform/Dialect.js"
import { type Fragment, Statements } from "../platform/Statements.js"

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
const counted = row({ count: number })

export const layer = service(
  GroupRepository,
  Effect.map(Statements, (sql) => {
    const listed = (names: object) =>
      sql.literal(
        Object.keys(names)
          .map((name) => `g.${name}`)
          .join(", ")
      )
    const selected = listed(columns)
    // Leaves rows that refer to the row free to come and go
    const forUpdate = locking(sql, "FOR NO KEY UPDATE")
    const forDeletion = locking(sql, "FOR UPDATE")

    const groups = sql`SELECT ${selected}, o.name AS organization_name, o.display_name AS organization_display_name,
        ${memberCount(sql, sql`g.id`)} AS total_member_count
      FROM groups g JOIN organizations o ON o.id = g.organization_id AND NOT o.deleted`

    /** A group's own members may read it: the ACL of `AccessObjects.group`. */
    const readableGroup = (readable: AccessPredicate): Fragment =>
      accessCondition(sql, readable, {
        id: "g.id",
        org: "g.organization_id",
        groupAcl: sql.dialect({
          postgres: () => `jsonb_build_object(CAST(g.id AS text), jsonb_build_array('read'))`,
          sqlite: () => `json_object(g.id, json_array('read'))`
        })
      })

    const conditions = ({ has_member, ids, name, organization_id }: GroupFilter): ReadonlyArray<Fragment> => {
      const when = <A>(value: A | undefined, condition: (value: A) => Fragment) => (value === undefined ? [] : [condition(value)])
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
              ORDER BY lower(g.name), g.id ${limited(sql, { limit: rowsWanted(limit), offset })}`
          )
          if (found.length === 0) return { count: 0, groups: found }
          const { count } = yield* one(counted, sql`SELECT count(*) AS count FROM groups g WHERE ${sql.and([matching, ...behind])}`)
          return { count, groups: found }
        }),
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
      delete: (id) => Effect.zipRight(takeFromAcls(sql, "group_acl", id), run(sql`DELETE FROM groups WHERE id = ${id}`))
    })
  })
)
