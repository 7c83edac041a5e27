import { describe, expect, it } from "vitest"
import { buildSubject, decide, roleNames, type Role, type SubjectInput, unrestrictedAllowList } from "../../../src/access/index.js"

const input: SubjectInput = {
  userId: "u1",
  siteRoles: [],
  memberships: [],
  scopes: ["coder:all"],
  allowList: unrestrictedAllowList
}
const membership = {
  organizationId: "org1",
  roles: [],
  defaultMemberRoles: ["organization-workspace-access"],
  shareMode: "everyone",
  isServiceAccount: false
} as const
const names = (given: Partial<SubjectInput>) =>
  roleNames(buildSubject({ ...input, ...given })).map(({ name, organizationId }) => (organizationId ? `${name}:${organizationId}` : name))

describe("the subject of a user", () => {
  it("is always a member", () => {
    expect(names({})).toEqual(["member"])
    expect(names({ siteRoles: ["member", "owner"] })).toEqual(["member", "owner"])
  })

  it("holds the roles of its memberships and the organizations' default roles", () => {
    expect(names({ memberships: [{ ...membership, roles: ["organization-auditor"] }] })).toEqual([
      "member",
      "organization-member:org1",
      "organization-auditor:org1",
      "organization-workspace-access:org1"
    ])
  })

  it("holds the service account's role instead where it is one", () => {
    expect(names({ memberships: [{ ...membership, isServiceAccount: true, defaultMemberRoles: [] }] })).toEqual([
      "member",
      "organization-service-account:org1"
    ])
  })

  it("gets nothing from names that mean nothing, or mean something elsewhere", () => {
    expect(names({ siteRoles: ["nobody", "organization-admin"], memberships: [{ ...membership, roles: ["owner", "gone"] }] })).toEqual([
      "member",
      "organization-member:org1",
      "organization-workspace-access:org1"
    ])
  })

  it("loses and regains workspaces with the organization's default role", () => {
    const own = { type: "workspace", owner: "u1", org: "org1" } as const
    const without = buildSubject({ ...input, memberships: [{ ...membership, defaultMemberRoles: [] }] })
    const withDefault = buildSubject({ ...input, memberships: [membership] })
    expect(decide(without, "create", own)).toBe(false)
    expect(decide(withDefault, "create", own)).toBe(true)
  })

  it("holds custom roles in their current form", () => {
    const role = (actions: ReadonlyArray<"read" | "update">): Role => ({
      name: "editor",
      display_name: "Editor",
      organization_id: "org1",
      allow: { org: { template: actions } },
      deny: {}
    })
    const template = { type: "template", id: "t1", org: "org1" } as const
    const holder = (actions: ReadonlyArray<"read" | "update">) =>
      buildSubject({ ...input, memberships: [{ ...membership, roles: ["editor"] }], customRoles: [role(actions)] })
    expect(decide(holder(["read", "update"]), "update", template)).toBe(true)
    expect(decide(holder([]), "update", template)).toBe(false)
  })

  it("is a member of an organization in which it holds an empty role", () => {
    const subject = buildSubject({ ...input, memberships: [{ ...membership, defaultMemberRoles: [] }] })
    expect(decide(subject, "use", { type: "template", id: "t1", org: "org1", aclGroup: { org1: ["read", "use"] } })).toBe(true)
  })

  it("can do nothing by a credential whose allow list is empty", () => {
    const subject = buildSubject({ ...input, siteRoles: ["owner"], allowList: [] })
    expect(decide(subject, "read", { type: "workspace", id: "w1", org: "org1" })).toBe(false)
  })
})
