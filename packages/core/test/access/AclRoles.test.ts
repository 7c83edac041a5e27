import { changedAcl, readAclChange, roleIn } from "@atelier/core/access"
import { Uuid } from "@atelier/core/platform"
import * as fc from "fast-check"
import { expect, it } from "vitest"

const roles = { use: ["read", "use"], admin: ["*"] }
const ids = fc.constantFrom(...Array.from({ length: 4 }, (_, index) => `00000000-0000-0000-0000-00000000000${index + 1}`))
const asked = fc.dictionary(ids, fc.constantFrom("use", "admin", ""))

it("shows the role of the stored actions in any order, and none for other actions", () => {
  expect(roleIn(roles, ["use", "read"])).toBe("use")
  expect(roleIn(roles, ["*"])).toBe("admin")
  for (const actions of [[], ["read"], ["read", "use", "update"]]) expect(roleIn(roles, actions)).toBe("")
})

it("gives the named users and groups their roles, and keeps the others'", () => {
  fc.assert(
    fc.property(asked, asked, (before, change) => {
      const apply = (acl: Parameters<typeof changedAcl>[0], roleById: Readonly<Record<string, string>>) =>
        changedAcl(acl, readAclChange("users", roleById, roles).change)
      const acl = apply(apply({}, before), change)
      const expected = Object.entries({ ...before, ...change }).filter(([, role]) => role !== "")
      expect(
        Object.entries(acl)
          .map(([id, actions]) => [id, roleIn(roles, actions)])
          .toSorted()
      ).toStrictEqual(expected.toSorted())
    })
  )
})

it("names each invalid id and role", () => {
  const { change, faults } = readAclChange("users", { x: "owner", [Uuid.nil]: "use", [Uuid.nil.replace("0", "A")]: "own" }, roles)
  expect(Array.from(change)).toStrictEqual([[Uuid.nil, roles.use]])
  expect(faults.map(({ field }) => field)).toStrictEqual(["users", "users", "users"])
})
