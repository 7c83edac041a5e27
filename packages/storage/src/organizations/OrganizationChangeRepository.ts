import { OrganizationChangeRepository } from "@atelier/core/organizations"
import { Effect } from "effect"
import { takeFromAcls } from "../groups/AclEntries.js"
import { dialectOf, locking } from "../platform/Dialect.js"
import { number, row } from "../platform/Row.js"
import { applied, first, one, run, runUnique } from "../platform/Statement.js"
import { organization, organizationColumns } from "./OrganizationRepository.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../platform/Statements.js"

/** Tables whose rows belong to one organization; groups before members, since a deleted member would leave its groups one by one. */
const tables = [
  "groups",
  "organization_members",
  "custom_roles",
  "idp_sync_settings",
  "provisioner_daemons",
  "provisioner_keys",
  "workspace_counts"
]

const contents = row({ workspaces: number, templates: number, members: number, groups: number })

export const layer = service(
  OrganizationChangeRepository,
  Effect.gen(function* () {
    const sql = yield* Statements
    const { boolean: bool } = dialectOf(sql)
    const columns = sql.literal(organizationColumns)
    return OrganizationChangeRepository.of({
      lock: (id) =>
        first(
          organization,
          sql`SELECT ${columns} FROM organizations WHERE id = ${id} AND NOT deleted ${locking(sql, "FOR NO KEY UPDATE")}`
        ),
      lockForDeletion: (id) =>
        first(organization, sql`SELECT ${columns} FROM organizations WHERE id = ${id} AND NOT deleted ${locking(sql, "FOR UPDATE")}`),
      lockShared: (id) => applied(sql`SELECT id FROM organizations WHERE id = ${id} AND NOT deleted ${locking(sql, "FOR KEY SHARE")}`),
      update: ({ default_org_member_roles, description, display_name, icon, id, name, shareable_workspace_owners, updated_at }) =>
        runUnique(
          Effect.asVoid(
            sql`UPDATE organizations SET name = ${name}, display_name = ${display_name}, description = ${description}, icon = ${icon},
                default_org_member_roles = ${JSON.stringify(default_org_member_roles)},
                shareable_workspace_owners = ${shareable_workspace_owners}, updated_at = ${updated_at}
              WHERE id = ${id}`
          )
        ),
      endSharing: (id, { ofServiceAccounts }) =>
        run(
          sql`UPDATE workspaces SET user_acl = '{}', group_acl = '{}'
            WHERE organization_id = ${id} AND NOT deleted AND is_shared = TRUE ${
              ofServiceAccounts
                ? sql``
                : sql`AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = workspaces.owner_id AND u.is_service_account)`
            }`
        ),
      contents: (id) =>
        one(
          contents,
          sql`SELECT
            (SELECT CAST(coalesce(sum(c.count), 0) AS integer) FROM workspace_counts c WHERE c.organization_id = ${id}) AS workspaces,
            (SELECT CAST(count(*) AS integer) FROM templates t WHERE t.organization_id = ${id} AND NOT t.deleted) AS templates,
            (SELECT CAST(count(*) AS integer) FROM organization_members m JOIN users u ON u.id = m.user_id
              WHERE m.organization_id = ${id} AND NOT u.deleted) AS members,
            (SELECT CAST(count(*) AS integer) FROM groups g WHERE g.organization_id = ${id} AND g.id <> g.organization_id) AS groups`
        ),
      delete: (id, at) =>
        Effect.gen(function* () {
          yield* run(sql`UPDATE organizations SET deleted = ${bool(true)}, updated_at = ${at} WHERE id = ${id}`)
          // The lock keeps Everyone out of new ACL entries
          yield* run(sql`SELECT id FROM groups WHERE organization_id = ${id} ${locking(sql, "FOR UPDATE")}`)
          yield* takeFromAcls(sql, "group_acl", id)
          yield* Effect.forEach(tables, (table) => run(sql`DELETE FROM ${sql(table)} WHERE organization_id = ${id}`), { discard: true })
          // Members that left concurrently were counted after the deletion of Everyone
          yield* run(sql`DELETE FROM group_counts WHERE group_id = ${id}`)
        })
    })
  })
)
