import { changedRoles, joinedOrganizations, type Mapping } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"

const names = new Set(["admin", "auditor", "crew"])

const roleChange = (before: Mapping, after: Mapping, fields: readonly [string, string] = ["r", "r"]) => {
  const { given, taken } = changedRoles({ field: fields[0], mapping: before }, { field: fields[1], mapping: after }, names)
  return [[...given].toSorted(), [...taken].toSorted()]
}

describe("the roles that a change of settings gives and takes", () => {
  it.each<readonly [string, Mapping, Mapping, ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["nothing for what stays", { a: ["admin"], b: [] }, { b: [], a: ["admin"] }, [], []],
    ["what a value is newly mapped to", {}, { a: ["crew", "later"] }, ["crew", "later"], []],
    ["what another value has had already", { a: ["admin"] }, { a: ["admin"], b: ["admin"] }, ["admin"], []],
    ["what a value is mapped to no more", { a: ["crew", "gone"], b: ["auditor"] }, { a: [] }, [], ["auditor", "crew"]],
    ["the role that a value names no more", {}, { admin: ["crew"] }, ["crew"], ["admin"]],
    ["the role that a value names again", { admin: [] }, {}, ["admin"], []],
    ["nothing for a value that names no role", { a: [] }, {}, [], []]
  ])("are %s", (_, before, after, given, taken) => {
    expect(roleChange(before, after)).toStrictEqual([given, taken])
  })

  it("are all roles when the claim changes, and empty without a claim", () => {
    const all = ["admin", "auditor", "crew"]
    expect(roleChange({}, { a: ["later"] }, ["", "nickname"])).toStrictEqual([[...all, "later"].toSorted(), all])
    expect(roleChange({ a: ["crew"] }, { a: ["crew"] }, ["groups", "nickname"])).toStrictEqual([all, all])
    expect(roleChange({ a: ["crew"] }, { a: ["crew"] }, ["groups", ""])).toStrictEqual([[], []])
  })
})

describe("the organizations that a change of settings lets users into", () => {
  const [one, two, home] = [1, 2, 3].map((digit) => Uuid.Uuid.make(`00000000-0000-4000-8000-00000000000${digit}`))
  if (one === undefined || two === undefined || home === undefined) throw new Error("three ids")
  const joined = (
    before: readonly [field: string, mapping: Mapping<Uuid.Uuid>, assignsDefault: boolean],
    after: readonly [field: string, mapping: Mapping<Uuid.Uuid>, assignsDefault: boolean]
  ) => {
    const settings = ([field, mapping, organization_assign_default]: typeof before) => ({ field, mapping, organization_assign_default })
    return [...joinedOrganizations(settings(before), settings(after), home)].toSorted()
  }

  it("are those of new pairs, and the default one when everybody comes to be in it", () => {
    expect(joined(["f", { a: [one] }, true], ["f", { a: [one, two] }, true])).toStrictEqual([two])
    expect(joined(["f", { a: [one] }, true], ["f", { b: [one] }, true])).toStrictEqual([one])
    expect(joined(["f", { a: [one] }, true], ["f", {}, false])).toStrictEqual([])
    expect(joined(["f", {}, false], ["f", {}, true])).toStrictEqual([home])
  })

  it("are all when another claim is followed", () => {
    expect(joined(["", { a: [one] }, true], ["f", { a: [one] }, true])).toStrictEqual([one, home])
    expect(joined(["f", { a: [one] }, true], ["", { a: [one] }, true])).toStrictEqual([])
  })
})
