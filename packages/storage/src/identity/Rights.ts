/** What decides a user's rights, as columns of a statement about something of that user's. */
import type { SqlClient, Statement } from "@effect/sql"
import type { SubjectInput } from "@atelier/core/access"
import { ShareMode } from "@atelier/core/organizations"
import type { Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { boolean, json, text, texts, uuids } from "../platform/Row.js"

/** JSON stays text: it is read when the rights are new. */
export const rightsColumns = {
  is_service_account: boolean,
  site_roles: text(),
  memberships: text(),
  group_ids: text()
}

export interface RightsRow {
  readonly is_service_account: boolean
  readonly site_roles: string
  readonly memberships: string
  readonly group_ids: string
}

/** The columns above, of the user whose row has the alias `u`. */
export const selectRights = (sql: SqlClient.SqlClient): Statement.Fragment => {
  const memberships = sql.onDialectOrElse({
    pg: () =>
      sql`(SELECT coalesce(json_agg(json_build_object('organization_id', m.organization_id, 'roles', m.roles,
            'default_roles', o.default_org_member_roles, 'share_mode', o.shareable_workspace_owners) ORDER BY m.organization_id), '[]')
          FROM organization_members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = u.id AND NOT o.deleted)`,
    orElse: () =>
      sql`(SELECT json_group_array(json_object('organization_id', m.organization_id, 'roles', json(m.roles),
            'default_roles', json(o.default_org_member_roles), 'share_mode', o.shareable_workspace_owners))
          FROM organization_members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = u.id AND NOT o.deleted)`
  })
  const groupIds = sql.onDialectOrElse({
    pg: () => sql`(SELECT coalesce(json_agg(g.group_id ORDER BY g.group_id), '[]') FROM group_members g WHERE g.user_id = u.id)`,
    orElse: () => sql`(SELECT json_group_array(g.group_id) FROM group_members g WHERE g.user_id = u.id)`
  })
  return sql`u.is_service_account, u.rbac_roles AS site_roles, ${memberships} AS memberships, ${groupIds} AS group_ids`
}

const readMemberships = json(
  Schema.Array(
    Schema.Struct({
      organization_id: Schema.String,
      roles: Schema.Array(Schema.String),
      default_roles: Schema.Array(Schema.String),
      share_mode: ShareMode
    })
  )
).read

/** Equal for two rows exactly when `readRights` answers the same: each part is an id, a boolean or a whole JSON text, so it is clear where it ends. */
export const rightsFingerprint = (userId: Uuid.Uuid, row: RightsRow): string =>
  [userId, row.is_service_account, row.site_roles, row.memberships, row.group_ids].join("\n")

export const readRights = (
  userId: Uuid.Uuid,
  row: RightsRow
): Omit<SubjectInput, "scopes" | "allowList" | "options"> & { readonly userId: Uuid.Uuid } => ({
  userId,
  siteRoles: texts.read(row.site_roles),
  memberships: readMemberships(row.memberships).map(({ default_roles, organization_id, roles, share_mode }) => ({
    organizationId: organization_id,
    roles,
    defaultMemberRoles: default_roles,
    shareMode: share_mode,
    isServiceAccount: row.is_service_account
  })),
  groupIds: uuids.read(row.group_ids)
})
