import { describe, expect, it } from "vitest"
import { beyond, grantsOf, holdsWhateverRolesAllow, roleOf, validGrants } from "../../../src/access/index.js"
import { Uuid } from "../../../src/platform/index.js"
import { matrixSubject } from "./subjects.js"

describe("what a custom role allows", () => {
  it("is what exists, each action once", () => {
    expect(validGrants({ template: ["read", "read", "ssh", "*"], "*": ["read"], teapot: ["read"], __proto__x: ["read"] })).toEqual({
      template: ["read"]
    })
    expect(
      grantsOf([
        { resource_type: "group", action: "read" },
        { resource_type: "template", action: "update" },
        { resource_type: "group", action: "create" },
        { resource_type: "group", action: "teach" }
      ])
    ).toEqual({ group: ["read", "create"], template: ["update"] })
  })

  it("counts in the whole organization and is never a deny", () => {
    const organization_id = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000001")
    expect(roleOf({ name: "crew", display_name: "Crew", organization_id, permissions: { group: ["read"] } })).toEqual({
      name: "crew",
      display_name: "Crew",
      organization_id,
      allow: { org: { group: ["read"] } },
      deny: {}
    })
  })

  it("is given only by actors with the same right in the whole organization", () => {
    const grants = { template: ["read", "update"], workspace: ["ssh"] } as const
    const lacking = (roles: ReadonlyArray<string>, scopes?: ReadonlyArray<string>) =>
      beyond(matrixSubject({ roles, ...(scopes === undefined ? {} : { scopes }) }), "org1", grants)
    expect(lacking(["member", "owner"])).toEqual([])
    expect(lacking(["member", "organization-admin:org1", "organization-workspace-access:org1"])).toEqual(["workspace:ssh"])
    expect(lacking(["member", "organization-admin:org2"])).toEqual(["template:read", "template:update", "workspace:ssh"])
    expect(lacking(["member", "owner"], ["template:read"])).toEqual(["template:update", "workspace:ssh"])
  })

  it("may grow to the rights of owners, which only they hold", () => {
    const holds = (row: Parameters<typeof matrixSubject>[0]) => holdsWhateverRolesAllow(matrixSubject(row), "org1")
    expect(holds({ roles: ["member", "owner"] })).toBe(true)
    expect(holds({ roles: ["member", "owner"], options: { disableOwnerWorkspaceAccess: true } })).toBe(true)
    expect(holds({ roles: ["member", "owner"], scopes: ["workspace:*"] })).toBe(false)
    expect(holds({ roles: ["member", "owner"], allow: "template:t1" })).toBe(false)
    expect(holds({ roles: ["member", "user-admin", "organization-admin:org1", "organization-workspace-access:org1"] })).toBe(false)
  })
})
