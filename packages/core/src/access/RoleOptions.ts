/** Deployment options that change what built-in roles hold, and whether ACLs count. authorization.md §1.4. */
import type { ResourceType } from "./Resource.js"
import type { Role } from "./Role.js"

/** Named as in the deployment's configuration, so that it can be given as it is. */
export interface RoleOptions {
  /** Role `owner` does not reach into other people's workspaces. */
  readonly disable_owner_workspace_exec?: boolean | undefined
  /** Sharing of workspaces is disabled, and stored shares grant nothing. */
  readonly disable_workspace_sharing?: boolean | undefined
  /** Sharing of chats is disabled, and stored shares grant nothing. */
  readonly disable_chat_sharing?: boolean | undefined
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
  if (role.name === "owner" && options.disable_owner_workspace_exec) return withoutExec(role)
  if (role.name !== "member") return role
  const restricted = options.disable_workspace_sharing ? withoutShare(role, "workspace") : role
  return options.disable_chat_sharing ? withoutShare(restricted, "chat") : restricted
}

/** Whether the options leave ACLs of that type in force. */
export const aclsCount = (type: ResourceType, options: RoleOptions): boolean => {
  switch (type) {
    case "workspace":
    case "task":
      return !options.disable_workspace_sharing
    case "chat":
      return !options.disable_chat_sharing
    default:
      return true
  }
}
