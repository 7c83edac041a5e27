/** Comments cite sections of the specification in docs/spec: each citation leads to a section, an item or a row that exists. */
import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))
const specifications = join(root, "docs/spec")

/** The text below each numbered heading of a page, and the ids of rows such as `W3` or `P-27`. */
interface Page {
  readonly sections: ReadonlyMap<string, string>
  readonly rows: ReadonlySet<string>
}

const pageOf = (text: string): Page => {
  const sections = new Map<string, string>()
  const open: Array<{ readonly id: string; readonly depth: number }> = []
  for (const line of text.split("\n")) {
    const heading = /^(#+) (?:([A-E]?\d+(?:\.\d+)*)\.?|Part ([A-E])) /.exec(line)
    const depth = /^#+(?= )/.exec(line)?.[0].length
    if (depth !== undefined) while ((open.at(-1)?.depth ?? 0) >= depth) open.pop()
    const id = heading?.[2] ?? heading?.[3]
    if (id !== undefined && depth !== undefined) {
      open.push({ id, depth })
      sections.set(id, "")
    }
    for (const each of open) sections.set(each.id, `${sections.get(each.id) ?? ""}${line}\n`)
  }
  return { sections, rows: new Set([...text.matchAll(/^\| ([A-Z]-?\d+) \|/gm)].map(([, id = ""]) => id)) }
}

const pages = new Map(
  readdirSync(specifications)
    .filter((name) => name.endsWith(".md"))
    .map((name) => [name, pageOf(readFileSync(join(specifications, name), "utf8"))])
)

const sources = (directory: string): ReadonlyArray<string> =>
  readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`
    if (entry.isDirectory()) return ["node_modules", "dist", "nodes"].includes(entry.name) ? [] : sources(path)
    return /\.(ts|mjs)$/.test(entry.name) ? [path] : []
  })

/** The comments of a source, each as one line. */
const commentsOf = (text: string): ReadonlyArray<{ readonly line: number; readonly text: string; readonly isDoc: boolean }> =>
  [...text.matchAll(/\/\*\*?(?<block>[\s\S]*?)\*\/|(?<lines>(?:(?:^|(?<=\s))\/\/[^\n]*\n?[^\S\n]*)+)/gm)].map((match) => {
    const body = match.groups?.["block"] ?? match.groups?.["lines"] ?? ""
    return {
      line: text.slice(0, match.index).split("\n").length,
      text: body
        .replace(/\n\s*(\*|\/\/) ?/g, " ")
        .replace(/^\s*\/\/ ?/, "")
        .replace(/\s+/g, " ")
        .trim(),
      isDoc: match[0].startsWith("/**")
    }
  })

/** A page of the specification, another document, or a section or row of the last one named. */
const tokens =
  /(?<page>[a-z][a-z0-9-]*\.md)(?: (?<row>[A-Z]-?\d+)\b)?|(?<other>RFC \d+|OpenID Connect \w+|SP 800-38D|YAML 1\.2\.2|APPNOTE)|§(?<section>[A-Z]?\d*(?:\.\d+)*)(?<items>(?: no\.| nos\.)(?: ?\d+(?:,| and)?)+)?(?:, "(?<title>[^"]+)")?/g

/** The page of an area, to which a citation belongs if its source names no page before. */
const pageOfArea: Readonly<Record<string, string>> = {
  access: "authorization.md",
  agents: "agents-and-apps.md",
  audit: "notifications-audit-insights.md",
  deployment: "deployment.md",
  groups: "authorization.md",
  identity: "identity.md",
  insights: "notifications-audit-insights.md",
  network: "agents-and-apps.md",
  notifications: "notifications-audit-insights.md",
  oauth2: "oauth2-provider.md",
  organizations: "authorization.md",
  provisioning: "templates-and-provisioning.md",
  tasks: "workspaces.md",
  templates: "templates-and-provisioning.md",
  workspaces: "workspaces.md"
}

/** The citations of a source that lead nowhere. */
const dangling = (source: string, text: string): ReadonlyArray<string> => {
  const missing: Array<string> = []
  let page = source.split("/").flatMap((part) => pageOfArea[part] ?? [])[0]
  for (const comment of commentsOf(text)) {
    let external = false
    for (const { groups = {}, index } of comment.text.matchAll(tokens)) {
      const { items, other, row, section, title } = groups
      const report = (what: string) => missing.push(`${source}:${comment.line}: ${what}`)
      if (other !== undefined) external = true
      if (groups["page"] !== undefined && pages.has(groups["page"])) {
        page = groups["page"]
        external = false
        if (row !== undefined && !pages.get(page)?.rows.has(row)) report(`${page} has no row ${row}`)
      }
      if (section === undefined) continue
      // A sentence or a parenthesis ends what another document's name applies to
      if (
        external &&
        !/[).;]\s[^§]*$/.test(
          comment.text
            .slice(0, index)
            .split(/RFC|OpenID|SP 800|YAML|APPNOTE/)
            .at(-1) ?? ""
        )
      )
        continue
      const found = page === undefined ? undefined : pages.get(page)?.sections.get(section)
      if (page === undefined) report(`§${section} belongs to no page`)
      else if (found === undefined) report(`${page} has no section ${section}`)
      else {
        for (const [number] of (items ?? "").matchAll(/\d+/g)) {
          if (!new RegExp(`^\\s*(?:\\| *)?${number}(?:\\.| \\|)`, "m").test(found)) report(`${page} §${section} has no item ${number}`)
        }
        if (title !== undefined && !found.includes(title)) report(`${page} §${section} has no "${title}"`)
      }
    }
  }
  return missing
}

const all = ["packages", "examples", "test", "scripts"]
  .flatMap(sources)
  .filter((path) => path !== relative(root, fileURLToPath(import.meta.url)))

describe("citations of the specification", () => {
  it("lead to sections and rows that exist", () => {
    expect(all.flatMap((path) => dangling(path, readFileSync(join(root, path), "utf8")))).toStrictEqual([])
  })

  it("follow a sentence in published declarations", () => {
    const alone = all
      .filter((path) => /^packages\/[a-z-]+\/src\//.test(path))
      .flatMap((path) =>
        commentsOf(readFileSync(join(root, path), "utf8"))
          .filter(({ isDoc, text }) => isDoc && text.includes("§") && !/[a-z0-9]{3,}/i.test(text.replaceAll(tokens, "")))
          .map(({ line, text }) => `${path}:${line}: ${text}`)
      )
    expect(alone).toStrictEqual([])
  })

  it("are found in comments of every form", () => {
    const text =
      "/** Of one line. identity.md §99. */\n/**\n * Of two lines. identity.md\n * §98.\n */\n// wire.md W99\nconst x = 1 // §97\n"
    expect(dangling("x.ts", text)).toStrictEqual([
      "x.ts:1: identity.md has no section 99",
      "x.ts:2: identity.md has no section 98",
      "x.ts:6: wire.md has no row W99",
      "x.ts:7: wire.md has no section 97"
    ])
  })
})
