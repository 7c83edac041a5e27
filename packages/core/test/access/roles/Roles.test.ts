import { describe, expect, it } from "vitest"
import {
  type Action,
  actionsOf,
  decide,
  expandRoles,
  isBuiltIn,
  isValidPermission,
  organizationRole,
  organizationRoles,
  organizationSystemRole,
  organizationSystemRoles,
  Permission,
  permissionsOf,
  resourceTypes,
  type ResourceType,
  type Role,
  siteRole,
  siteRoles
} from "../../../src/access/index.js"
import { matrixSubject } from "./subjects.js"

const granted = (roles: ReadonlyArray<string>, type: ResourceType, on: { owner?: string; org?: string } = {}): ReadonlyArray<Action> => {
  const subject = matrixSubject({ roles })
  return actionsOf(type).filter((action) => decide(subject, action, { type, ...on }))
}

describe("resources", () => {
  it("are 51, each with at least one action", () => {
    expect(resourceTypes).toHaveLength(51)
    expect(resourceTypes.filter((type) => actionsOf(type).length === 0)).toEqual([])
  })

  it("have no valid permission by wildcard, unknown action or unknown type", () => {
    expect(isValidPermission("template", "use")).toBe(true)
    expect(isValidPermission("template", "ssh")).toBe(false)
    expect(isValidPermission("template", "*")).toBe(false)
    expect(isValidPermission("*", "read")).toBe(false)
    expect(isValidPermission("constructor", "read")).toBe(false)
  })
})

describe("built-in roles", () => {
  it("are listed with their names and display names", () => {
    expect(siteRoles.map(({ name, display_name }) => [name, display_name])).toEqual([
      ["owner", "Owner"],
      ["member", "Member"],
      ["auditor", "Auditor"],
      ["template-admin", "Template Admin"],
      ["user-admin", "User Admin"]
    ])
    expect(organizationRoles.map(({ name, display_name }) => [name, display_name])).toEqual([
      ["organization-admin", "Organization Admin"],
      ["organization-auditor", "Organization Auditor"],
      ["organization-user-admin", "Organization User Admin"],
      ["organization-template-admin", "Organization Template Admin"],
      ["organization-workspace-creation-ban", "Organization Workspace Creation Ban"],
      ["organization-workspace-access", "Organization Workspace Access"],
      ["agents-access", "Agents User"]
    ])
  })

  it("are found by name, each at its own level", () => {
    expect(siteRole("owner")?.display_name).toBe("Owner")
    expect(siteRole("organization-admin")).toBeUndefined()
    expect(organizationRole("agents-access")?.display_name).toBe("Agents User")
    expect(organizationRole("owner")).toBeUndefined()
    expect(organizationRole("organization-member")).toBeUndefined()
    expect(["owner", "agents-access", "organization-member", "organization-service-account"].every(isBuiltIn)).toBe(true)
    expect(isBuiltIn("editors")).toBe(false)
  })

  it("leave a site owner out of other people's secrets, usage and seats", () => {
    for (const type of ["user_secret", "usage_event", "boundary_usage", "ai_seat"] as const) {
      expect(granted(["member", "owner"], type, { owner: "u2" })).toEqual([])
    }
    expect(granted(["owner"], "user_skill", { owner: "u2" })).toEqual(["delete", "read"])
    expect(granted(["owner"], "ai_gateway_key")).toEqual(["create", "delete", "read"])
    expect(granted(["owner"], "boundary_log")).toEqual(["read"])
  })

  it("allow no role to start, enter or share a dormant workspace", () => {
    const everybody = [...siteRoles, ...organizationRoles].map(({ name }) => (organizationRole(name) ? `${name}:org1` : name))
    expect(
      granted(
        everybody.filter((name) => !name.includes("ban")),
        "workspace_dormant",
        { owner: "u1", org: "org1" }
      )
    ).toEqual(["create", "create_agent", "delete", "delete_agent", "read", "stop", "update", "update_agent"])
  })

  it("let a member read and personalise itself only", () => {
    expect(granted(["member"], "user", { owner: "u1" })).toEqual(["read", "read_personal", "update_personal"])
    expect(granted(["member"], "user", { owner: "u2" })).toEqual([])
    expect(granted(["member"], "chat", { owner: "u1" })).toEqual([])
    expect(granted(["member"], "user_secret", { owner: "u1" })).toEqual(["create", "delete", "read", "update"])
  })

  it("keep an organization admin out of site roles, secrets and terminals", () => {
    expect(granted(["organization-admin:org1"], "workspace", { owner: "u2", org: "org1" })).toEqual(
      actionsOf("workspace").filter((action) => action !== "ssh" && action !== "application_connect")
    )
    for (const type of [
      "assign_role",
      "user_secret",
      "boundary_usage",
      "boundary_log",
      "ai_seat",
      "workspace_build_orchestration"
    ] as const) {
      expect(granted(["organization-admin:org1"], type, { org: "org1" })).toEqual([])
    }
    expect(granted(["organization-admin:org1"], "user_skill", { org: "org1" })).toEqual(["create", "delete", "read", "update"])
  })

  it("let agents-access keep chats of one's own", () => {
    expect(granted(["agents-access:org1"], "chat", { owner: "u1", org: "org1" })).toEqual(["create", "read", "share", "update"])
    expect(granted(["agents-access:org1"], "chat", { owner: "u2", org: "org1" })).toEqual([])
  })
})

