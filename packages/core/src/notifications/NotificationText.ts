/** Texts of notifications: templates filled with typed data, and Markdown as plain text. notifications-audit-insights.md §A1, §A5. */

type View = Readonly<Record<string, unknown>>

/** How an inserted value is escaped. */
type Escape = (value: string) => string

const isView = (value: unknown): value is View => typeof value === "object" && value !== null && !Array.isArray(value)

/** The value at a path such as `labels.name` in the innermost of some views that has its first name; `.` is the innermost itself. */
const lookUp = (views: ReadonlyArray<unknown>, path: string): unknown => {
  if (path === ".") return views.at(-1)
  const [head = "", ...rest] = path.split(".")
  const holder = views.findLast((view) => isView(view) && Object.hasOwn(view, head))
  const inner = (value: unknown, name: string): unknown => (isView(value) && Object.hasOwn(value, name) ? value[name] : undefined)
  return rest.reduce(inner, inner(holder, head))
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === false || value === "" || (Array.isArray(value) && value.length === 0)

const written = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "")

const tag = /\{\{\{([\w.]+)\}\}\}|\{\{([#^/]?)([\w.]+)\}\}/g

interface Section {
  readonly path: string
  readonly inverted: boolean
  readonly parts: Array<Part>
}

type Part = string | { readonly path: string; readonly raw: boolean } | Section

const parse = (template: string): ReadonlyArray<Part> => {
  const open: Array<Section> = [{ path: "", inverted: false, parts: [] }]
  let end = 0
  const add = (part: Part): void => void open.at(-1)?.parts.push(part)
  for (const { 0: whole, 1: raw, 2: kind, 3: path = "", index } of template.matchAll(tag)) {
    if (index > end) add(template.slice(end, index))
    end = index + whole.length
    if (raw !== undefined) add({ path: raw, raw: true })
    else if (kind === "#" || kind === "^") {
      const section = { path, inverted: kind === "^", parts: [] }
      add(section)
      open.push(section)
    } else if (kind === "/") open.pop()
    else add({ path, raw: false })
  }
  add(template.slice(end))
  return open[0]?.parts ?? []
}

const fill = (parts: ReadonlyArray<Part>, views: ReadonlyArray<unknown>, escape: Escape): string =>
  parts
    .map((part) => {
      if (typeof part === "string") return part
      const value = lookUp(views, part.path)
      if (!("parts" in part)) return part.raw ? written(value) : escape(written(value))
      if (isEmpty(value)) return part.inverted ? fill(part.parts, views, escape) : ""
      if (part.inverted) return ""
      const items: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
      return items.map((item) => fill(part.parts, [...views, item], escape)).join("")
    })
    .join("")

/**
 * Fills a template. `{{path}}` inserts a value with its marks escaped, `{{{path}}}` as it is; a missing value is empty. The text between
 * `{{#path}}` and `{{/path}}` is repeated for each item of a list, and left out for an empty value; `{{^path}}` is the opposite.
 */
export const render = (template: string, view: View, escape: Escape): string => fill(parse(template), [view], escape)

/** A text on one line, in which Markdown finds no mark. A mark within a word such as `black_nicolas` needs no escape. */
export const escapeMarkdown: Escape = (text) =>
  text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*[\]<>|~]/g, "\\$&")
    .replaceAll(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, "\\_")
    .replace(/^(#{1,6}|[-+=]+|\d+[.)])(?= |$)/, "\\$1")

/** A text as a part of a URL. */
export const escapeUrl: Escape = (text) => encodeURIComponent(text.toWellFormed())

/** Characters of a text that is read as Markdown. Longer ones are cut: reading stays fast. */
const maximumText = 64 * 1024

/** Escaped marks stand as characters for private use while marks are looked for. */
const firstEscape = 0xf0000
const hideEscapes = (line: string): string =>
  line.replaceAll(/\\([\\`*_{}[\]()#+\-.!>~|<=])/g, (_, mark: string) => String.fromCodePoint(firstEscape + (mark.codePointAt(0) ?? 0)))
const showEscapes = (line: string): string =>
  line.replaceAll(/[\u{f0000}-\u{f007f}]/gu, (hidden) => String.fromCodePoint((hidden.codePointAt(0) ?? firstEscape) - firstEscape))

const inline = (line: string): string =>
  line
    .replaceAll(/!?\[([^[\]]*)\]\(([^()\s]*)(?: "[^"()]*")?\)/g, (_, words: string, url: string) =>
      words === "" ? url : `${words} (${url})`
    )
    .replaceAll(/<\/?[a-zA-Z][^<>]*>/g, "")
    .replaceAll(/(\*{1,3}|~~|`{1,3})([^*~`]+)\1/g, "$2")
    .replaceAll(/(?<!\w)(_{1,3})([^_]+)\1(?!\w)/g, "$2")

const cells = (line: string): string =>
  line
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim())
    .join(" ")

/** A Markdown text without its marks: links keep their addresses, items of lists their lines. notifications-audit-insights.md §A5. */
export const plainTextOf = (markdown: string): string => {
  let isFenced = false
  return markdown
    .slice(0, maximumText)
    .split("\n")
    .flatMap((line) => {
      if (/^\s*(```|~~~)/.test(line)) {
        isFenced = !isFenced
        return []
      }
      if (isFenced) return [line]
      if (/^\|?\s*:?-{3,}:?\s*(\|\s*:?-{3,}:?\s*)*\|?$/.test(line.trim())) return []
      const [, indent = "", rest = ""] = /^(\s*)(.*)$/u.exec(hideEscapes(line)) ?? []
      const item = /^[-*+][ \t]+(.*)$/.exec(rest)
      if (item !== null)
        return [
          `${indent.length >= 2 ? "    ".repeat(Math.min(8, Math.floor(indent.length / 2))) : ""}${showEscapes(inline(item[1] ?? ""))}`
        ]
      const bare = rest.replace(/^(?:(?:#{1,6}|>)[ \t]+)+/, "")
      return [showEscapes(inline(bare.startsWith("|") ? cells(bare) : bare))]
    })
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()
}

const units = [
  ["year", 365 * 24 * 3600],
  ["month", 30 * 24 * 3600],
  ["week", 7 * 24 * 3600],
  ["day", 24 * 3600],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1]
] as const

/** Returns a time ahead in words, rounded down to its greatest unit: `2 days from now`. */
export const fromNow = (millis: number): string => {
  const seconds = Math.floor(millis / 1000)
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? ["second", 1]
  const count = Math.floor(seconds / length)
  return count <= 0 ? "now" : `${count} ${unit}${count === 1 ? "" : "s"} from now`
}
