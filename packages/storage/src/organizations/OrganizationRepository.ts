import { OrganizationRepository, type ShareMode } from "@atelier/core/organizations"
import { Effect } from "effect"
import { accessCondition } from "../platform/AccessPredicate.js"
import { dialectOf } from "../platform/Dialect.js"
import { boolean, row, text, texts, timestamp, uuid } from "../platform/Row.js"
import { all, first, run, runUnique } from "../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

/** An organization as statements answer it that select `organizationColumns`. */
export const organization = row({
  id: uuid,
  name: text(),
  display_name: text(),
  description: text(),
  icon: text(),
  created_at: timestamp,
  updated_at: timestamp,
  is_default: boolean,
  deleted: boolean,
  default_org_member_roles: texts,
  shareable_workspace_owners: text<ShareMode>()
})

/** The columns of every statement that returns whole organizations. */
export const organizationColumns =
  "id, name, display_name, description, icon, created_at, updated_at, is_default, deleted, default_org_member_roles, shareable_workspace_owners"

export const layer = service(
  OrganizationRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)

    const columns = sql.literal(organizationColumns)

    return OrganizationRepository.of({
      byId: (id) => first(organization, sql`SELECT ${columns} FROM organizations WHERE id = ${id}`),
      byName: (name) => first(organization, sql`SELECT ${columns} FROM organizations WHERE lower(name) = lower(${name}) AND NOT deleted`),
      default: first(organization, sql`SELECT ${columns} FROM organizations WHERE is_default`),
      list: (readable) =>
        all(
          organization,
          sql`SELECT ${columns} FROM organizations
            WHERE NOT deleted AND ${accessCondition(sql, readable, { id: "id", org: "id" })}
            ORDER BY lower(name)`
        ),
      ofMember: (userId, readable) =>
        all(
          organization,
          sql`SELECT ${columns} FROM organizations
            WHERE id IN (SELECT m.organization_id FROM organization_members m WHERE m.user_id = ${userId})
              AND NOT deleted AND ${accessCondition(sql, readable, { id: "id", org: "id" })}
            ORDER BY lower(name)`
        ),
      insert: (value) =>
        runUnique(
          Effect.zipRight(
            sql`INSERT INTO organizations ${sql.insert({
              ...value,
              is_default: bool(value.is_default),
              deleted: bool(value.deleted),
              default_org_member_roles: JSON.stringify(value.default_org_member_roles)
            })}`,
            sql`INSERT INTO groups ${sql.insert({
              id: value.id,
              organization_id: value.id,
              name: "Everyone",
              display_name: "",
              avatar_url: "",
              quota_allowance: 0,
              source: "user"
            })}`
          ).pipe(Effect.asVoid)
        ),
      addMember: (member) =>
        run(
          sql`INSERT INTO organization_members ${sql.insert({
            organization_id: member.organization_id,
            user_id: member.user_id,
            created_at: member.created_at,
            updated_at: member.created_at,
            roles: JSON.stringify(member.roles)
          })} ON CONFLICT DO NOTHING`
        )
    })
  })
)