describe("the system roles of an organization", () => {
  const org = (name: (typeof organizationSystemRoles)[number], mode: "none" | "everyone" | "service_accounts") => {
    const { allow, deny } = organizationSystemRole(name, mode)
    return { sees: Object.keys(allow.org ?? {}).toSorted(), denied: deny }
  }
  const share = { workspace: ["share"] }
  const base = ["assign_org_role", "organization", "provisioner_daemon"]

  it("show members and groups while everyone may share", () => {
    for (const name of organizationSystemRoles) {
      expect(org(name, "everyone")).toEqual({
        sees: [base[0], "group", "organization", "organization_member", "provisioner_daemon"],
        denied: {}
      })
    }
  })

  it("hide groups from people while only service accounts may share", () => {
    expect(org("organization-member", "service_accounts")).toEqual({
      sees: [base[0], "organization", "organization_member", "provisioner_daemon"],
      denied: { member: share }
    })
    expect(org("organization-service-account", "service_accounts")).toEqual(org("organization-service-account", "everyone"))
  })

  it("hide members and deny sharing while sharing is off", () => {
    expect(org("organization-member", "none")).toEqual({ sees: base, denied: { org: share, member: share } })
    expect(org("organization-service-account", "none")).toEqual({ sees: base, denied: { org: share } })
  })

  it("let every member keep its own keys and notifications in every mode", () => {
    for (const mode of ["none", "everyone", "service_accounts"] as const) {
      expect(organizationSystemRole("organization-member", mode).allow.member).toEqual({
        aibridge_interception: ["create", "update"],
        api_key: ["create", "delete", "read", "update"],
        group_member: ["read"],
        inbox_notification: ["create", "read", "update"],
        notification_message: ["read", "update"],
        notification_preference: ["read", "update"],
        organization_member: ["read"]
      })
    }
  })
})

