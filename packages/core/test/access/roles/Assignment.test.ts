import { describe, expect, it } from "vitest"
import {
  assignable,
  organizationRoles,
  type RoleName,
  roleChangeRefusal,
  roleNames,
  siteRoles,
  SystemActor
} from "../../../src/access/index.js"
import { matrixSubject } from "./subjects.js"

const held = (name: string, organizationId?: string): ReadonlyArray<RoleName> => [{ name, organizationId }]
const inOrg = [...organizationRoles.map(({ name }) => name), "organization-member", "organization-service-account", "my-custom-role"]
const onSite = [...siteRoles.map(({ name }) => name), "my-custom-role"]
const givenBy = (actor: ReadonlyArray<RoleName>) => ({
  site: onSite.filter((name) => assignable(actor, name)),
  organization: inOrg.filter((name) => assignable(actor, name, "org1"))
})
const everyOrganizationRole = inOrg.filter((name) => name !== "organization-service-account")
const plain = ["organization-workspace-access", "agents-access", "organization-member"]

describe("the assign table", () => {
  it("lets owners and the system give every role except the service accounts' own", () => {
    expect(givenBy(held("owner"))).toEqual({ site: onSite, organization: everyOrganizationRole })
    expect(givenBy(roleNames(SystemActor.systemRestricted.subject))).toEqual({ site: onSite, organization: everyOrganizationRole })
  })

  it("lets user admins give what plain members have", () => {
    expect(givenBy(held("user-admin"))).toEqual({ site: ["member"], organization: plain })
  })

  it("lets organization admins give every role of their organization only", () => {
    expect(givenBy(held("organization-admin", "org1"))).toEqual({ site: [], organization: everyOrganizationRole })
    expect(givenBy(held("organization-admin", "org2"))).toEqual({ site: [], organization: [] })
  })

  it("lets organization user admins give the roles of plain members", () => {
    expect(givenBy(held("organization-user-admin", "org1"))).toEqual({ site: [], organization: plain })
    expect(givenBy(held("organization-user-admin", "org2"))).toEqual({ site: [], organization: [] })
  })

  it.each(["member", "auditor", "template-admin", "scim"])("lets %s give nothing", (name) => {
    expect(givenBy(held(name))).toEqual({ site: [], organization: [] })
  })

  it.each(["organization-member", "organization-auditor", "organization-template-admin", "my-custom-role", "system", "owner"])(
    "lets %s of an organization give nothing",
    (name) => {
      expect(givenBy(held(name, "org1"))).toEqual({ site: [], organization: [] })
    }
  )
})

describe("a change of roles", () => {
  const change = {
    organizationId: "org1",
    before: ["organization-auditor"],
    after: ["organization-member", "organization-workspace-access"]
  }

  it("is refused without the permission to assign, before the table is looked at", () => {
    expect(roleChangeRefusal(matrixSubject({ roles: ["member", "organization-member:org1"] }), change)).toEqual({
      _tag: "NotPermitted",
      action: "assign"
    })
  })

  it("is refused where a removed role is not in the actor's table", () => {
    expect(roleChangeRefusal(matrixSubject({ roles: ["organization-user-admin:org1"] }), change)).toEqual({
      _tag: "NotAssignable",
      roles: ["organization-auditor"]
    })
  })

  it("is allowed where every added and removed role is", () => {
    expect(roleChangeRefusal(matrixSubject({ roles: ["organization-admin:org1"] }), change)).toBeNull()
  })

  it("needs only the permission for its direction", () => {
    const mayTake = matrixSubject({ roles: ["owner", { name: "no-assign", deny: { site: { assign_role: ["assign"] } } }] })
    expect(roleChangeRefusal(mayTake, { before: ["auditor"], after: [] })).toBeNull()
    expect(roleChangeRefusal(mayTake, { before: [], after: ["auditor"] })).toEqual({ _tag: "NotPermitted", action: "assign" })
    expect(roleChangeRefusal(matrixSubject({ roles: [] }), { before: ["auditor"], after: ["auditor"] })).toBeNull()
  })

  it("is not open to a custom role that holds the permission", () => {
    const subject = matrixSubject({
      roles: [{ name: "system", org: "org1", allow: { org: { assign_org_role: ["assign", "unassign"] } } }]
    })
    expect(roleChangeRefusal(subject, { organizationId: "org1", before: [], after: ["organization-admin"] })).toEqual({
      _tag: "NotAssignable",
      roles: ["organization-admin"]
    })
  })

  it("of site roles asks for the site's permission", () => {
    expect(roleChangeRefusal(matrixSubject({ roles: ["user-admin"] }), { before: [], after: ["owner"] })).toEqual({
      _tag: "NotAssignable",
      roles: ["owner"]
    })
    expect(roleChangeRefusal(matrixSubject({ roles: ["owner"] }), { before: ["auditor"], after: ["owner"] })).toBeNull()
  })
})
