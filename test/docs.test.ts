/** The pages of docs/ are reached from its index, and their links lead somewhere. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { fragmentOf } from "../scripts/docs/fragments.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

const pagesOf = (directory: string): ReadonlyArray<string> =>
  readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? pagesOf(`${directory}/${entry.name}`) : entry.name.endsWith(".md") ? [`${directory}/${entry.name}`] : []
  )

const read = (path: string): string => readFileSync(join(root, path), "utf8").replaceAll(/^```[\s\S]*?^```|`[^`\n]*`/gm, "")

const linksOf = (path: string): ReadonlyArray<string> =>
  [...read(path).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map(([, target = ""]) => target)

/** The fragments of a page's headings. */
const fragmentsOf = (path: string): ReadonlyArray<string> =>
  [...readFileSync(path, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => fragmentOf(heading))

it("the index names each page once", () => {
  const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "README.md")
  const named = linksOf("docs/README.md").filter((target) => !target.includes("/"))
  expect(named.toSorted()).toStrictEqual(pages.toSorted())
})

it("the index of the specification names each of its pages", () => {
  const pages = readdirSync(join(root, "docs/spec")).filter((name) => name !== "README.md")
  const named = new Set(linksOf("docs/spec/README.md"))
  expect(pages.filter((name) => !named.has(name))).toStrictEqual([])
})

it("links lead to files and headings that exist", () => {
  const broken = ["README.md", ...pagesOf("docs")].flatMap((path) =>
    linksOf(path)
      .filter((target) => {
        const [file = "", fragment] = target.split("#")
        const found = file === "" ? join(root, path) : resolve(root, dirname(path), file)
        if (!existsSync(found)) return true
        return fragment !== undefined && statSync(found).isFile() && !fragmentsOf(found).includes(fragment)
      })
      .map((target) => `${path}: ${target}`)
  )
  expect(broken).toStrictEqual([])
})

it("the page on embedding names each option of an embedding application", () => {
  const source = readFileSync(join(root, "packages/http/src/Options.ts"), "utf8")
  const options = [...source.matchAll(/^  readonly (\w+)\??:/gm)].map(([, name = ""]) => name)
  const page = readFileSync(join(root, "docs/embedding.md"), "utf8")
  const table = page.slice(page.indexOf("## What a host may replace"), page.indexOf("Other ports"))
  expect(options.filter((name) => !table.includes(`\`${name}\``))).toStrictEqual([])
  expect(options.length).toBeGreaterThan(20)
})

it("the page on the architecture lists each area of the core and each of its parts", () => {
  const source = join(root, "packages/core/src")
  const foldersOf = (path: string): ReadonlyArray<string> =>
    readdirSync(path, { withFileTypes: true })
      .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
      .toSorted()
  const folders = foldersOf(source).map((area) => [area, ...foldersOf(join(source, area))])
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
  const list = page.slice(page.indexOf("### The areas and their parts"), page.indexOf("## How areas are wired"))
  const listed = [...list.matchAll(/^- `(\w+)`:.*\n((?: {2}- .*\n)*)/gm)].map(([, area = "", parts = ""]) => [
    area,
    ...[...parts.matchAll(/^ {2}- `(\w+)`:/gm)].map(([, part = ""]) => part)
  ])
  expect(listed).toStrictEqual(folders)
})

it("the page on the architecture names code that the files it links to have", () => {
  const page = readFileSync(join(root, "docs/architecture.md"), "utf8")
  const table = page.slice(page.indexOf("## Where the rules are"), page.indexOf("## States"))
  const cells = [...table.matchAll(/^\|[^|]*\|(.*)\|$/gm)].map(([, cell = ""]) => cell)
  const named = cells.flatMap((cell) =>
    [...cell.matchAll(/([^[]*)\[[^\]]+\]\(([^)]+)\)/g)].flatMap(([, text = "", file = ""]) =>
      [...text.matchAll(/`(\w+)`/g)].map(([, name = ""]) => ({ name, file }))
    )
  )
  const isThere = ({ file, name }: { readonly file: string; readonly name: string }): boolean =>
    !file.includes(".ts") || new RegExp(`\\b${name}\\b`).test(readFileSync(resolve(root, "docs", file), "utf8"))
  expect(named.filter((one) => !isThere(one))).toStrictEqual([])
  expect(named.length).toBeGreaterThan(15)
})

it("the lines to install a package ask for the versions of its peers", () => {
  const wrong = readdirSync(join(root, "packages")).flatMap((name) => {
    const readme = join(root, "packages", name, "README.md")
    if (!existsSync(readme)) return []
    const { peerDependencies = {} } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"))
    const words = [...readFileSync(readme, "utf8").matchAll(/^npm install (.*)$/gm)].flatMap(([, line = ""]) => line.split(" "))
    return words.filter((word) => {
      const [, peer = "", version = ""] = /^(@?[^@]+)(?:@(.*))?$/.exec(word) ?? []
      return peer in peerDependencies && !(version !== "" && `${peerDependencies[peer]}.`.startsWith(`^${version}.`))
    })
  })
  expect(wrong).toStrictEqual([])
})