describe("looking roles up", () => {
  const editor: Role = { name: "editor", display_name: "", organization_id: "org1", allow: { org: { template: ["update"] } }, deny: {} }
  const names = (roles: ReadonlyArray<Role>) => roles.map(({ name }) => name)

  it("drops names that nothing answers to", () => {
    expect(names(expandRoles(["owner", "nobody", "organization-admin", "__proto__"]))).toEqual(["owner"])
    expect(names(expandRoles(["owner", "organization-admin"], { organizationId: "org1" }))).toEqual(["organization-admin"])
  })

  it("answers each role once", () => {
    expect(names(expandRoles(["auditor", "auditor"]))).toEqual(["auditor"])
  })

  it("finds a custom role in its own organization only", () => {
    expect(names(expandRoles(["editor"], { organizationId: "org1", customRoles: [editor] }))).toEqual(["editor"])
    expect(names(expandRoles(["editor"], { organizationId: "org2", customRoles: [editor] }))).toEqual([])
    expect(names(expandRoles(["editor"], { customRoles: [editor] }))).toEqual([])
  })

  it("prefers a built-in role to a stored one of the same name", () => {
    const impostor: Role = { ...editor, name: "organization-auditor", allow: { site: { "*": ["*"] } } }
    expect(expandRoles(["organization-auditor"], { organizationId: "org1", customRoles: [impostor] })).toEqual([
      organizationRole("organization-auditor")
    ])
  })

  it("treats an organization with an unknown mode as one without sharing", () => {
    expect(expandRoles(["organization-member"], { organizationId: "org1" })).toEqual([
      organizationSystemRole("organization-member", "none")
    ])
  })
})

describe("deployment options", () => {
  const site = (name: string, options: object) => expandRoles([name], { options })[0]

  it("take terminals and apps of workspaces from owners", () => {
    const role = site("owner", { disableOwnerWorkspaceAccess: true })
    expect(role?.allow.site?.workspace).toEqual(
      actionsOf("workspace").filter((action) => action !== "ssh" && action !== "application_connect")
    )
    expect(role?.allow.site?.template).toEqual(["*"])
  })

  it("deny members sharing, of workspaces and of chats", () => {
    expect(site("member", { disableWorkspaceSharing: true })?.deny).toEqual({ site: { workspace: ["share"] } })
    expect(site("member", { disableChatSharing: true })?.deny).toEqual({ site: { chat: ["share"] } })
    expect(site("member", { disableWorkspaceSharing: true, disableChatSharing: true })?.deny).toEqual({
      site: { workspace: ["share"], chat: ["share"] }
    })
  })

  it("leave the roles themselves as they are", () => {
    site("owner", { disableOwnerWorkspaceAccess: true })
    expect(siteRole("owner")?.allow.site?.workspace).toContain("ssh")
    expect(site("owner", {})).toBe(siteRole("owner"))
    expect(site("auditor", { disableWorkspaceSharing: true })).toBe(siteRole("auditor"))
  })

  it("make stored shares of workspaces and tasks grant nothing", () => {
    const subject = matrixSubject({ roles: ["organization-member:org1"], options: { disableWorkspaceSharing: true } })
    const shared = { id: "x", owner: "u2", org: "org1", aclUser: { u1: ["read"] } }
    expect(decide(subject, "read", { type: "workspace", ...shared })).toBe(false)
    expect(decide(subject, "read", { type: "task", ...shared })).toBe(false)
    expect(decide(subject, "read", { type: "template", ...shared })).toBe(true)
    expect(decide(subject, "read", { type: "chat", ...shared })).toBe(true)
    const noChats = matrixSubject({ roles: ["organization-member:org1"], options: { disableChatSharing: true } })
    expect(decide(noChats, "read", { type: "chat", ...shared })).toBe(false)
    expect(decide(noChats, "read", { type: "workspace", ...shared })).toBe(true)
  })
})

describe("permission lists", () => {
  const permission = (resource_type: "template" | "workspace", action: Action, negate = false) =>
    new Permission({ negate, resource_type, action })

  it("show a role's permissions per level, allows before denies", () => {
    expect(
      permissionsOf({
        name: "r",
        display_name: "",
        allow: { org: { template: ["update", "read"] } },
        deny: { org: { workspace: ["ssh"] } }
      })
    ).toEqual({
      site_permissions: [],
      user_permissions: [],
      organization_permissions: [permission("template", "read"), permission("template", "update"), permission("workspace", "ssh", true)],
      organization_member_permissions: []
    })
  })
})
