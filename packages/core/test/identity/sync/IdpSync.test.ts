import { changedMapping, idpSyncViolations, type Mapping, type MappingPair } from "@atelier/core/identity"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const word = fc.constantFrom("a", "b", "c", "__proto__", "constructor")
const pairs = fc.array(fc.record({ given: word, gets: word }), { maxLength: 8 })
const mappings = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.uniqueArray(word, { maxLength: 4 }))

const has = (mapping: Mapping, { gets, given }: MappingPair) => Object.hasOwn(mapping, given) && mapping[given]?.includes(gets) === true

describe("a change of a mapping", () => {
  it("adds each pair once, takes others away, and lets taking away win", () => {
    expect(
      changedMapping(
        { dev: ["1", "2"], ops: ["3"] },
        {
          add: [
            { given: "dev", gets: "1" },
            { given: "dev", gets: "4" },
            { given: "new", gets: "5" },
            { given: "both", gets: "6" }
          ],
          remove: [
            { given: "ops", gets: "3" },
            { given: "both", gets: "6" },
            { given: "nothing", gets: "7" }
          ]
        }
      )
    ).toStrictEqual({ dev: ["1", "2", "4"], ops: [], new: ["5"], both: [] })
  })

  it("has the former and the added values without the removed ones", () => {
    fc.assert(
      fc.property(mappings, pairs, pairs, (mapping, add, remove) => {
        const changed = changedMapping(mapping, { add, remove })
        const gone = (pair: MappingPair) => remove.some(({ gets, given }) => gets === pair.gets && given === pair.given)
        const before = Object.entries(mapping).flatMap(([given, gets]) => gets.map((each) => ({ given, gets: each })))
        for (const pair of [...before, ...add]) expect(has(changed, pair)).toBe(!gone(pair))
        const after = Object.entries(changed).flatMap(([given, gets]) => gets.map((each) => ({ given, gets: each })))
        for (const pair of after) expect(has(mapping, pair) || add.some((added) => has({ [added.given]: [added.gets] }, pair))).toBe(true)
        for (const gets of Object.values(changed)) expect(new Set(gets).size).toBe(gets.length)
        expect(Object.keys(changed)).toEqual(expect.arrayContaining(Object.keys(mapping)))
      })
    )
  })

  it("changes nothing when repeated", () => {
    fc.assert(
      fc.property(mappings, pairs, pairs, (mapping, add, remove) => {
        const once = changedMapping(mapping, { add, remove })
        const sorted = (value: Mapping) => Object.entries(value).map(([given, gets]) => [given, gets.toSorted()])
        expect(sorted(changedMapping(once, { add, remove }))).toStrictEqual(sorted(once))
      })
    )
  })
})

describe("settings", () => {
  const groups = { field: "groups", mapping: {}, regex_filter: null, auto_create_missing_groups: false, legacy_group_name_mapping: {} }

  it("have bounds, and a filter that can be read", () => {
    const fieldsOf = (settings: Parameters<typeof idpSyncViolations>[0]) => idpSyncViolations(settings).map(({ field }) => field)
    const long = "x".repeat(1025)
    const many = Array.from({ length: 10_000 }, (_, index) => String(index))
    expect([
      fieldsOf(groups),
      fieldsOf({ ...groups, regex_filter: "^dev-" }),
      fieldsOf({ ...groups, regex_filter: "(" }),
      fieldsOf({ ...groups, regex_filter: "(?=x)" }),
      fieldsOf({ field: long, mapping: { [long]: [] } }),
      fieldsOf({ field: "", mapping: { a: [long] } }),
      fieldsOf({ field: "", mapping: { a: many } }),
      fieldsOf({ field: "", mapping: { a: many.slice(1) } })
    ]).toStrictEqual([[], [], ["regex_filter"], ["regex_filter"], ["field", "mapping"], ["mapping"], ["mapping"], []])
  })
})
