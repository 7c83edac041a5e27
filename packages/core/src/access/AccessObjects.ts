/** How an object of each type is built from its row: who owns it, which organization and ACL it has. authorization.md §1.5. */
import type { AccessObject, Acl, ResourceType } from "./Resource.js"

/** ACLs as rows store them: actions by user id and by group id. */
export interface AclColumns {
  readonly user_acl?: Acl | null | undefined
  readonly group_acl?: Acl | null | undefined
}

interface OrganizationOwned {
  readonly id: string
  readonly organization_id: string
}

/** An object for which only the type matters, such as `deployment_config`. */
export const bare = <Type extends ResourceType>(type: Type): AccessObject<Type> => ({ type })

/** Something of an organization as a whole: what is about to be created in it, or an organization-wide listing. */
export const inOrganization = <Type extends ResourceType>(type: Type, organizationId: string): AccessObject<Type> => ({
  type,
  org: organizationId
})

/** Something of a user outside organizations, such as `api_key` or `notification_preference`. */
export const ownedBy = <Type extends ResourceType>(type: Type, userId: string, id?: string): AccessObject<Type> => ({
  type,
  owner: userId,
  id
})

/** An object that a member is about to create for a user in an organization. */
export const ownedIn = <Type extends ResourceType>(type: Type, organizationId: string, userId: string): AccessObject<Type> => ({
  type,
  org: organizationId,
  owner: userId
})

/** A dormant workspace has a type of its own, on which fewer actions are granted and no ACL counts. */
export const workspace = (
  row: OrganizationOwned & AclColumns & { readonly owner_id: string; readonly dormant_at: unknown }
): AccessObject<"workspace" | "workspace_dormant"> => {
  const { id, organization_id: org, owner_id: owner } = row
  return row.dormant_at === null || row.dormant_at === undefined
    ? { type: "workspace", id, org, owner, ...acls(row) }
    : { type: "workspace_dormant", id, org, owner }
}

/** A task carries the ACLs of its workspace. */
export const task = (row: OrganizationOwned & { readonly owner_id: string }, ofWorkspace: AclColumns = {}): AccessObject<"task"> => ({
  type: "task",
  id: row.id,
  org: row.organization_id,
  owner: row.owner_id,
  ...acls(ofWorkspace)
})

/** Also the object of every version of the template. */
export const template = (row: OrganizationOwned & AclColumns): AccessObject<"template"> => ({
  type: "template",
  id: row.id,
  org: row.organization_id,
  ...acls(row)
})

/** Its members may always read a group. */
export const group = (row: OrganizationOwned): AccessObject<"group"> => ({
  type: "group",
  id: row.id,
  org: row.organization_id,
  aclGroup: { [row.id]: ["read"] }
})

export const organization = (row: { readonly id: string }): AccessObject<"organization"> => ({
  type: "organization",
  id: row.id,
  org: row.id
})

export const organizationMember = (row: {
  readonly user_id: string
  readonly organization_id: string
}): AccessObject<"organization_member"> => ({
  type: "organization_member",
  id: row.user_id,
  org: row.organization_id,
  owner: row.user_id
})

/** Also the object of a user's SSH key, external logins and settings, with `read_personal` and `update_personal`. */
export const user = (row: { readonly id: string }): AccessObject<"user"> => ({ type: "user", id: row.id, owner: row.id })

/** A key's id is not a UUID, so an allow list never names one. */
export const apiKey = (row: { readonly id: string; readonly user_id: string }): AccessObject<"api_key"> =>
  ownedBy("api_key", row.user_id, row.id)

export const file = (row: { readonly id: string; readonly created_by: string }): AccessObject<"file"> =>
  ownedBy("file", row.created_by, row.id)

export const inboxNotification = (row: { readonly id: string; readonly user_id: string }): AccessObject<"inbox_notification"> =>
  ownedBy("inbox_notification", row.user_id, row.id)

const acls = ({ user_acl, group_acl }: AclColumns): Pick<AccessObject, "aclUser" | "aclGroup"> => ({
  aclUser: user_acl,
  aclGroup: group_acl
})
