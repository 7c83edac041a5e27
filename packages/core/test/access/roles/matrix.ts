/** The decision matrix: one row per rule of the model. authorization.md §17.2. */
import type { Acl, Action, Levels, ResourceType, RoleOptions, ShareableWorkspaceOwners } from "../../../src/access/index.js"

/** A built-in role, `name` or `name:organization`, or a custom one. */
export type HeldRole = string | { readonly name: string; readonly org?: string; readonly allow?: Levels; readonly deny?: Levels }

export interface MatrixRow {
  readonly n: number
  readonly roles: ReadonlyArray<HeldRole>
  readonly groups?: ReadonlyArray<string>
  readonly scopes?: ReadonlyArray<string>
  /** `type:id` of one entry */
  readonly allow?: string
  readonly options?: RoleOptions
  /** The sharing mode of org1; `everyone` unless given. */
  readonly mode?: ShareableWorkspaceOwners
  readonly object: {
    readonly type: ResourceType
    readonly id?: string
    readonly owner?: string
    readonly org?: string
    readonly anyOrg?: boolean
    readonly aclUser?: Acl
    readonly aclGroup?: Acl
  }
  readonly action: Action
  readonly allowed: boolean
  readonly why: string
}

const M1 = ["member", "organization-member:org1", "organization-workspace-access:org1"]
const templateUse = ["read", "use"]
const templateAdmin = ["*"]
const workspaceUse = ["application_connect", "read", "ssh", "start", "stop"]
const workspaceAdmin = [
  "application_connect",
  "create",
  "create_agent",
  "delete_agent",
  "read",
  "share",
  "ssh",
  "start",
  "stop",
  "update",
  "update_agent"
]

