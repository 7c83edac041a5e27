import { describe, expect, it } from "vitest"
import { authcheck, type AuthorizationObject } from "../../../src/access/index.js"
import { matrixSubject } from "../roles/subjects.js"

const member = matrixSubject({ roles: ["member", "organization-member:org1", "organization-workspace-access:org1"] })
const check = (object: AuthorizationObject, action: string, subject = member) => authcheck(subject, { object, action })

describe("a check of oneself", () => {
  it("shows a member its rights on its own workspaces", () => {
    const own = { resource_type: "workspace", owner_id: "me", organization_id: "org1" }
    expect(check(own, "read")).toBe(true)
    expect(check(own, "ssh")).toBe(true)
    expect(check(own, "create")).toBe(true)
    expect(check({ resource_type: "workspace", organization_id: "org1" }, "read")).toBe(false)
    expect(check({ ...own, owner_id: "u1" }, "read")).toBe(true)
  })

  it("tests the user level where an owner is given without organization", () => {
    expect(check({ resource_type: "template", owner_id: "me" }, "create")).toBe(true)
  })

  it("asks about any organization, unless one is named too", () => {
    expect(check({ resource_type: "workspace", owner_id: "me", any_org: true }, "create")).toBe(true)
    expect(check({ resource_type: "workspace", owner_id: "me", any_org: true, organization_id: "elsewhere" }, "create")).toBe(false)
    expect(check({ resource_type: "template", any_org: true }, "create")).toBe(false)
  })

  it("takes empty texts for absent", () => {
    expect(check({ resource_type: "template", owner_id: "me", organization_id: "" }, "create")).toBe(true)
    expect(check({ resource_type: "template", owner_id: "", organization_id: "" }, "create")).toBe(false)
  })

  it("answers no for types and actions that do not exist", () => {
    expect(check({ resource_type: "spaceship", owner_id: "me" }, "read")).toBe(false)
    expect(check({ resource_type: "__proto__", owner_id: "me" }, "read")).toBe(false)
    expect(check({ resource_type: "user", owner_id: "me" }, "fly")).toBe(false)
  })

  it("lets a wildcard cover an action that does not exist", () => {
    expect(check({ resource_type: "template" }, "fly", matrixSubject({ roles: ["owner"] }))).toBe(true)
  })

  it("judges with the scope and the allow list of the credential", () => {
    const scoped = matrixSubject({ roles: ["owner"], scopes: ["workspace:read"] })
    expect(check({ resource_type: "template", organization_id: "org1" }, "read", scoped)).toBe(false)
    expect(check({ resource_type: "workspace" }, "read", scoped)).toBe(true)
    const listed = matrixSubject({ roles: ["owner"], allow: "workspace:w1" })
    expect(check({ resource_type: "workspace" }, "read", listed)).toBe(false)
  })
})
