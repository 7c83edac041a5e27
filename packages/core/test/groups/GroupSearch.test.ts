import { groupSearchFilters, parseGroupSearch } from "@atelier/core/groups"
import { Either } from "effect"
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"

it("takes free words or a part of a name only", () => {
  const search = (query: string) =>
    Either.match(parseGroupSearch(query), {
      onLeft: ({ validations }) => validations?.map(({ field }) => field),
      onRight: ({ search }) => search
    })
  expect(search("")).toBeUndefined()
  expect(search("The Makers")).toBe("the makers")
  expect(search('search:"a:b"')).toBe("a:b")
  expect(search('"a:b"')).toBe("a:b")
  expect(search("a:b")).toStrictEqual(["a"])
})

it("is documented with every filter as it is declared", () => {
  const documentation = readFileSync(new URL("../../../../docs/groups.md", import.meta.url), "utf8")
  const cells = documentation.split("\n").map((line) => line.split(/\s*\|\s*/).slice(1, -1))
  const begin = cells.findIndex(([first]) => first === "Filter") + 2
  expect(cells.slice(begin, begin + groupSearchFilters.length)).toStrictEqual(
    groupSearchFilters.map(({ key, matches, value }) => [`\`${key}\``, value, `those ${matches}`])
  )
})
