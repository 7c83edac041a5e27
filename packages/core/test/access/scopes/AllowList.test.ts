import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  actionsOf,
  type AllowList,
  type AllowListEntry,
  type AllowListInput,
  allScope,
  decide,
  expandScopes,
  formatAllowListEntry,
  maxAllowListEntries,
  normalizeAllowList,
  parseAllowList,
  type ResourceType,
  type Role,
  subjectOf
} from "../../../src/access/index.js"
import * as arbitrary from "../arbitraries.js"

const id = "8f6f0a53-4d3f-4a5e-9f6e-2f4f6b1f0a11"
const other = "1c7a1f6e-6a0e-4d1b-8f0b-8d1f5e7c9b22"
const everything: Role = { name: "everything", display_name: "", allow: { site: { "*": ["*"] } }, deny: {} }

/** Whether a credential with the list reaches an object, as far as its user may do everything. */
const contains = (allowList: AllowList, type: ResourceType, id?: string | null): boolean => {
  const roles = [{ role: everything, organizationId: undefined }]
  const subject = subjectOf({ kind: "user", id: "u1", roles, groups: [], scope: expandScopes([allScope]), allowList, options: {} })
  return actionsOf(type).some((action) => decide(subject, action, { type, id }))
}
const parsed = (...inputs: ReadonlyArray<AllowListInput>) =>
  Either.match(parseAllowList(inputs), {
    onLeft: ({ validations }) => validations?.map(({ field, detail }) => `${field}: ${detail}`),
    onRight: (list) => list.map(formatAllowListEntry)
  })

describe("an allow list", () => {
  it("is read from objects and from texts", () => {
    expect(parsed({ type: "workspace", id }, `template:${other}`, "file:*")).toEqual(["file:*", `template:${other}`, `workspace:${id}`])
  })

  it("that was not given holds everything", () => {
    expect(parsed()).toEqual(["*:*"])
  })

  it("takes a UUID in either case for the same", () => {
    expect(parsed(`workspace:${id}`, { type: "workspace", id: id.toUpperCase() })).toEqual([`workspace:${id}`])
  })

  it("drops what a wildcard covers", () => {
    expect(parsed("*:*", `workspace:${id}`)).toEqual(["*:*"])
    expect(parsed(`workspace:${id}`, "workspace:*", `template:${id}`)).toEqual([`template:${id}`, "workspace:*"])
    expect(parsed(`workspace:${id}`, `*:${other}`)).toEqual([`*:${other}`, `workspace:${id}`])
  })

  it.each<[AllowListInput, string]>([
    ["spaceship:*", 'allow_list: unknown resource type "spaceship"'],
    ["workspace", 'allow_list: the id of a workspace entry must be "*" or a UUID, not ""'],
    ["", 'allow_list: unknown resource type ""'],
    [{ type: "workspace", id: "w1" }, 'allow_list: the id of a workspace entry must be "*" or a UUID, not "w1"'],
    [{ type: "toString", id: "*" }, 'allow_list: unknown resource type "toString"']
  ])("refuses %j", (input, fault) => {
    expect(parsed("file:*", input)).toEqual([fault])
  })

  it("is refused with more entries than the bound, even where they mean less", () => {
    expect(parsed(...Array.from({ length: maxAllowListEntries }, () => "workspace:*"))).toEqual(["workspace:*"])
    expect(parsed(...Array.from({ length: maxAllowListEntries + 1 }, () => "workspace:*"))).toEqual([
      "allow_list: at most 128 entries, not 129"
    ])
  })

  it("covers an object without an id by wildcards only", () => {
    const named: ReadonlyArray<AllowListEntry> = [{ type: "workspace", id }]
    expect(contains(named, "workspace", id)).toBe(true)
    expect(contains(named, "workspace", other)).toBe(false)
    expect(contains(named, "template", id)).toBe(false)
    expect(contains(named, "workspace")).toBe(false)
    expect(contains([{ type: "workspace", id: "*" }], "workspace")).toBe(true)
    expect(contains([{ type: "*", id }], "template", id)).toBe(true)
    expect(contains([{ type: "*", id }], "template")).toBe(false)
    expect(contains([{ type: "*", id: "*" }], "template")).toBe(true)
    expect(contains([], "template", id)).toBe(false)
  })

  it("is unchanged by normalizing once it is normal", () => {
    fc.assert(
      fc.property(arbitrary.allowList, (list) => {
        const normal = normalizeAllowList(list)
        expect(normalizeAllowList(normal)).toEqual(normal)
        expect(normalizeAllowList(list.toReversed())).toEqual(normal)
        expect(new Set(normal.map(formatAllowListEntry)).size).toBe(normal.length)
      })
    )
  })

  it("in normal form contains the same objects", () => {
    fc.assert(
      fc.property(arbitrary.allowList, arbitrary.type, fc.constantFrom("a", "b", "z", null), (list, type, id) => {
        expect(contains(normalizeAllowList(list), type, id)).toBe(contains(list, type, id))
      })
    )
  })
})
