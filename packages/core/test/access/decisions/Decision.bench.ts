/**
 * What a decision costs: ten roles in ten organizations. Run with `npx vitest bench --project core access`. Measured on two cores at
 * 2 GHz, see docs/authorization.md.
 */
import { bench, describe } from "vitest"
import { buildSubject, decide, listPredicate, type Subject, unrestrictedAllowList } from "../../../src/access/index.js"

const organizations = Array.from({ length: 10 }, (_, index) => `organization-${index}`)

const subject = (): Subject =>
  buildSubject({
    userId: "u1",
    siteRoles: [],
    memberships: organizations.map((organizationId) => ({
      organizationId,
      roles: [],
      defaultMemberRoles: [],
      shareMode: "everyone",
      isServiceAccount: false
    })),
    groupIds: ["g1", "g2", "g3"],
    scopes: ["coder:all"],
    allowList: unrestrictedAllowList
  })

const held = subject()
const workspace = { type: "workspace", id: "w1", owner: "u1", org: "organization-7", aclGroup: { g3: ["read"] } } as const

describe("ten roles in ten organizations", () => {
  bench("a check", () => {
    decide(held, "read", workspace)
  })
  bench("a check of any organization", () => {
    decide(held, "create", { type: "workspace", owner: "u1", anyOrg: true })
  })
  bench("a list's condition", () => {
    listPredicate(held, "read", "workspace")
  })
  bench("a request's subject and its first check", () => {
    decide(subject(), "read", workspace)
  })
})
