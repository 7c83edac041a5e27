/** The data that decide a user's rights, as one column of a statement about something of that user's. */
import { roleOf, type SubjectInput, validGrants } from "@atelier/core/access"
import { ShareMode } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { json } from "../platform/Row.js"
import type { Fragment, Statements } from "../platform/Statements.js"

const Rights = Schema.Struct({
  user_id: Uuid.Uuid,
  is_service_account: Schema.Boolean,
  site_roles: Schema.Array(Schema.String),
  memberships: Schema.Array(
    Schema.Struct({
      organization_id: Schema.String,
      roles: Schema.Array(Schema.String),
      default_roles: Schema.Array(Schema.String),
      share_mode: ShareMode
    })
  ),
  custom_roles: Schema.Array(
    Schema.Struct({
      organization_id: Uuid.Uuid,
      name: Schema.String,
      display_name: Schema.String,
      permissions: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) })
    })
  ),
  group_ids: Schema.Array(Schema.String)
})

/**
 * The column `rights`, of the user whose row has the alias `u`: a JSON text, equal for two users' rows exactly when `readRights` answers
 * the same. Most requests come with rights that an earlier one came with, so it is one text to compare.
 */
export const selectRights = (sql: Statements): Fragment =>
  sql.dialect({
    postgres: () =>
      sql`json_build_object('user_id', u.id, 'is_service_account', u.is_service_account, 'site_roles', u.rbac_roles,
          'memberships', (SELECT coalesce(json_agg(json_build_object('organization_id', m.organization_id, 'roles', m.roles,
              'default_roles', o.default_org_member_roles, 'share_mode', o.shareable_workspace_owners) ORDER BY m.organization_id), '[]')
            FROM organization_members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = u.id AND NOT o.deleted),
          'custom_roles', (SELECT coalesce(json_agg(json_build_object('organization_id', c.organization_id, 'name', c.name,
              'display_name', c.display_name, 'permissions', c.permissions) ORDER BY c.id), '[]')
            FROM organization_members m CROSS JOIN LATERAL jsonb_array_elements_text(m.roles) AS r (name)
              JOIN custom_roles c ON c.organization_id = m.organization_id AND c.name = r.name WHERE m.user_id = u.id),
          'group_ids', (SELECT coalesce(json_agg(g.group_id ORDER BY g.group_id), '[]') FROM group_members g WHERE g.user_id = u.id)
        ) AS rights`,
    sqlite: () =>
      sql`json_object('user_id', u.id, 'is_service_account', json(CASE WHEN u.is_service_account THEN 'true' ELSE 'false' END),
          'site_roles', json(u.rbac_roles),
          'memberships', json((SELECT json_group_array(json_object('organization_id', m.organization_id, 'roles', json(m.roles),
              'default_roles', json(o.default_org_member_roles), 'share_mode', o.shareable_workspace_owners))
            FROM organization_members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = u.id AND NOT o.deleted)),
          'custom_roles', json((SELECT json_group_array(json_object('organization_id', c.organization_id, 'name', c.name,
              'display_name', c.display_name, 'permissions', json(c.permissions)))
            FROM organization_members m CROSS JOIN json_each(m.roles)
              CROSS JOIN custom_roles c ON c.organization_id = m.organization_id AND c.name = json_each.value WHERE m.user_id = u.id)),
          'group_ids', json((SELECT json_group_array(g.group_id) FROM group_members g WHERE g.user_id = u.id))
        ) AS rights`
  })

const { read } = json(Rights)

/** Reads the column. */
export const readRights = (rights: string): Omit<SubjectInput, "scopes" | "allowList" | "options"> & { readonly userId: Uuid.Uuid } => {
  const { custom_roles, group_ids, is_service_account, memberships, site_roles, user_id } = read(rights)
  return {
    userId: user_id,
    siteRoles: site_roles,
    memberships: memberships.map(({ default_roles, organization_id, roles, share_mode }) => ({
      organizationId: organization_id,
      roles,
      defaultMemberRoles: default_roles,
      shareMode: share_mode,
      isServiceAccount: is_service_account
    })),
    groupIds: group_ids,
    customRoles: custom_roles.map((role) => roleOf({ ...role, permissions: validGrants(role.permissions) }))
  }
}
