/** Which changes may end the right to a stream. Every change of a right is audited, so none is missed here. */
import type { RightsChange } from "../access/streams/RightsChanges.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { AuditAction, AuditDiff } from "./AuditEntry.js"
import type { AuditResourceType } from "./AuditedFields.js"

/** The users whose rights a change of each type may end: the user that the entry is about, or all; with the ACL, all only if a field of `sharing` changes. */
const concerned = {
  user: "user",
  api_key: "user",
  user_secret: "none",
  git_ssh_key: "none",
  convert_login: "user",
  organization: "everyone",
  group: "everyone",
  idp_sync_settings_organization: "none",
  idp_sync_settings_group: "none",
  idp_sync_settings_role: "none",
  ai_provider: "none",
  ai_provider_key: "none",
  group_ai_budget: "none",
  user_ai_budget_override: "none",
  // Tokens of every user may end with an app or its secret
  oauth2_provider_app: "everyone",
  oauth2_provider_app_secret: "everyone",
  oauth2_provider_settings: "none",
  custom_role: "everyone",
  // Features end with it, such as the access that groups give
  license: "everyone",
  organization_member: "user",
  template: "acl",
  template_version: "none",
  workspace: "acl",
  workspace_build: "none",
  task: "none",
  notifications_settings: "none",
  prebuilds_settings: "none",
  notification_template: "none",
  // Proxies end by themselves: their streams are told
  workspace_proxy: "none",
  health_settings: "none"
} as const satisfies Record<AuditResourceType, "user" | "everyone" | "acl" | "none">

/** Fields that say who may use a workspace, its ports and its apps; the last one, whether pages of other origins may read what the apps answer. */
const sharing = ["user_acl", "group_acl", "max_port_sharing_level", "cors_behavior"]

/** Actions that only add rights. */
const harmless: ReadonlySet<AuditAction> = new Set(["create", "login", "register", "request_password_reset"])

interface Change {
  readonly action: AuditAction
  readonly type: AuditResourceType
  readonly id: Uuid
  readonly diff: AuditDiff
}

/** The rights that a stored change may have ended; undefined for a change that ends none. */
export const endedRights = ({ action, diff, id, type }: Change): RightsChange | undefined => {
  // The entry of a conversion is a creation, though it ends the user's keys
  if (type !== "convert_login" && harmless.has(action)) return undefined
  switch (concerned[type]) {
    case "user":
      return { user_id: id }
    case "everyone":
      return {}
    case "acl":
      return sharing.some((field) => field in diff) ? {} : undefined
    case "none":
      return undefined
  }
}
