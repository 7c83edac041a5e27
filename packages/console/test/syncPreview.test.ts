import { describe, expect, it } from "vitest"
import { matchesOf } from "../src/screens/sync/filter.js"
import { claimValues, previewOf, readClaims, type Rules, type Target, Unreadable } from "../src/screens/sync/preview.js"

const targets: ReadonlyArray<Target> = [
  { value: "1", name: "platform", label: "Platform team" },
  { value: "2", name: "data", label: "data" }
]
const rules: Rules = {
  field: "groups",
  mapping: { engineers: ["1", "2", "gone"], nobody: [] },
  matching: undefined,
  followsNames: true,
  creates: false,
  always: []
}

describe("claims", () => {
  it("are read from JSON, and from a token", () => {
    const payload = Buffer.from(JSON.stringify({ groups: ["ü"] })).toString("base64url")
    expect(readClaims('{"groups":["ü"]}')).toStrictEqual({ groups: ["ü"] })
    expect(readClaims(`e30.${payload}.c2ln`)).toStrictEqual({ groups: ["ü"] })
    expect([readClaims("["), readClaims("[]"), readClaims("1.2")]).toStrictEqual([
      new Unreadable("json"),
      new Unreadable("object"),
      new Unreadable("object")
    ])
  })

  it("are a text or a list of texts", () => {
    expect(claimValues({ groups: "one" }, "groups")).toStrictEqual(["one"])
    expect(claimValues({ groups: ["one", "one", "two"] }, "groups")).toStrictEqual(["one", "two"])
    expect([claimValues({}, "groups"), claimValues({ groups: null }, "toString")]).toStrictEqual([[], []])
    expect([{ groups: "a,b" }, { groups: 1 }, { groups: [1] }].map((claims) => claimValues(claims, "groups"))).toStrictEqual([
      new Unreadable("commas"),
      new Unreadable("kind"),
      new Unreadable("texts")
    ])
  })
})

describe("a preview", () => {
  it("follows the mapping, then names", () => {
    expect(previewOf({ groups: ["engineers", "data", "nobody", "other"] }, rules, targets)).toStrictEqual({
      outcomes: [
        ["engineers", { kind: "gets", labels: ["Platform team", "data"], by: "mapping" }],
        ["data", { kind: "gets", labels: ["data"], by: "name" }],
        ["nobody", { kind: "nothing" }],
        ["other", { kind: "unknown" }]
      ],
      all: ["Platform team", "data"]
    })
  })

  it("makes missing groups, and passes over what the filter does not match", () => {
    const claims = { groups: ["Team-a", "other"] }
    const matching = matchesOf({ filter: "(?i)^team-(?P<name>.)", values: claims.groups })
    expect(previewOf(claims, { ...rules, creates: true, matching: new Set(matching) }, targets)).toMatchObject({
      outcomes: [
        ["Team-a", { kind: "created" }],
        ["other", { kind: "passedOver" }]
      ],
      all: ["Team-a"]
    })
    expect(matchesOf({ filter: "(", values: claims.groups })).toBe(undefined)
  })

  it("has what every user gets, and no names where only mappings count", () => {
    expect(previewOf({ groups: ["data"] }, { ...rules, followsNames: false, always: ["1"] }, targets)).toStrictEqual({
      outcomes: [["data", { kind: "unknown" }]],
      all: ["Platform team"]
    })
  })
})
