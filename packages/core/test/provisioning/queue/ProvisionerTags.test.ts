import { Uuid } from "@atelier/core/platform"
import { canonicalTags, normalizeTags, overlayTags, tagsContain, tagsViolation, untagged } from "@atelier/core/provisioning"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const user = Uuid.Uuid.make("11111111-1111-4111-8111-111111111111")
const tags = fc.dictionary(fc.constantFrom("a", "b", "scope", "owner", "__proto__"), fc.constantFrom("", "1", "2", "organization"))

describe("tags", () => {
  it("of an untagged job fit untagged daemons only", () => {
    const tagged = { ...untagged, a: "1" }
    expect([tagsContain(untagged, untagged), tagsContain(tagged, untagged)]).toStrictEqual([true, false])
    expect([tagsContain(tagged, tagged), tagsContain({ ...tagged, b: "2" }, tagged), tagsContain(untagged, tagged)]).toStrictEqual([
      true,
      true,
      false
    ])
    expect(tagsContain({ ...untagged, A: "1" }, tagged)).toBe(false)
  })

  it("fit a daemon with the same ones, in any order", () => {
    fc.assert(
      fc.property(tags, (job) => {
        expect(tagsContain(Object.fromEntries(Object.entries(job).toReversed()), job)).toBe(true)
      })
    )
  })

  it("of equal content have one text", () => {
    expect(canonicalTags({ b: "2", a: "1" })).toBe(canonicalTags({ a: "1", b: "2" }))
  })

  it("of a request override those of the source, except empty ones", () => {
    expect(overlayTags({ foo: "x", old: "1" }, { foo: "", bar: "y", old: "2" })).toStrictEqual({ foo: "x", bar: "y", old: "2" })
  })

  it("belong to the organization, or to the user whatever owner was given", () => {
    expect(normalizeTags({ a: "1" }, user)).toStrictEqual({ a: "1", scope: "organization", owner: "" })
    expect(normalizeTags({ scope: "galaxy", owner: "me" }, user)).toStrictEqual({ scope: "organization", owner: "" })
    expect(normalizeTags({ scope: "user", owner: "someone" }, user)).toStrictEqual({ scope: "user", owner: user })
  })

  it("have a bound, and hold no NUL and no half of a character", () => {
    expect(tagsViolation({ a: "x".repeat(5_000) })).toBeDefined()
    expect(tagsViolation({ a: "\0" })).toBeDefined()
    expect(tagsViolation({ "\ud83d": "a" })).toBeDefined()
    expect(tagsViolation({ a: "x", b: "\ud83d\ude00", c: "\\u0000" })).toBeUndefined()
  })
})
