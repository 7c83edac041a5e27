/** What the logs are filtered by. docs/audit.md. */
import { logKeyText } from "../../texts/logs.js"
import type { FilterKey } from "../../ui/lists/Filter.js"
import { findOrganizations, findUsernames } from "../people/queries.js"

export const auditKeys: ReadonlyArray<FilterKey> = [
  {
    key: "action",
    hint: logKeyText.action,
    values: ["create", "write", "delete", "start", "stop", "login", "logout", "register", "request_password_reset"]
  },
  {
    key: "resource_type",
    hint: logKeyText.resourceType,
    values: [
      "workspace",
      "workspace_build",
      "template",
      "template_version",
      "user",
      "api_key",
      "group",
      "organization",
      "organization_member",
      "custom_role",
      "task",
      "git_ssh_key",
      "user_ssh_key",
      "user_secret",
      "license",
      "workspace_proxy",
      "oauth2_provider_app",
      "oauth2_provider_app_secret",
      "notification_template",
      "notifications_settings",
      "health_settings",
      "idp_sync_settings_organization",
      "idp_sync_settings_group",
      "idp_sync_settings_role"
    ]
  },
  { key: "username", hint: logKeyText.username, search: findUsernames },
  { key: "resource_target", hint: logKeyText.target },
  { key: "organization", hint: logKeyText.organization, search: findOrganizations },
  {
    key: "build_reason",
    hint: logKeyText.reason,
    values: ["initiator", "autostart", "autostop", "dormancy", "autodelete", "dashboard", "cli"]
  },
  { key: "date_from", hint: logKeyText.date },
  { key: "date_to", hint: logKeyText.date },
  { key: "resource_id", hint: logKeyText.id },
  { key: "request_id", hint: logKeyText.request }
]

export const connectionKeys: ReadonlyArray<FilterKey> = [
  { key: "workspace_owner", hint: logKeyText.owner, search: findUsernames },
  { key: "username", hint: logKeyText.username, search: findUsernames },
  {
    key: "type",
    hint: logKeyText.type,
    values: ["ssh", "vscode", "jetbrains", "reconnecting_pty", "workspace_app", "port_forwarding", "tunnel"]
  },
  { key: "status", hint: logKeyText.status, values: ["ongoing", "completed"] },
  { key: "organization", hint: logKeyText.organization, search: findOrganizations },
  { key: "connected_after", hint: logKeyText.time },
  { key: "connected_before", hint: logKeyText.time },
  { key: "workspace_id", hint: logKeyText.id }
]
