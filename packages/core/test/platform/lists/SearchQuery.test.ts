import { SearchQuery } from "@atelier/core/platform"
import { describe, expect, it } from "vitest"
import * as fc from "fast-check"
import { Either } from "effect"
import { codePoint } from "../../../../../test/records/codePoint.js"
import { longestTurn } from "../longestTurn.js"

const users = SearchQuery.language(
  {
    search: SearchQuery.one(SearchQuery.text),
    username: SearchQuery.one(SearchQuery.text),
    status: SearchQuery.list(SearchQuery.oneOf("active", "dormant", "suspended")),
    service_account: SearchQuery.one(SearchQuery.boolean),
    github_com_user_id: SearchQuery.one(SearchQuery.integer),
    created_before: SearchQuery.one(SearchQuery.timestamp),
    day: SearchQuery.one(SearchQuery.date),
    id: SearchQuery.list(SearchQuery.uuid),
    param: SearchQuery.list(SearchQuery.text)
  },
  "search"
)

const nothing = {
  search: undefined,
  username: undefined,
  status: [],
  service_account: undefined,
  github_com_user_id: undefined,
  created_before: undefined,
  day: undefined,
  id: [],
  param: []
}

const parsed = (query: string) => Either.getOrThrow(SearchQuery.parse(users, query))
const refused = (query: string) => Either.getOrThrow(Either.flip(SearchQuery.parse(users, query))).validations

describe("a search query", () => {
  it.each([
    ["", {}],
    ["   ", {}],
    ["Ada  Lovelace", { search: "ada lovelace" }],
    ['"Ada: the first"', { search: "ada: the first" }],
    ["username:Ada", { username: "ada" }],
    ['"username":"ada lovelace" engine', { username: "ada lovelace", search: "engine" }],
    ['username:"a:b"', { username: "a:b" }],
    ['username:"" status:""', {}],
    ['username:"not closed', { username: "not closed" }],
    ["status:active,dormant status:suspended", { status: ["active", "dormant", "suspended"] }],
    ["service_account:T github_com_user_id:-7", { service_account: true, github_com_user_id: -7 }],
    ['created_before:"2026-01-31T23:59:59+01:00"', { created_before: "2026-01-31T22:59:59.000Z" }],
    ["day:2024-02-29", { day: "2024-02-29" }],
    ["id:0D4E1D3C-0000-7000-8000-000000000001", { id: ["0d4e1d3c-0000-7000-8000-000000000001"] }],
    ["param:size=4,zone=a, param:region=eu", { param: ["size=4", "zone=a", "region=eu"] }],
    ["username::ada", { username: "ada" }],
    ['username:::":a"', { username: ":a" }]
  ])("reads %s", (query, expected) => {
    expect(parsed(query)).toStrictEqual({ ...nothing, ...expected })
  })

  it.each([
    ["foo:bar", "foo", '"foo:bar" at character 1 is not a filter of this list'],
    ["a:b:c", "q", '"a:b:c" at character 1 has more than one colon outside quotes'],
    ["a::b:c", "q", '"a::b:c" at character 1 has more than one colon outside quotes'],
    ["username::", "q", '"username::" at character 1 begins or ends with a colon'],
    ["ada :x", "q", '":x" at character 5 begins or ends with a colon'],
    ["username:", "q", '"username:" at character 1 begins or ends with a colon'],
    ["username:a username:b", "username", '"username:b" at character 12 is given more than once'],
    ["ada search:b", "search", '"ada" at character 1 is given more than once'],
    [
      "status:active,Inactive",
      "status",
      '"status:active,Inactive" at character 1 must be one of active, dormant, suspended, not "inactive"'
    ],
    ["service_account:maybe", "service_account", '"service_account:maybe" at character 1 must be "true" or "false", not "maybe"'],
    ["day:2023-02-29", "day", '"day:2023-02-29" at character 1 must be a date like 2006-01-02, not "2023-02-29"'],
    ["id:7", "id", '"id:7" at character 1 must be a UUID, not "7"']
  ])("refuses %s, naming %s", (query, field, detail) => {
    expect(refused(query)).toStrictEqual([{ field, detail }])
  })

  it("reports every error at once, in the order of the text", () => {
    expect(refused("status:gone foo:bar a:b:c service_account:maybe")?.map(({ field }) => field)).toStrictEqual([
      "status",
      "foo",
      "q",
      "service_account"
    ])
  })

  it("refuses words where a list has no use for them", () => {
    const ids = SearchQuery.language({ user_id: SearchQuery.one(SearchQuery.uuid) })
    expect(Either.getOrThrow(Either.flip(SearchQuery.parse(ids, "ada lovelace"))).validations).toStrictEqual([
      { field: "q", detail: '"ada lovelace" at character 1 has words that belong to no filter' }
    ])
  })

  it("distinguishes slashes in free words from quoted ones", () => {
    const path = SearchQuery.value<ReadonlyArray<string>>("at most one slash", (text, segments = [text]) =>
      segments.length > 2 ? undefined : segments
    )
    const paths = SearchQuery.language({ path: SearchQuery.one(path) }, "path")
    const read = (query: string) => Either.map(SearchQuery.parse(paths, query), ({ path }) => path)
    expect(read("Ada/engine one")).toStrictEqual(Either.right(["ada", "engine one"]))
    expect(read('"ada/engine"')).toStrictEqual(Either.right(["ada/engine"]))
    expect(read('ada/"engine/one"')).toStrictEqual(Either.right(["ada", "engine/one"]))
    expect(read("/engine")).toStrictEqual(Either.right(["", "engine"]))
    expect(read("ada/")).toStrictEqual(Either.right(["ada", ""]))
    expect(read("path:a/b/c")).toStrictEqual(Either.right(["a/b/c"]))
    expect(Either.mapLeft(read("a/b/c"), ({ validations }) => validations)).toStrictEqual(
      Either.left([{ field: "q", detail: '"a/b/c" at character 1 must be at most one slash, not "a/b/c"' }])
    )
  })

  it("never fails for another reason than its own errors, which lie within the text", () => {
    const fragment = fc.oneof(
      fc.constantFrom('"', ":", " ", ",", "\0", "İ", "search", "status", "active", "username", "id", "param", "service_account", "t"),
      fc.string({ unit: codePoint, maxLength: 4 })
    )
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 20 }), (fragments) => {
        const query = fragments.join("")
        const result = SearchQuery.parse(users, query)
        if (Either.isRight(result)) return
        const { validations = [] } = result.left
        expect(validations.length).toBeGreaterThan(0)
        for (const { detail } of validations) {
          const position = Number(/ at character (\d+) /.exec(detail)?.[1])
          expect(position).toBeGreaterThan(0)
          expect(position).toBeLessThanOrEqual(query.length)
        }
      })
    )
  })

  it("reads back every value that was quoted", () => {
    const value = fc.string({ minLength: 1 }).filter((text) => !text.includes('"') && text === text.toLowerCase())
    fc.assert(
      fc.property(value, value, (username, words) => {
        expect(parsed(`username:"${username}" "${words}"`)).toStrictEqual({ ...nothing, username, search: words })
      })
    )
  })

  it("takes no longer for quotes inside of a word", async () => {
    const hostile = `x${'"'.repeat(SearchQuery.maximumLength - 2)}x`
    const parse = async () => {
      for (let time = 0; time < 50; time++) parsed(hostile)
    }
    expect(parsed(hostile)).toStrictEqual({ ...nothing, search: hostile })
    expect(await longestTurn(parse, { enough: 1_000 })).toBeLessThan(3_000)
  })
})