export const matrix: ReadonlyArray<MatrixRow> = [
  { n: 1, roles: M1, object: { type: "user", id: "u1", owner: "u1" }, action: "read", allowed: true, why: "own user record" },
  {
    n: 2,
    roles: M1,
    object: { type: "user", id: "u1", owner: "u1" },
    action: "update",
    allowed: false,
    why: "user level grants no plain update of oneself"
  },
  { n: 3, roles: M1, object: { type: "user", id: "u1", owner: "u1" }, action: "update_personal", allowed: true, why: "own personal data" },
  {
    n: 4,
    roles: M1,
    object: { type: "user", id: "u2", owner: "u2" },
    action: "read",
    allowed: false,
    why: "other users are not readable by members"
  },
  {
    n: 5,
    roles: [...M1, "organization-admin:org1"],
    object: { type: "user", id: "u2", owner: "u2" },
    action: "read",
    allowed: true,
    why: "organization-admin carries a site-level user:read"
  },
  {
    n: 6,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "ssh",
    allowed: true,
    why: "member level of organization-workspace-access"
  },
  {
    n: 7,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "read",
    allowed: false,
    why: "not the owner"
  },
  {
    n: 8,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u1", org: "org2" },
    action: "read",
    allowed: false,
    why: "owner but no role in that organization"
  },
  {
    n: 9,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u1" },
    action: "read",
    allowed: false,
    why: "user level has no workspace permission"
  },
  {
    n: 10,
    roles: ["member", "organization-member:org1"],
    object: { type: "workspace", owner: "u1", org: "org1" },
    action: "create",
    allowed: false,
    why: "organization-member alone grants no workspace"
  },
  {
    n: 11,
    roles: ["member", "owner"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "ssh",
    allowed: true,
    why: "site owner reaches every workspace"
  },
  {
    n: 12,
    roles: ["member", "owner"],
    options: { disableOwnerWorkspaceAccess: true },
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "ssh",
    allowed: false,
    why: "exec removed from owner"
  },
  {
    n: 13,
    roles: [...M1, "owner"],
    options: { disableOwnerWorkspaceAccess: true },
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "ssh",
    allowed: true,
    why: "own workspace still allowed through member level"
  },
  {
    n: 14,
    roles: [...M1, "organization-admin:org1"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "update",
    allowed: true,
    why: "org level"
  },
  {
    n: 15,
    roles: [...M1, "organization-admin:org1"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "ssh",
    allowed: false,
    why: "organization admins have no exec"
  },
  {
    n: 16,
    roles: ["member", "organization-admin:org2"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "update",
    allowed: false,
    why: "admin of another organization"
  },
  {
    n: 17,
    roles: ["member", "template-admin"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "read",
    allowed: true,
    why: "template admins may read workspaces"
  },
  {
    n: 18,
    roles: ["member", "template-admin"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "update",
    allowed: false,
    why: "and only read them"
  },
  {
    n: 19,
    roles: ["member", "owner"],
    object: { type: "workspace_dormant", id: "w1", owner: "u2", org: "org1" },
    action: "start",
    allowed: false,
    why: "nobody starts a dormant workspace"
  },
  {
    n: 20,
    roles: ["member", "owner"],
    object: { type: "workspace_dormant", id: "w1", owner: "u2", org: "org1" },
    action: "share",
    allowed: false,
    why: "nobody shares a dormant workspace"
  },
  {
    n: 21,
    roles: M1,
    object: { type: "workspace_dormant", id: "w1", owner: "u1", org: "org1" },
    action: "delete",
    allowed: true,
    why: "owner may delete it"
  },
  {
    n: 22,
    roles: [...M1, "organization-workspace-creation-ban:org1"],
    object: { type: "workspace", owner: "u1", org: "org1" },
    action: "create",
    allowed: false,
    why: "org-level deny beats member-level allow"
  },
  {
    n: 23,
    roles: [...M1, "organization-workspace-creation-ban:org1"],
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "update",
    allowed: true,
    why: "deny names only create, delete and the two agent actions"
  },
  {
    n: 24,
    roles: [...M1, "organization-admin:org1", "organization-workspace-creation-ban:org1"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "delete",
    allowed: false,
    why: "org-level deny beats org-level allow"
  },
  {
    n: 25,
    roles: [...M1, "owner", "organization-workspace-creation-ban:org1"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "delete",
    allowed: true,
    why: "site-level allow beats org-level deny"
  },
  {
    n: 26,
    roles: [...M1, "organization-workspace-creation-ban:org1"],
    object: { type: "workspace", owner: "u1", anyOrg: true },
    action: "create",
    allowed: false,
    why: "any_org: best vote over all organizations is a deny"
  },
  {
    n: 27,
    roles: [...M1, "organization-workspace-creation-ban:org1", "organization-member:org2", "organization-workspace-access:org2"],
    object: { type: "workspace", owner: "u1", anyOrg: true },
    action: "create",
    allowed: true,
    why: "any_org: second organization allows"
  },
  {
    n: 28,
    roles: ["member", "organization-template-admin:org2"],
    object: { type: "template", anyOrg: true },
    action: "create",
    allowed: true,
    why: "any_org without owner uses org votes"
  },
  {
    n: 29,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1", aclUser: { u1: workspaceUse } },
    action: "ssh",
    allowed: true,
    why: "user ACL, role use"
  },
  {
    n: 30,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1", aclUser: { u1: workspaceUse } },
    action: "update",
    allowed: false,
    why: "role use has no update"
  },
  {
    n: 31,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1", aclUser: { u1: workspaceAdmin } },
    action: "delete",
    allowed: false,
    why: "role admin has no delete"
  },
  {
    n: 32,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u2", org: "org2", aclUser: { u1: workspaceAdmin } },
    action: "read",
    allowed: false,
    why: "ACL is void outside the own organizations"
  },
  {
    n: 33,
    roles: M1,
    groups: ["g1"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1", aclGroup: { g1: workspaceUse } },
    action: "read",
    allowed: true,
    why: "group ACL"
  },
  {
    n: 34,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1", aclGroup: { g1: workspaceUse } },
    action: "read",
    allowed: false,
    why: "not in the group"
  },
  {
    n: 35,
    roles: M1,
    object: { type: "template", id: "t1", org: "org1", aclGroup: { org1: templateUse } },
    action: "use",
    allowed: true,
    why: "Everyone entry (group id = organization id)"
  },
  {
    n: 36,
    roles: ["member", "user-admin"],
    object: { type: "template", id: "t1", org: "org1", aclGroup: { org1: templateUse } },
    action: "read",
    allowed: false,
    why: "Everyone does not cover non-members"
  },
  {
    n: 37,
    roles: M1,
    object: { type: "template", id: "t1", org: "org1", aclUser: { u1: templateAdmin } },
    action: "update",
    allowed: true,
    why: "template ACL role admin"
  },
  {
    n: 38,
    roles: M1,
    object: { type: "template", id: "t1", org: "org1", aclUser: { u1: templateUse } },
    action: "update",
    allowed: false,
    why: "template ACL role use"
  },
  {
    n: 39,
    roles: M1,
    mode: "none",
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1", aclUser: { u1: workspaceAdmin } },
    action: "share",
    allowed: true,
    why: "ACL branch is not subject to role denies"
  },
  {
    n: 40,
    roles: M1,
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "share",
    allowed: true,
    why: "sharing mode everyone"
  },
  {
    n: 41,
    roles: M1,
    mode: "service_accounts",
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "share",
    allowed: false,
    why: "sharing mode service_accounts: member-level deny"
  },
  {
    n: 42,
    roles: ["member", "organization-service-account:org1", "organization-workspace-access:org1"],
    mode: "service_accounts",
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "share",
    allowed: true,
    why: "service account may share its own"
  },
  {
    n: 43,
    roles: [...M1, "organization-admin:org1"],
    mode: "service_accounts",
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "share",
    allowed: true,
    why: "org-level allow is untouched in that mode"
  },
  {
    n: 44,
    roles: [...M1, "organization-admin:org1"],
    mode: "none",
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "share",
    allowed: false,
    why: "sharing mode none: org-level deny"
  },
  {
    n: 45,
    roles: [...M1, "owner"],
    mode: "none",
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "share",
    allowed: true,
    why: "site level still votes yes (the handler refuses with 403)"
  },
  {
    n: 46,
    roles: M1,
    options: { disableWorkspaceSharing: true },
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "share",
    allowed: false,
    why: "deployment-wide switch: site-level deny in role member"
  },
  {
    n: 47,
    roles: M1,
    object: { type: "group", id: "g1", org: "org1", aclGroup: { g1: ["read"] } },
    action: "read",
    allowed: true,
    why: "organization-member reads groups in mode everyone"
  },
  {
    n: 48,
    roles: M1,
    mode: "none",
    object: { type: "group", id: "g1", org: "org1", aclGroup: { g1: ["read"] } },
    action: "read",
    allowed: false,
    why: "not in mode none"
  },
  {
    n: 49,
    roles: M1,
    groups: ["g1"],
    mode: "none",
    object: { type: "group", id: "g1", org: "org1", aclGroup: { g1: ["read"] } },
    action: "read",
    allowed: true,
    why: "a group member always reads the group"
  },
  {
    n: 50,
    roles: M1,
    groups: ["g1"],
    object: { type: "group", id: "g1", org: "org1", aclGroup: { g1: ["read"] } },
    action: "update",
    allowed: false,
    why: "membership gives no update"
  },
  {
    n: 51,
    roles: ["member", "user-admin"],
    object: { type: "group", org: "org1" },
    action: "create",
    allowed: true,
    why: "site user-admin, no membership needed"
  },
  {
    n: 52,
    roles: ["member", "organization-user-admin:org2"],
    object: { type: "group", org: "org1" },
    action: "create",
    allowed: false,
    why: "other organization"
  },
  {
    n: 53,
    roles: M1,
    object: { type: "group_member", id: "u1", owner: "u1", org: "org1" },
    action: "read",
    allowed: true,
    why: "own membership"
  },
  {
    n: 54,
    roles: M1,
    object: { type: "group_member", id: "u2", owner: "u2", org: "org1" },
    action: "read",
    allowed: false,
    why: "other memberships hidden"
  },
  { n: 55, roles: M1, object: { type: "organization", id: "org1", org: "org1" }, action: "read", allowed: true, why: "own organization" },
  {
    n: 56,
    roles: ["member", "organization-member:org2"],
    object: { type: "organization", id: "org1", org: "org1" },
    action: "read",
    allowed: false,
    why: "foreign organization"
  },
  {
    n: 57,
    roles: [...M1, "organization-admin:org1"],
    object: { type: "organization" },
    action: "create",
    allowed: false,
    why: "only site owners create"
  },
  {
    n: 58,
    roles: [...M1, "organization-admin:org1"],
    object: { type: "organization", id: "org1", org: "org1" },
    action: "delete",
    allowed: true,
    why: "organization admins delete theirs"
  },
  {
    n: 59,
    roles: ["member", "user-admin"],
    object: { type: "organization", id: "org1", org: "org1" },
    action: "update",
    allowed: false,
    why: "user-admin only reads organizations"
  },
  {
    n: 60,
    roles: M1,
    object: { type: "organization_member", id: "u2", owner: "u2", org: "org1" },
    action: "read",
    allowed: true,
    why: "mode everyone"
  },
  {
    n: 61,
    roles: M1,
    mode: "none",
    object: { type: "organization_member", id: "u2", owner: "u2", org: "org1" },
    action: "read",
    allowed: false,
    why: "mode none"
  },
  {
    n: 62,
    roles: ["member", "organization-user-admin:org1"],
    object: { type: "assign_org_role", org: "org1" },
    action: "assign",
    allowed: true,
    why: "may assign (which roles: assign table)"
  },
  {
    n: 63,
    roles: ["member", "organization-user-admin:org1"],
    object: { type: "assign_org_role", org: "org1" },
    action: "create",
    allowed: false,
    why: "may not define custom roles"
  },
  {
    n: 64,
    roles: [...M1, "organization-admin:org1"],
    object: { type: "assign_role" },
    action: "assign",
    allowed: false,
    why: "site roles are out of reach"
  },
  {
    n: 65,
    roles: ["member", "organization-auditor:org1"],
    object: { type: "audit_log", id: "a1", org: "org1" },
    action: "read",
    allowed: true,
    why: "entries of the organization"
  },
  {
    n: 66,
    roles: ["member", "organization-auditor:org1"],
    object: { type: "audit_log", id: "a1" },
    action: "read",
    allowed: false,
    why: "entries without organization"
  },
  {
    n: 67,
    roles: ["member", "owner"],
    object: { type: "user_secret", id: "s1", owner: "u2" },
    action: "read",
    allowed: false,
    why: "not even owners"
  },
  { n: 68, roles: M1, object: { type: "user_secret", id: "s1", owner: "u1" }, action: "read", allowed: true, why: "own secrets" },
  {
    n: 69,
    roles: ["member", "template-admin"],
    object: { type: "provisioner_jobs", org: "org1" },
    action: "read",
    allowed: false,
    why: "site template-admin lacks jobs"
  },
  {
    n: 70,
    roles: M1,
    object: { type: "template", owner: "u1" },
    action: "create",
    allowed: true,
    why: "owner without organization hits the user-level wildcard (only seen through authcheck)"
  },
  {
    n: 71,
    roles: M1,
    scopes: ["coder:application_connect"],
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "application_connect",
    allowed: true,
    why: "scope allows"
  },
  {
    n: 72,
    roles: M1,
    scopes: ["coder:application_connect"],
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "read",
    allowed: false,
    why: "scope cuts"
  },
  {
    n: 73,
    roles: ["member", "owner"],
    scopes: ["workspace:read", "template:read"],
    object: { type: "template", id: "t1", org: "org1" },
    action: "read",
    allowed: true,
    why: "scopes add up"
  },
  {
    n: 74,
    roles: M1,
    scopes: ["coder:workspaces.access"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "read",
    allowed: false,
    why: "a scope never adds rights"
  },
  {
    n: 75,
    roles: M1,
    allow: "workspace:w1",
    object: { type: "workspace", id: "w1", owner: "u1", org: "org1" },
    action: "update",
    allowed: true,
    why: "allow list names the object"
  },
  {
    n: 76,
    roles: M1,
    allow: "workspace:w1",
    object: { type: "workspace", id: "w2", owner: "u1", org: "org1" },
    action: "update",
    allowed: false,
    why: "allow list does not name it"
  },
  {
    n: 77,
    roles: M1,
    allow: "workspace:w1",
    object: { type: "workspace", owner: "u1", org: "org1" },
    action: "create",
    allowed: false,
    why: "an object without id is not in a list of ids"
  },
  {
    n: 78,
    roles: M1,
    allow: "workspace:*",
    object: { type: "workspace", owner: "u1", org: "org1" },
    action: "create",
    allowed: true,
    why: "type wildcard"
  },
  {
    n: 79,
    roles: [...M1, { name: "tpl-editor", org: "org1", allow: { org: { template: ["read", "update"] } } }],
    object: { type: "template", id: "t1", org: "org1" },
    action: "update",
    allowed: true,
    why: "custom organization role"
  },
  {
    n: 80,
    roles: [{ name: "deny-all", deny: { site: { "*": ["*"] } } }, "organization-admin:org1"],
    object: { type: "workspace", id: "w1", owner: "u2", org: "org1" },
    action: "read",
    allowed: false,
    why: "site-level deny stops user, org and member levels"
  }
]
