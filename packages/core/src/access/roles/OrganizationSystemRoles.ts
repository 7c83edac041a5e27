/** The two roles that members of an organization hold by being members. They follow from its sharing mode. authorization.md §2.3. */
import { Schema } from "effect"
import type { Grants } from "../decisions/Permission.js"
import { resourceActions } from "../Resource.js"
import type { Levels, Role } from "./Role.js"

/** The owners whose workspaces may be shared in an organization. */
export const ShareableWorkspaceOwners = Schema.Literal("none", "everyone", "service_accounts")
export type ShareableWorkspaceOwners = typeof ShareableWorkspaceOwners.Type

export const organizationMember = "organization-member"
export const organizationServiceAccount = "organization-service-account"
export type OrganizationSystemRole = typeof organizationMember | typeof organizationServiceAccount

/** The names that are never listed, never given and never stored with a member. */
export const organizationSystemRoles: ReadonlyArray<OrganizationSystemRole> = [organizationMember, organizationServiceAccount]

const organizationWide: Grants = { assign_org_role: ["read"], organization: ["read"], provisioner_daemon: ["read"] }
const seesMembers: Grants = { ...organizationWide, organization_member: ["read"] }
const seesMembersAndGroups: Grants = { ...seesMembers, group: ["read"] }

const own: Grants = {
  aibridge_interception: ["create", "update"],
  api_key: resourceActions.api_key,
  group_member: ["read"],
  inbox_notification: resourceActions.inbox_notification,
  notification_message: ["read", "update"],
  notification_preference: resourceActions.notification_preference,
  organization_member: ["read"]
}
const share: Grants = { workspace: ["share"] }

const byMode: Record<OrganizationSystemRole, Record<ShareableWorkspaceOwners, { readonly org: Grants; readonly deny: Levels }>> = {
  [organizationMember]: {
    everyone: { org: seesMembersAndGroups, deny: {} },
    service_accounts: { org: seesMembers, deny: { member: share } },
    none: { org: organizationWide, deny: { org: share, member: share } }
  },
  [organizationServiceAccount]: {
    everyone: { org: seesMembersAndGroups, deny: {} },
    service_accounts: { org: seesMembersAndGroups, deny: {} },
    none: { org: organizationWide, deny: { org: share } }
  }
}

const build = (name: OrganizationSystemRole, mode: ShareableWorkspaceOwners): Role => {
  const { org, deny } = byMode[name][mode]
  return { name, display_name: "", allow: { org, member: own }, deny }
}

const built = {
  [organizationMember]: {
    none: build(organizationMember, "none"),
    everyone: build(organizationMember, "everyone"),
    service_accounts: build(organizationMember, "service_accounts")
  },
  [organizationServiceAccount]: {
    none: build(organizationServiceAccount, "none"),
    everyone: build(organizationServiceAccount, "everyone"),
    service_accounts: build(organizationServiceAccount, "service_accounts")
  }
}

/** The role of that name as an organization's sharing mode makes it. */
export const organizationSystemRole = (name: OrganizationSystemRole, mode: ShareableWorkspaceOwners): Role => built[name][mode]
