/** What custom roles can allow. */
import type { Permission } from "@atelier/client"

const onWorkspaces = [
  "application_connect",
  "create",
  "create_agent",
  "delete",
  "delete_agent",
  "read",
  "share",
  "ssh",
  "start",
  "stop",
  "update",
  "update_agent"
] as const

/**
 * What a custom role can allow in its organization: the actions of each kind of object. The interface names kinds and actions, and not which go together:
 * a test compares them with core's.
 */
export const organizationPermissions = {
  workspace: onWorkspaces,
  workspace_dormant: onWorkspaces,
  prebuilt_workspace: ["delete", "update"],
  task: ["create", "delete", "read", "update"],
  template: ["create", "delete", "read", "update", "use", "view_insights"],
  file: ["create", "read"],
  provisioner_daemon: ["create", "delete", "read", "update"],
  provisioner_jobs: ["create", "read", "update"],
  group: ["create", "delete", "read", "update"],
  group_member: ["read"],
  organization: ["create", "delete", "read", "update"],
  organization_member: ["create", "delete", "read", "update"],
  assign_org_role: ["assign", "create", "delete", "read", "unassign", "update"],
  idpsync_settings: ["read", "update"],
  audit_log: ["create", "read"],
  connection_log: ["read", "update"],
  workspace_agent_devcontainers: ["create"],
  workspace_agent_resource_monitor: ["create", "read", "update"]
} as const satisfies Readonly<Partial<Record<Permission["resource_type"], ReadonlyArray<Permission["action"]>>>>

/** A permission in one text. */
export const pairOf = (resource: string, action: string): string => `${resource}:${action}`
