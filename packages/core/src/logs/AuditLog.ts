/** An audit entry as its readers see it. notifications-audit-insights.md §B5. */
import { Schema } from "effect"
import type { UserWithOrganizations } from "../identity/users/User.js"
import { nil, Uuid } from "../platform/texts/Uuid.js"
import type { AuditAction, AuditEntry, AuditedType } from "../audit/AuditEntry.js"

/** An organization where lists name it. */
export const MinimalOrganization = Schema.Struct({
  id: Uuid,
  name: Schema.String,
  display_name: Schema.String,
  icon: Schema.String
}).annotations({ identifier: "MinimalOrganization" })
export interface MinimalOrganization extends Schema.Schema.Type<typeof MinimalOrganization> {}

/** An entry with what the store knows today of its actor, its organization and its object. */
export interface FoundEntry extends AuditEntry {
  /** Null when the actor does not exist. Without memberships. */
  readonly user: UserWithOrganizations | null
  /** Null when the organization does not exist. */
  readonly organization: MinimalOrganization | null
  readonly is_deleted: boolean
  /** Of a workspace, of a build's workspace, of a task; empty for other objects. */
  readonly owner_username: string
}

export interface AuditLog extends AuditEntry {
  readonly user: UserWithOrganizations | null
  readonly organization: MinimalOrganization | undefined
  readonly resource_icon: string
  readonly is_deleted: boolean
  readonly description: string
  readonly resource_link: string
}

const pastTense: Readonly<Record<AuditAction, string>> = {
  create: "created",
  write: "updated",
  delete: "deleted",
  start: "started",
  stop: "stopped",
  login: "logged in",
  logout: "logged out",
  register: "registered",
  request_password_reset: "password reset requested",
  connect: "connected",
  disconnect: "disconnected",
  open: "opened",
  close: "closed"
}

/** Types whose words are not their name. */
const words: Partial<Record<AuditedType, string>> = {
  workspace_build: "workspace",
  api_key: "token",
  oauth2_provider_app: "oauth2 app",
  oauth2_provider_app_secret: "oauth2 app secret",
  convert_login: "login type conversion to",
  idp_sync_settings_organization: "settings",
  idp_sync_settings_group: "settings",
  idp_sync_settings_role: "settings",
  // Clients know these as they are
  notifications_settings: "notifications_settings",
  health_settings: "health_settings",
  prebuilds_settings: "prebuilds_settings"
}

const sessionActions: ReadonlySet<AuditAction> = new Set(["login", "logout", "register"])

/** What was done, in words. Clients replace the literals `{user}` and `{target}`. */
export const descriptionOf = ({
  action,
  resource_type,
  status_code
}: Pick<AuditEntry, "action" | "resource_type" | "status_code">): string => {
  const subject = action === "request_password_reset" ? [] : ["{user}"]
  const outcome =
    status_code === 303
      ? `was redirected when attempting to ${action}`
      : status_code >= 400
        ? `unsuccessfully attempted to ${action}`
        : pastTense[action]
  if (resource_type === "api_key" && sessionActions.has(action)) return [...subject, outcome].join(" ")
  if (resource_type === "git_ssh_key") return [...subject, outcome, "the git ssh key"].join(" ")
  const object = action === "request_password_reset" ? "for" : (words[resource_type] ?? resource_type.replaceAll("_", " "))
  return [...subject, outcome, object, "{target}"].join(" ")
}

const fieldOf = (entry: AuditEntry, name: string): string => {
  const value = entry.additional_fields[name]
  return typeof value === "string" ? value : ""
}

/** Where the dashboard shows the object; empty for an object that is deleted or has no page. */
export const linkOf = (entry: FoundEntry): string => {
  if (entry.is_deleted) return ""
  const { owner_username: owner, resource_id: id, resource_target: target } = entry
  const workspace = fieldOf(entry, "workspace_name")
  const number = fieldOf(entry, "build_number")
  switch (entry.resource_type) {
    case "template":
      return `/templates/${target}`
    case "user":
      return `/users?filter=${encodeURIComponent(target)}`
    case "workspace":
      return owner === "" ? "" : `/@${owner}/${target}`
    case "workspace_build":
      return owner === "" || workspace === "" || number === "" ? "" : `/@${owner}/${workspace}/builds/${number}`
    case "workspace_agent":
    case "workspace_app":
      return fieldOf(entry, "workspace_owner") === "" || workspace === "" ? "" : `/@${fieldOf(entry, "workspace_owner")}/${workspace}`
    case "oauth2_provider_app":
      return `/deployment/oauth2-provider/apps/${id}`
    case "task":
      return owner === "" ? "" : `/tasks/${owner}/${id}`
    case "group_ai_budget":
      return entry.organization === null ? "" : `/organizations/${entry.organization.name}/groups/${target}`
    default:
      return ""
  }
}

/** The entry with all that is derived from it. */
export const auditLog = (entry: FoundEntry): AuditLog => ({
  ...entry,
  organization:
    entry.organization_id === nil ? undefined : (entry.organization ?? { id: entry.organization_id, name: "", display_name: "", icon: "" }),
  resource_icon: "",
  description: descriptionOf(entry),
  resource_link: linkOf(entry)
})
