import type { Group } from "@atelier/core/groups"
import { LoginSyncRepository } from "@atelier/core/identity"
import { Effect } from "effect"
import { among } from "../../platform/Among.js"
import { insertAll, items } from "../../platform/Batch.js"
import { boolean, row, text, texts, timestamp, uuid } from "../../platform/Row.js"
import { all, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../../platform/Dialect.js"
import { Statements } from "../../platform/Statements.js"

const membership = row({
  organization_id: uuid,
  is_default: boolean,
  default_org_member_roles: texts,
  roles: texts,
  created_at: timestamp,
  updated_at: timestamp
})
const identified = row({ id: uuid })
const group = row({ id: uuid, organization_id: uuid, name: text() })

const placeOf = ({ name, organization_id }: Pick<Group, "organization_id" | "name">): string => `${organization_id}/${name}`

export const layer = service(
  LoginSyncRepository,
  Effect.map(Statements, (sql) => {
    const keyShare = locking(sql, "FOR KEY SHARE")
    // A transaction that ends a membership waits, and removes these places with it
    const keyShareOfBoth = locking(sql, "FOR KEY SHARE OF g, m")
    const idOf = (found: object) => identified(found).id

    return LoginSyncRepository.of({
      memberships: (userId) =>
        all(
          membership,
          sql`SELECT m.organization_id, o.is_default, o.default_org_member_roles, m.roles, m.created_at, m.updated_at
            FROM organization_members m JOIN organizations o ON o.id = m.organization_id
            WHERE m.user_id = ${userId} AND NOT o.deleted ORDER BY m.organization_id`
        ),
      lockOrganizations: (ids) =>
        ids.length === 0
          ? Effect.succeed([])
          : all(
              idOf,
              sql`SELECT o.id FROM organizations o WHERE ${among(sql, sql`o.id`, ids)} AND NOT o.deleted ORDER BY o.id ${keyShare}`
            ),
      join: (user_id, ids, at) =>
        run(
          insertAll(
            sql,
            "organization_members",
            ids.map((organization_id) => ({ organization_id, user_id, created_at: at, updated_at: at, roles: "[]" })),
            sql`ON CONFLICT DO NOTHING`
          )
        ),
      leave: (userId, ids) =>
        run(sql`DELETE FROM organization_members WHERE user_id = ${userId} AND ${among(sql, sql`organization_id`, ids)}`),
      updateRoles: (userId, organizationId, roles, at) =>
        run(
          sql`UPDATE organization_members SET roles = ${JSON.stringify(roles)}, updated_at = ${at}
            WHERE organization_id = ${organizationId} AND user_id = ${userId}`
        ),
      groupsOf: (userId, organizationIds) =>
        organizationIds.length === 0
          ? Effect.succeed([])
          : all(
              idOf,
              sql`SELECT g.id FROM group_members m JOIN groups g ON g.id = m.group_id
                WHERE m.user_id = ${userId} AND ${among(sql, sql`g.organization_id`, organizationIds)} ORDER BY g.id`
            ),
      findGroups: (sought) => {
        const wanted = sought.flatMap(({ ids, names, organization_id }) => [
          ...ids.map((id) => ({ organization_id, id })),
          ...names.map((name) => ({ organization_id, name }))
        ])
        if (wanted.length === 0) return Effect.succeed([])
        const uuidOf = (key: string) =>
          sql.dialect({
            postgres: () => sql`CAST(item.value ->> ${sql.literal(`'${key}'`)} AS uuid)`,
            sqlite: () => sql`(item.value ->> ${sql.literal(`'${key}'`)})`
          })
        return all(
          group,
          sql`SELECT g.id, g.organization_id, g.name FROM ${items(sql, wanted)}
              JOIN groups g ON g.id = ${uuidOf("id")} AND g.organization_id = ${uuidOf("organization_id")}
            WHERE g.id <> g.organization_id
            UNION
            SELECT g.id, g.organization_id, g.name FROM ${items(sql, wanted)}
              JOIN groups g ON g.organization_id = ${uuidOf("organization_id")} AND g.name = (item.value ->> 'name')
            WHERE g.id <> g.organization_id
            ORDER BY 1`
        )
      },
      createGroups: (groups) =>
        run(
          insertAll(
            sql,
            "groups",
            // All in one order: none of those who make the same ones at once waits for one that waits for it
            groups.toSorted((left, right) => (placeOf(left) < placeOf(right) ? -1 : 1)).map((each) => ({ ...each })),
            sql`ON CONFLICT DO NOTHING`
          )
        ),
      enter: (userId, ids) =>
        ids.length === 0
          ? Effect.void
          : run(
              sql`INSERT INTO group_members (group_id, user_id)
                SELECT g.id, m.user_id FROM groups g
                  JOIN organization_members m ON m.organization_id = g.organization_id AND m.user_id = ${userId}
                WHERE ${among(sql, sql`g.id`, ids)} ORDER BY g.id ${keyShareOfBoth} ON CONFLICT DO NOTHING`
            ),
      exit: (userId, ids) =>
        ids.length === 0 ? Effect.void : run(sql`DELETE FROM group_members WHERE user_id = ${userId} AND ${among(sql, sql`group_id`, ids)}`)
    })
  })
)
