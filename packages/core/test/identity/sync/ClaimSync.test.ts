import { claimValues, groupsFrom, isAllowedByGroups, organizationsFrom, rolesFrom } from "@atelier/core/identity"
import { Uuid } from "@atelier/core/platform"
import { Either } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const id = (digit: number) => Uuid.Uuid.make(`00000000-0000-4000-8000-00000000000${digit}`)

describe("a claim", () => {
  it("is a list of texts, one text, or nothing", () => {
    const values = (value: unknown) => Either.getOrNull(claimValues({ groups: value }, "groups"))
    expect([values(["a", "b", "a"]), values([]), values("a b"), values(""), values(null), values(undefined)]).toStrictEqual([
      ["a", "b"],
      [],
      ["a b"],
      [],
      [],
      []
    ])
    expect(Either.getOrNull(claimValues({}, "groups"))).toStrictEqual([])
    expect(Either.getOrNull(claimValues({}, "constructor"))).toStrictEqual([])
  })

  it("cannot be read where it is anything else", () => {
    const read: ReadonlyArray<unknown> = ["a,b", ["a", 1], ["a", ["b"]], [null], 7, true, { a: 1 }, Array.from({ length: 10_001 }, String)]
    expect(read.map((value) => Either.isLeft(claimValues({ groups: value }, "groups")))).toStrictEqual(read.map(() => true))
  })

  it("of any form is read or refused", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = claimValues({ groups: value }, "groups")
        if (Either.isRight(read)) expect(read.right.every((text) => typeof text === "string")).toBe(true)
      })
    )
  })
})

describe("what follows from claims", () => {
  it("are the organizations that values stand for, and the default one", () => {
    const settings = { field: "orgs", mapping: { dev: [id(1), id(2)], ops: [id(2)], none: [] } }
    const from = (values: ReadonlyArray<string>, organization_assign_default: boolean) => [
      ...organizationsFrom(values, { ...settings, organization_assign_default }, id(9))
    ]
    expect([from(["dev", "ops", "other", "__proto__"], true), from(["ops"], false), from([], false), from(["none"], true)]).toStrictEqual([
      [id(9), id(1), id(2)],
      [id(2)],
      [],
      [id(9)]
    ])
  })

  it("map values to groups by id, or by name without a mapping, after the filter", () => {
    const settings = {
      field: "groups",
      mapping: { "dev-core": [id(1), id(2)], "dev-none": [] },
      regex_filter: "^dev-",
      auto_create_missing_groups: true,
      legacy_group_name_mapping: { old: "dev-old", "dev-renamed": "ops" }
    }
    const from = (values: ReadonlyArray<string>, more: Partial<typeof settings> = {}) => {
      const wanted = Either.getOrThrow(groupsFrom(values, { ...settings, ...more }))
      return [[...wanted.ids], [...wanted.names]]
    }
    expect(from(["dev-a", "ops", "dev-core", "dev-none", "old", "dev-renamed", "a dev-b"])).toStrictEqual([
      [id(1), id(2)],
      ["dev-a", "dev-old"]
    ])
    expect(from(["a dev-b"], { regex_filter: "dev-" })).toStrictEqual([[], ["a dev-b"]])
    expect(Either.isLeft(groupsFrom(["a"], { ...settings, regex_filter: "(" }))).toBe(true)
    expect(Either.getOrThrow(groupsFrom(["ops"], { ...settings, regex_filter: null })).names).toStrictEqual(new Set(["ops"]))
  })

  it("are names of roles, each once", () => {
    expect(rolesFrom(["lead", "auditor", "other"], { lead: ["custom", "auditor"] })).toStrictEqual(["auditor", "custom", "other"])
    expect(rolesFrom(["auditor"], { auditor: [] })).toStrictEqual([])
    expect(rolesFrom([], {})).toStrictEqual([])
  })

  it("decide whether the user may log in", () => {
    expect([
      isAllowedByGroups([], []),
      isAllowedByGroups(["a"], []),
      isAllowedByGroups([], ["a"]),
      isAllowedByGroups(["b", "a"], ["a"])
    ]).toStrictEqual([true, true, false, true])
  })
})
