/** A role: permissions at four levels. authorization.md §1.1. */
import { type Grants, type Permission, toPermissions } from "../decisions/Permission.js"

/**
 * Where a permission counts: `site` everywhere; `user` on the subject's own objects that have no organization; `org` on every object
 * of the organization the role is held in; `member` on the subject's own objects in it.
 */
export type Level = "site" | "user" | "org" | "member"

export type Levels = { readonly [Each in Level]?: Grants }

export interface Role {
  readonly name: string
  readonly display_name: string
  /** Set for a custom role of an organization. */
  readonly organization_id?: string
  readonly allow: Levels
  readonly deny: Levels
}

/** A role's name and where it is held: without an organization it is a site role. */
export interface RoleName {
  readonly name: string
  readonly organizationId?: string | undefined
}

/** A role by its permission lists, as custom roles are stored and as the wire shows any role. */
export interface RolePermissions {
  readonly site_permissions: ReadonlyArray<Permission>
  readonly user_permissions: ReadonlyArray<Permission>
  readonly organization_permissions: ReadonlyArray<Permission>
  readonly organization_member_permissions: ReadonlyArray<Permission>
}

const levelOf = {
  site: "site_permissions",
  user: "user_permissions",
  org: "organization_permissions",
  member: "organization_member_permissions"
} as const

/** The permission lists of a role, denies after allows. */
export const permissionsOf = (role: Role): RolePermissions => {
  const at = (level: Level) => [...toPermissions(role.allow[level]), ...toPermissions(role.deny[level], true)]
  return {
    [levelOf.site]: at("site"),
    [levelOf.user]: at("user"),
    [levelOf.org]: at("org"),
    [levelOf.member]: at("member")
  }
}
