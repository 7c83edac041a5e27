/** The blocks of docs/extending.md are parts of the files that they name. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = new URL("../", import.meta.url)
const page = readFileSync(new URL("docs/extending.md", root), "utf8")

/** A text without its indentation and line breaks, which formatting decides. */
const flat = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

const blocks = Array.from(page.matchAll(/^```\w*\n(.*?)^```/gms), ([, block = ""]) => {
  const [, path = "", code = ""] = /^\/\/ (\S+)\n(.*)$/s.exec(block) ?? []
  return { path, parts: code.split(/^\s*\/\/ …\n/m).map(flat) }
})

/** Where each part begins in a text, in their order; -1 where it has no such part behind the one before. */
const placesOf = (parts: ReadonlyArray<string>, text: string): ReadonlyArray<number> => {
  let end = 0
  return parts.map((part) => {
    const start = part === "" ? -1 : text.indexOf(part, end)
    end = start + part.length
    return start
  })
}

describe("the page about extending", () => {
  it("has code for each of its examples", () => {
    const sections = page.split(/^## /m).slice(1)
    expect(sections.map((section) => section.split("\n", 1)[0])).toStrictEqual([
      "An endpoint",
      "A worker",
      "A notification event",
      "An engine",
      "A storage backend",
      "An option"
    ])
    expect(sections.filter((section) => !section.includes("```ts\n// packages/"))).toStrictEqual([])
    expect(sections.filter((section) => !/^\/\/ packages\/\S*\.test\.ts$/m.test(section))).toStrictEqual([])
  })

  it.each(blocks)("shows code of $path", ({ parts, path }) => {
    const file = new URL(path, root)
    expect(path !== "" && existsSync(fileURLToPath(file))).toBe(true)
    const places = placesOf(parts, flat(readFileSync(file, "utf8")))
    expect(parts.filter((_, index) => places[index] === -1)).toStrictEqual([])
  })
})
