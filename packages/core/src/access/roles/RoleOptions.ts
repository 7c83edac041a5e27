/** Deployment options that change what built-in roles hold, and whether ACLs count. authorization.md §1.4. */
import type { ResourceType } from "../Resource.js"
import type { Role } from "./Role.js"

/** Named as the deployment's options, so that they can be given as they are. */
export interface RoleOptions {
  /** Role `owner` does not reach into other people's workspaces. */
  readonly disableOwnerWorkspaceAccess?: boolean | undefined
  /** Sharing of workspaces is disabled, and stored shares grant nothing. */
  readonly disableWorkspaceSharing?: boolean | undefined
  /** Sharing of chats is disabled, and stored shares grant nothing. */
  readonly disableChatSharing?: boolean | undefined
}

const withoutExec = (role: Role): Role => ({
  ...role,
  allow: {
    ...role.allow,
    site: {
      ...role.allow.site,
      workspace: (role.allow.site?.workspace ?? []).filter((action) => action !== "ssh" && action !== "application_connect")
    }
  }
})

const withoutShare = (role: Role, type: "workspace" | "chat"): Role => ({
  ...role,
  deny: { ...role.deny, site: { ...role.deny.site, [type]: ["share"] } }
})

/** A built-in role as the deployment's options leave it. */
export const applyOptions = (role: Role, options: RoleOptions): Role => {
  if (role.name === "owner" && options.disableOwnerWorkspaceAccess) return withoutExec(role)
  if (role.name !== "member") return role
  const restricted = options.disableWorkspaceSharing ? withoutShare(role, "workspace") : role
  return options.disableChatSharing ? withoutShare(restricted, "chat") : restricted
}

/** Whether ACLs of the type count under the options. */
export const aclsCount = (type: ResourceType, options: RoleOptions): boolean => {
  switch (type) {
    case "workspace":
    case "task":
      return !options.disableWorkspaceSharing
    case "chat":
      return !options.disableChatSharing
    default:
      return true
  }
}
