import type { LoginType, UserStatus } from "@atelier/core/identity"
import { type Member, MemberRepository } from "@atelier/core/organizations"
import { Effect } from "effect"
import { userConditions } from "../identity/users/UserDirectoryRepository.js"
import { memberCount } from "../groups/MemberCount.js"
import { accessCondition } from "../platform/AccessPredicate.js"
import { limited, rowsWanted } from "../platform/Limit.js"
import { inPages, pageSize } from "../platform/Pages.js"
import { boolean, number, row, type RowOf, text, texts, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, one, run } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../platform/Dialect.js"
import { type Fragment, Statements } from "../platform/Statements.js"

const columns = {
  organization_id: uuid,
  user_id: uuid,
  created_at: timestamp,
  updated_at: timestamp,
  roles: texts,
  username: text(),
  name: text(),
  avatar_url: text(),
  email: text(),
  rbac_roles: texts,
  last_seen_at: timestamp,
  status: text<UserStatus>(),
  login_type: text<LoginType>(),
  is_service_account: boolean,
  user_created_at: timestamp,
  user_updated_at: timestamp
}

const member: (from: object) => Member = row(columns)
const place = row({ username_key: text(), user_id: uuid })
const counted = row({ count: number })

export const layer = service(
  MemberRepository,
  Effect.map(Statements, (sql) => {
    const joined = sql`organization_members m JOIN users u ON u.id = m.user_id`
    const selected = sql`SELECT m.organization_id, m.user_id, m.created_at, m.updated_at, m.roles, u.username, u.name, u.avatar_url, u.email,
        u.rbac_roles, u.last_seen_at, u.status, u.login_type, u.is_service_account, u.created_at AS user_created_at,
        u.updated_at AS user_updated_at, m.username_key`
    /** The lock keeps the user from being deleted. */
    const locked = locking(sql, "FOR SHARE")
    const without = (role: string): Fragment =>
      sql.dialect({
        postgres: () => sql`roles - CAST(${role} AS text)`,
        sqlite: () => sql`(SELECT json_group_array(r.value) FROM json_each(roles) r WHERE r.value <> ${role})`
      })
    const has = (role: string): Fragment =>
      sql.dialect({
        postgres: () => sql`jsonb_exists(roles, ${role})`,
        sqlite: () => sql`EXISTS (SELECT 1 FROM json_each(roles) r WHERE r.value = ${role})`
      })

    return MemberRepository.of({
      list: (organizationId, { github_user_id, include_system, user_id }, readable) => {
        const matching = sql.and([
          sql`m.organization_id = ${organizationId}`,
          include_system === true ? sql`NOT u.deleted` : sql`m.listed`,
          accessCondition(sql, readable, { id: "m.user_id", org: "m.organization_id", owner: "m.user_id" }),
          ...(user_id === undefined ? [] : [sql`m.user_id = ${user_id}`]),
          ...(github_user_id === undefined ? [] : [sql`u.github_com_user_id = ${github_user_id}`])
        ])
        return inPages((behind: RowOf<typeof place> | undefined) =>
          all(
            (from) => ({ row: member(from), place: place(from) }),
            sql`${selected} FROM ${joined} WHERE ${matching}
              ${behind === undefined ? sql`` : sql`AND (m.username_key, m.user_id) > (${behind.username_key}, ${behind.user_id})`}
              ORDER BY m.username_key, m.user_id LIMIT ${pageSize}`
          )
        )
      },
      page: ({ after_id, filter, limit, offset, organization_id }) =>
        Effect.gen(function* () {
          const conditions = userConditions(sql, filter)
          // Without a filter a page is found, and what is before it passed over, in an index alone
          const from = conditions.length === 0 ? sql`organization_members m` : joined
          const matching = sql.and([sql`m.organization_id = ${organization_id}`, sql`m.listed`, ...conditions])
          const behind =
            after_id === undefined
              ? []
              : [
                  sql`m.username_key > (SELECT c.username_key FROM organization_members c
                    WHERE c.organization_id = ${organization_id} AND c.user_id = ${after_id})`
                ]
          const members = yield* all(
            member,
            sql`${selected} FROM (
                SELECT m.user_id, m.username_key FROM ${from} WHERE ${sql.and([matching, ...behind])}
                ORDER BY m.username_key ${limited(sql, { limit: rowsWanted(limit), offset })}
              ) p JOIN organization_members m ON m.organization_id = ${organization_id} AND m.user_id = p.user_id
                JOIN users u ON u.id = p.user_id ORDER BY p.username_key`
          )
          if (members.length === 0) return { members, count: 0 }
          // A page that is not full ends the list
          if (limit === 0 || members.length < limit) return { members, count: offset + members.length }
          const count =
            conditions.length === 0 && after_id === undefined
              ? sql`SELECT ${memberCount(sql, sql`${organization_id}`)} AS count`
              : sql`SELECT count(*) AS count FROM ${from} WHERE ${sql.and([matching, ...behind])}`
          return { members, count: (yield* one(counted, count)).count }
        }),
      byId: (organizationId, userId) =>
        first(member, sql`${selected} FROM ${joined} WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId} AND m.listed`),
      byUsername: (organizationId, username) =>
        first(
          member,
          sql`${selected} FROM ${joined}
            WHERE m.organization_id = ${organizationId} AND m.username_key = lower(${username}) AND m.listed`
        ),
      insert: ({ created_at, organization_id, roles, updated_at, user_id }) =>
        applied(
          sql`INSERT INTO organization_members (organization_id, user_id, created_at, updated_at, roles)
            SELECT ${sql.csv([organization_id, user_id, created_at, updated_at, JSON.stringify(roles)].map((value) => sql`${value}`))}
            FROM users WHERE id = ${user_id} AND NOT deleted ${locked}
            ON CONFLICT DO NOTHING RETURNING user_id`
        ),
      delete: (organizationId, userId) =>
        applied(sql`DELETE FROM organization_members WHERE organization_id = ${organizationId} AND user_id = ${userId} RETURNING user_id`),
      updateRoles: ({ organization_id, roles, updated_at, user_id }) =>
        applied(
          sql`UPDATE organization_members SET roles = ${JSON.stringify(roles)}, updated_at = ${updated_at}
            WHERE organization_id = ${organization_id} AND user_id = ${user_id} RETURNING user_id`
        ),
      withdrawRole: (organizationId, role, at) =>
        run(
          sql`UPDATE organization_members SET roles = ${without(role)}, updated_at = ${at}
            WHERE organization_id = ${organizationId} AND roles <> '[]' AND ${has(role)}`
        )
    })
  })
)
