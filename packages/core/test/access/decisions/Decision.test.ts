import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  evaluatePredicate,
  expandScopes,
  externalScopes,
  listPredicate,
  normalizeAllowList,
  permits,
  prebuildsUserId,
  subjectOf
} from "../../../src/access/index.js"
import { judge } from "../../../src/access/decisions/Decision.js"
import * as arbitrary from "../arbitraries.js"
import { matrix } from "../roles/matrix.js"
import { modelDecision } from "../roles/model.js"
import { matrixSubject } from "../roles/subjects.js"

const implies = (first: boolean, second: boolean) => !first || second

describe("the decision matrix", () => {
  it.each(matrix)("$n: $action on $object.type is allowed: $allowed ($why)", (row) => {
    expect(judge(matrixSubject(row), row.action, row.object)).toBe(row.allowed)
  })

  it.each(matrix.filter(({ object }) => !object.anyOrg))("$n: the list predicate says the same", (row) => {
    expect(evaluatePredicate(listPredicate(matrixSubject(row), row.action, row.object.type), row.object)).toBe(row.allowed)
  })
})

describe("the decision", () => {
  it("is the one the specification's formula makes", () => {
    fc.assert(
      fc.property(arbitrary.subject, arbitrary.action, arbitrary.object, (subject, action, object) => {
        expect(judge(subject, action, object)).toBe(modelDecision(subject, action, object))
      }),
      { numRuns: 1500 }
    )
  })

  it("never allows more for losing a role that denies nothing", () => {
    fc.assert(
      fc.property(
        arbitrary.subject,
        arbitrary.heldRole(arbitrary.positiveRole),
        arbitrary.action,
        arbitrary.object,
        (subject, held, action, object) => {
          const richer = subjectOf({ ...subject, roles: [...subject.roles, held] })
          expect(implies(judge(subject, action, object), judge(richer, action, object))).toBe(true)
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("never allows more for a deny added to a role that is held", () => {
    fc.assert(
      fc.property(arbitrary.subject, arbitrary.customRole, arbitrary.action, arbitrary.object, (subject, custom, action, object) => {
        fc.pre(subject.roles.length > 0)
        const [first, ...rest] = subject.roles
        if (first === undefined) return
        const denying = subjectOf({
          ...subject,
          roles: [first, { role: { ...custom, allow: {} }, organizationId: first.organizationId }, ...rest]
        })
        expect(implies(judge(denying, action, object), judge(subject, action, object))).toBe(true)
      }),
      { numRuns: 1000 }
    )
  })

  it("never allows more within a scope than without", () => {
    fc.assert(
      fc.property(
        arbitrary.subject,
        fc.subarray([...externalScopes]),
        arbitrary.action,
        arbitrary.object,
        (subject, names, action, object) => {
          const whole = judge({ ...subject, scope: expandScopes(["coder:all"]) }, action, object)
          const narrowed = judge({ ...subject, scope: expandScopes(names) }, action, object)
          expect(implies(narrowed, whole)).toBe(true)
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("allows no more with an allow list than without", () => {
    fc.assert(
      fc.property(arbitrary.subject, arbitrary.allowList, arbitrary.action, arbitrary.object, (subject, allowList, action, object) => {
        const whole = judge({ ...subject, allowList: [{ type: "*", id: "*" }] }, action, object)
        const narrowed = judge({ ...subject, allowList }, action, object)
        expect(implies(narrowed, whole)).toBe(true)
        expect(judge({ ...subject, allowList: normalizeAllowList(allowList) }, action, object)).toBe(narrowed)
      }),
      { numRuns: 1000 }
    )
  })

  it("gives nothing to a subject without roles, groups or entries", () => {
    const nobody = matrixSubject({ roles: [] })
    fc.assert(
      fc.property(arbitrary.action, arbitrary.object, (action, object) => {
        expect(judge(nobody, action, { ...object, org: "o1", aclUser: { u1: ["*"] }, aclGroup: { o1: ["*"] } })).toBe(false)
      })
    )
  })

  it("does not treat an object without an owner as the subject's own", () => {
    const member = matrixSubject({ roles: ["member"] })
    expect(judge(member, "read", { type: "user_secret", owner: "u1" })).toBe(true)
    expect(judge(member, "read", { type: "user_secret" })).toBe(false)
    expect(judge({ ...member, id: "" }, "read", { type: "user_secret" })).toBe(false)
  })

  it("does not read ACL entries that every object inherits", () => {
    const subject = { ...matrixSubject({ roles: ["organization-member:org1"] }), id: "constructor" }
    expect(judge(subject, "read", { type: "template", org: "org1", aclUser: {} })).toBe(false)
  })

  it("ignores the organization of an object of any organization", () => {
    const subject = matrixSubject({ roles: ["organization-template-admin:org1"] })
    expect(judge(subject, "create", { type: "template", org: "elsewhere", anyOrg: true })).toBe(true)
  })
})

describe("the second chance of prebuilt workspaces", () => {
  const prebuilt = { type: "workspace", id: "w1", org: "org1", owner: prebuildsUserId } as const
  const templateAdmin = matrixSubject({ roles: ["organization-template-admin:org1"] })

  it("lets a template admin update and delete them, and nothing else", () => {
    expect(permits(templateAdmin, "update", prebuilt)).toBe(true)
    expect(permits(templateAdmin, "delete", prebuilt)).toBe(true)
    expect(permits(templateAdmin, "start", prebuilt)).toBe(false)
    expect(permits(templateAdmin, "ssh", prebuilt)).toBe(false)
    const generous = matrixSubject({ roles: [{ name: "all-prebuilt", allow: { site: { prebuilt_workspace: ["*"] } } }] })
    expect(permits(generous, "update", prebuilt)).toBe(true)
    expect(permits(generous, "ssh", prebuilt)).toBe(false)
  })

  it("does not apply to another user's workspace", () => {
    expect(permits(templateAdmin, "delete", { ...prebuilt, owner: "u2" })).toBe(false)
  })

  it("stays within the organization", () => {
    expect(permits(templateAdmin, "delete", { ...prebuilt, org: "org2" })).toBe(false)
  })
})
