import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { judge } from "../../../src/access/decisions/Decision.js"
import { type AccessPredicate, evaluatePredicate, listPredicate } from "../../../src/access/index.js"
import * as arbitrary from "../arbitraries.js"
import { matrixSubject } from "../roles/subjects.js"

const parts = (predicate: AccessPredicate): ReadonlyArray<AccessPredicate> =>
  predicate._tag === "And" || predicate._tag === "Or" ? [predicate, ...predicate.predicates.flatMap(parts)] : [predicate]

describe("the list predicate", () => {
  it("holds for exactly the objects that the decision allows", () => {
    fc.assert(
      fc.property(arbitrary.subject, arbitrary.action, arbitrary.storedObject, (subject, action, object) => {
        expect(evaluatePredicate(listPredicate(subject, action, object.type), object)).toBe(judge(subject, action, object))
      }),
      { numRuns: 10_000 }
    )
  })

  it("has constants only at its root, and no empty list", () => {
    fc.assert(
      fc.property(arbitrary.subject, arbitrary.action, arbitrary.type, (subject, action, type) => {
        const [root, ...inner] = parts(listPredicate(subject, action, type))
        expect(inner.filter(({ _tag }) => _tag === "True" || _tag === "False")).toEqual([])
        for (const part of [root, ...inner]) {
          if (part?._tag === "And" || part?._tag === "Or") expect(part.predicates.length).toBeGreaterThan(1)
          if (part?._tag === "OrgIn") expect(part.organizationIds).not.toEqual([])
          if (part?._tag === "IdIn") expect(part.ids).not.toEqual([])
          if (part?._tag === "AclGroupHas") expect(part.groupIds).not.toEqual([])
        }
      }),
      { numRuns: 2000 }
    )
  })

  it("is true for a site owner, who reads every workspace", () => {
    expect(listPredicate(matrixSubject({ roles: ["member", "owner"] }), "read", "workspace")).toEqual({ _tag: "True" })
  })

  it("is false for a member who lists audit entries of organizations", () => {
    const predicate = listPredicate(matrixSubject({ roles: ["organization-member:org1"] }), "read", "audit_log")
    expect(predicate).toEqual({ _tag: "False" })
  })

  it("is false when the scope does not cover the type", () => {
    const subject = matrixSubject({ roles: ["owner"], scopes: ["workspace:read"] })
    expect(listPredicate(subject, "read", "template")).toEqual({ _tag: "False" })
  })

  it("asks a plain member's workspaces for own ones and shared ones", () => {
    const subject = matrixSubject({ roles: ["member", "organization-member:o", "organization-workspace-access:o"], groups: ["g"] })
    expect(listPredicate(subject, "read", "workspace")).toEqual({
      _tag: "Or",
      predicates: [
        {
          _tag: "And",
          predicates: [
            { _tag: "OwnerIs", userId: "u1" },
            { _tag: "OrgIn", organizationIds: ["o"] }
          ]
        },
        {
          _tag: "And",
          predicates: [
            { _tag: "OrgIn", organizationIds: ["o"] },
            {
              _tag: "Or",
              predicates: [
                { _tag: "AclUserHas", userId: "u1", action: "read" },
                { _tag: "AclGroupHas", groupIds: ["g"], action: "read" },
                { _tag: "AclEveryoneHas", action: "read" }
              ]
            }
          ]
        }
      ]
    })
  })

  it("tests only the organization if an organization admin reads everything", () => {
    const subject = matrixSubject({ roles: ["member", "organization-member:o", "organization-admin:o"] })
    expect(listPredicate(subject, "read", "workspace")).toEqual({ _tag: "OrgIn", organizationIds: ["o"] })
  })

  it("leaves ACLs out where a deployment has switched sharing off", () => {
    const subject = matrixSubject({
      roles: ["member", "organization-member:o", "organization-workspace-access:o"],
      options: { disableWorkspaceSharing: true }
    })
    const tags = (type: "workspace" | "task" | "template") => parts(listPredicate(subject, "read", type)).map(({ _tag }) => _tag)
    expect(tags("workspace")).toEqual(["And", "OwnerIs", "OrgIn"])
    expect(tags("task")).not.toContain("AclEveryoneHas")
    expect(tags("template")).toContain("AclEveryoneHas")
  })

  it("narrows to the ids of an allow list", () => {
    const owner = matrixSubject({ roles: ["owner"], allow: "workspace:w1" })
    expect(listPredicate(owner, "read", "workspace")).toEqual({ _tag: "IdIn", ids: ["w1"] })
    expect(listPredicate(owner, "read", "template")).toEqual({ _tag: "False" })
  })

  it("of a member's own things without organization names the owner", () => {
    expect(listPredicate(matrixSubject({ roles: ["member"] }), "read", "user")).toEqual({
      _tag: "And",
      predicates: [{ _tag: "OwnerIs", userId: "u1" }, { _tag: "OrgIsNull" }]
    })
  })
})
