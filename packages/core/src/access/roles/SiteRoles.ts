/** The built-in roles of the whole deployment. authorization.md §2.1. */
import { allActionsExceptOn } from "../decisions/Permission.js"
import { resourceActions } from "../Resource.js"
import type { Role } from "./Role.js"

/** The actions that roles can allow on a dormant workspace: it cannot be started, entered or shared. §1.5. */
export const dormantWorkspaceActions = [
  "create",
  "create_agent",
  "delete",
  "delete_agent",
  "read",
  "stop",
  "update",
  "update_agent"
] as const

const owner: Role = {
  name: "owner",
  display_name: "Owner",
  allow: {
    site: {
      ...allActionsExceptOn("user_secret", "usage_event", "boundary_usage", "ai_seat"),
      ai_gateway_key: ["create", "delete", "read"],
      boundary_log: ["read"],
      prebuilt_workspace: resourceActions.prebuilt_workspace,
      user_skill: ["delete", "read"],
      workspace: resourceActions.workspace,
      workspace_dormant: dormantWorkspaceActions
    }
  },
  deny: {}
}

const member: Role = {
  name: "member",
  display_name: "Member",
  allow: {
    site: { assign_role: ["read"], oauth2_app: ["read"], workspace_proxy: ["read"] },
    user: {
      ...allActionsExceptOn(
        "workspace",
        "workspace_dormant",
        "prebuilt_workspace",
        "organization_member",
        "boundary_usage",
        "chat",
        "ai_seat"
      ),
      aibridge_interception: ["create", "update"],
      boundary_log: ["create"],
      user: ["read", "read_personal", "update_personal"]
    }
  },
  deny: {}
}

const auditor: Role = {
  name: "auditor",
  display_name: "Auditor",
  allow: {
    site: {
      aibridge_interception: ["read"],
      assign_org_role: ["read"],
      audit_log: ["read"],
      boundary_log: ["read"],
      connection_log: ["read"],
      deployment_config: ["read"],
      deployment_stats: ["read"],
      group: ["read"],
      group_member: ["read"],
      organization: ["read"],
      organization_member: ["read"],
      template: ["read", "view_insights"],
      user: ["read"]
    }
  },
  deny: {}
}

const templateAdmin: Role = {
  name: "template-admin",
  display_name: "Template Admin",
  allow: {
    site: {
      assign_org_role: ["read"],
      file: ["create", "read"],
      group: ["read"],
      group_member: ["read"],
      organization: ["read"],
      organization_member: ["read"],
      prebuilt_workspace: resourceActions.prebuilt_workspace,
      provisioner_daemon: resourceActions.provisioner_daemon,
      template: resourceActions.template,
      user: ["read"],
      workspace: ["read"],
      workspace_dormant: ["read"]
    }
  },
  deny: {}
}

const userAdmin: Role = {
  name: "user-admin",
  display_name: "User Admin",
  allow: {
    site: {
      assign_org_role: ["assign", "read", "unassign"],
      assign_role: ["assign", "read", "unassign"],
      group: resourceActions.group,
      group_member: ["read"],
      idpsync_settings: ["read", "update"],
      organization: ["read"],
      organization_member: resourceActions.organization_member,
      user: resourceActions.user
    }
  },
  deny: {}
}

/** The role of every user, which no user record names. */
export const impliedSiteRole = "member"

/** Every built-in site role, `member` included. */
export const siteRoles: ReadonlyArray<Role> = [owner, member, auditor, templateAdmin, userAdmin]
