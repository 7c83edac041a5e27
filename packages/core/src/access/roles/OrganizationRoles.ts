/** The built-in roles that are held in an organization. authorization.md §2.2. */
import { allActionsExceptOn } from "../decisions/Permission.js"
import { resourceActions } from "../Resource.js"
import type { Role } from "./Role.js"
import { dormantWorkspaceActions } from "./SiteRoles.js"

const organizationAdmin: Role = {
  name: "organization-admin",
  display_name: "Organization Admin",
  allow: {
    site: { user: ["read"] },
    org: {
      ...allActionsExceptOn("assign_role", "user_secret", "boundary_usage", "boundary_log", "ai_seat", "workspace_build_orchestration"),
      prebuilt_workspace: resourceActions.prebuilt_workspace,
      workspace: resourceActions.workspace.filter((action) => action !== "ssh" && action !== "application_connect"),
      workspace_dormant: dormantWorkspaceActions
    }
  },
  deny: {}
}

const organizationAuditor: Role = {
  name: "organization-auditor",
  display_name: "Organization Auditor",
  allow: {
    org: {
      audit_log: ["read"],
      connection_log: ["read"],
      group: ["read"],
      group_member: ["read"],
      organization: ["read"],
      organization_member: ["read"],
      template: ["read", "view_insights"]
    }
  },
  deny: {}
}

const organizationUserAdmin: Role = {
  name: "organization-user-admin",
  display_name: "Organization User Admin",
  allow: {
    site: { user: ["read"] },
    org: {
      assign_org_role: ["assign", "read", "unassign"],
      group: resourceActions.group,
      group_member: ["read"],
      idpsync_settings: ["read", "update"],
      organization: ["read"],
      organization_member: resourceActions.organization_member
    }
  },
  deny: {}
}

const organizationTemplateAdmin: Role = {
  name: "organization-template-admin",
  display_name: "Organization Template Admin",
  allow: {
    org: {
      file: ["create", "read"],
      group: ["read"],
      group_member: ["read"],
      organization: ["read"],
      organization_member: ["read"],
      prebuilt_workspace: resourceActions.prebuilt_workspace,
      provisioner_daemon: resourceActions.provisioner_daemon,
      provisioner_jobs: resourceActions.provisioner_jobs,
      template: resourceActions.template,
      workspace: ["read"],
      workspace_dormant: ["read"]
    }
  },
  deny: {}
}

const organizationWorkspaceCreationBan: Role = {
  name: "organization-workspace-creation-ban",
  display_name: "Organization Workspace Creation Ban",
  allow: {},
  deny: { org: { workspace: ["create", "create_agent", "delete", "delete_agent"] } }
}

const organizationWorkspaceAccess: Role = {
  name: "organization-workspace-access",
  display_name: "Organization Workspace Access",
  allow: {
    member: {
      file: ["create", "read"],
      provisioner_daemon: ["create", "read"],
      task: resourceActions.task,
      workspace: resourceActions.workspace,
      workspace_dormant: dormantWorkspaceActions
    }
  },
  deny: {}
}

const agentsAccess: Role = {
  name: "agents-access",
  display_name: "Agents User",
  allow: { member: { chat: ["create", "read", "share", "update"] } },
  deny: {}
}

/** Every built-in organization role that people can be given. */
export const organizationRoles: ReadonlyArray<Role> = [
  organizationAdmin,
  organizationAuditor,
  organizationUserAdmin,
  organizationTemplateAdmin,
  organizationWorkspaceCreationBan,
  organizationWorkspaceAccess,
  agentsAccess
]
