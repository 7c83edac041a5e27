/** The documentation's tables of filters are what declares them; where one is not, the failing test shows how it has to be. */
import { auditSearchFilters, connectionSearchFilters } from "@atelier/core/logs"
import { groupSearchFilters } from "@atelier/core/groups"
import { userSearchFilters } from "@atelier/core/identity"
import { memberSearchFilters } from "@atelier/core/organizations"
import type { SearchQuery } from "@atelier/core/platform"
import { taskSearchFilters } from "@atelier/core/tasks"
import { templateSearchFilters } from "@atelier/core/templates"
import { workspaceSearchFilters } from "@atelier/core/workspaces"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

type Filters = ReturnType<typeof SearchQuery.documented>

const root = fileURLToPath(new URL("..", import.meta.url))

/** The lists that take a `q`, with the page that tells of them. */
const lists: ReadonlyArray<readonly [page: string, filters: Filters]> = [
  ["audit", auditSearchFilters],
  ["audit", connectionSearchFilters],
  ["groups", groupSearchFilters],
  ["identity", userSearchFilters],
  ["organizations", memberSearchFilters],
  ["tasks", taskSearchFilters],
  ["templates", templateSearchFilters],
  ["workspaces", workspaceSearchFilters]
]

const times = { one: "", list: "; several" } as const

/** A table as the formatter leaves it: every column as wide as its widest cell. */
const tableOf = (filters: Filters): string => {
  const rows = [
    ["Filter", "Value", "Keeps"],
    ...filters.map(({ key, matches, takes, value }) => [`\`${key}\``, `${value}${times[takes]}`, `those ${matches}`])
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>, filler: string): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, filler)).join(" | ")} |`
  const [header = [], ...body] = rows
  return [line(header, " "), line(["", "", ""], "-"), ...body.map((row) => line(row, " "))].join("\n")
}

it.each(lists)("docs/%s.md shows the filters that there are", (page, filters) => {
  expect(readFileSync(join(root, "docs", `${page}.md`), "utf8")).toContain(`${tableOf(filters)}\n\n`)
})

it("every list with a search is among them", () => {
  const folder = join(root, "packages/core/src")
  const declaring = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && readFileSync(join(folder, file), "utf8").includes("SearchQuery.language(")
  )
  expect(declaring).toHaveLength(lists.length)
})
