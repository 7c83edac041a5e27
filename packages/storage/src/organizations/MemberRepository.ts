import { SqlClient, type Statement } from "@effect/sql"
import type { LoginType, UserStatus } from "@atelier/core/identity"
import { type Member, MemberRepository } from "@atelier/core/organizations"
import { Effect, Layer } from "effect"
import { userConditions } from "../identity/UserDirectoryRepository.js"
import { accessCondition } from "../platform/AccessPredicate.js"
import { boolean, number, row, text, texts, timestamp, uuid } from "../platform/Row.js"
import { all, applied, first, one, run } from "../platform/Statement.js"

/** What a limit of 0 stands for. */
const maximumRows = 2_147_483_647

const member: (from: object) => Member = row({
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
})

const counted = row({ count: number })

export const layer = Layer.effect(
  MemberRepository,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const joined = sql`organization_members m JOIN users u ON u.id = m.user_id`
    const selected = sql`SELECT m.organization_id, m.user_id, m.created_at, m.updated_at, m.roles, u.username, u.name, u.avatar_url, u.email,
        u.rbac_roles, u.last_seen_at, u.status, u.login_type, u.is_service_account, u.created_at AS user_created_at,
        u.updated_at AS user_updated_at
      FROM ${joined}`
    /** Nobody deletes the user meanwhile. */
    const locked = sql.onDialectOrElse({ pg: () => sql`FOR SHARE`, orElse: () => sql`` })
    const without = (role: string): Statement.Fragment =>
      sql.onDialectOrElse({
        pg: () => sql`roles - CAST(${role} AS text)`,
        orElse: () => sql`(SELECT json_group_array(r.value) FROM json_each(roles) r WHERE r.value <> ${role})`
      })
    const has = (role: string): Statement.Fragment =>
      sql.onDialectOrElse({
        pg: () => sql`jsonb_exists(roles, ${role})`,
        orElse: () => sql`EXISTS (SELECT 1 FROM json_each(roles) r WHERE r.value = ${role})`
      })

    return MemberRepository.of({
      list: (organizationId, { github_user_id, include_system, user_id }, readable) =>
        all(
          member,
          sql`${selected} WHERE ${sql.and([
            sql`m.organization_id = ${organizationId}`,
            sql`NOT u.deleted`,
            accessCondition(sql, readable, { id: "m.user_id", org: "m.organization_id", owner: "m.user_id" }),
            ...(include_system === true ? [] : [sql`NOT u.is_system`]),
            ...(user_id === undefined ? [] : [sql`m.user_id = ${user_id}`]),
            ...(github_user_id === undefined ? [] : [sql`u.github_com_user_id = ${github_user_id}`, sql`u.github_com_user_id <> 0`])
          ])} ORDER BY m.username_key, m.user_id`
        ),
      page: ({ after_id, filter, limit, offset, organization_id }) =>
        Effect.gen(function* () {
          const matching = sql.and([
            sql`m.organization_id = ${organization_id}`,
            sql`NOT u.deleted`,
            sql`NOT u.is_system`,
            ...userConditions(sql, filter)
          ])
          const behind =
            after_id === undefined
              ? sql``
              : sql`AND m.username_key > (SELECT c.username_key FROM organization_members c
                  WHERE c.organization_id = ${organization_id} AND c.user_id = ${after_id})`
          const members = yield* all(
            member,
            sql`${selected} WHERE ${matching} ${behind}
              ORDER BY m.username_key LIMIT ${limit === 0 ? maximumRows : limit} OFFSET ${offset}`
          )
          if (members.length === 0) return { members, count: 0 }
          // A page that begins at the first and is not full holds all
          const isLast = limit === 0 || members.length < limit
          if (isLast && after_id === undefined) return { members, count: offset + members.length }
          return { members, count: (yield* one(counted, sql`SELECT count(*) AS count FROM ${joined} WHERE ${matching}`)).count }
        }),
      byId: (organizationId, userId) =>
        first(
          member,
          sql`${selected} WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId} AND NOT u.deleted AND NOT u.is_system`
        ),
      byUsername: (organizationId, username) =>
        first(
          member,
          sql`${selected} WHERE m.organization_id = ${organizationId} AND m.username_key = lower(${username}) AND NOT u.deleted AND NOT u.is_system`
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
