import type { SourceFiles } from "@atelier/core/provisioning"

const fileNames = ["template.yaml", "template.yml"]

/** The template's path in a source, where it has one at its root. */
export const templatePath = (paths: Iterable<string>): string | undefined => {
  const known = new Set(paths)
  return fileNames.find((name) => known.has(name))
}

/** The engines of this project that run agents in containers. */
export const containerEngines: ReadonlyArray<string> = ["docker", "kubernetes"]

/** A line of its own at the left: what is indented belongs to another key. */
const engineLine = /^engine:[ \t]*(["']?)([a-z][a-z0-9-]*)\1[ \t]*(?:#.*)?\r?$/m

/** A piece of YAML in flow style: space, a comment, a quoted text, an indicator, or a plain text up to the next indicator. YAML 1.2.2 §7. */
const flowToken = /\s+|#.*|"(?:[^"\\]|\\[^])*"|'(?:[^']|'')*'|[[\]{},:]|[^\s[\]{},:"'][^[\]{},:\n]*/gy

/** What a mapping or a list in flow style has, and the place after it; the length of the text for one that never ends. */
interface Flow {
  readonly hasContainer: boolean
  readonly end: number
}

/**
 * Reads a mapping in flow style, or a list of them, and tells whether one of them has the key `container`. The mapping or the list begins at this place of
 * the text, as in `agents: [{ name: main, container: { … } }]`.
 */
const flowAt = (text: string, from: number): Flow => {
  const open: Array<string> = []
  let before = ""
  let isKey = false
  flowToken.lastIndex = from
  for (let token = flowToken.exec(text); token !== null; token = flowToken.exec(text)) {
    const [piece] = token
    if (/^[\s#]/.test(piece)) continue
    if (piece === ":" && isKey) return { hasContainer: true, end: flowToken.lastIndex }
    isKey = false
    if (piece === "[" || piece === "{") open.push(piece)
    else if (piece === "]" || piece === "}") open.pop()
    else if (open.length <= 2 && /^\[?\{$/.test(open.join("")) && (before === "{" || before === ","))
      isKey = /^(["']?)container\1\s*$/.test(piece)
    if (open.length === 0) return { hasContainer: false, end: flowToken.lastIndex }
    before = piece
  }
  return { hasContainer: false, end: text.length }
}

/** What a line adds to a list: the columns of its dash and of what follows it; the latter is missing if the line has nothing more. */
const listItem = /^( *)-(?:( +)(?=[^\s#])|[ \t]*(?:#.*)?$)/

/**
 * Whether an agent has the key `container`. A value over several lines is indented deeper than the key of its agent (YAML 1.2.2
 * §8.1), so no line of a script is taken for one.
 */
const hasContainer = (text: string): boolean => {
  const flow = /^agents:[ \t]*(?=[[{])/m.exec(text)
  if (flow !== null) return flowAt(text, flow.index + flow[0].length).hasContainer
  const lines = text.split(/\r?\n/)
  const plain = lines.join("\n")
  const start = lines.findIndex((line) => /^agents:[ \t]*(?:#.*)?$/.test(line))
  let offset = start < 0 ? 0 : lines.slice(0, start + 1).join("\n").length + 1
  let dash: number | undefined
  let column: number | undefined
  let flowEnd = 0
  for (const line of start < 0 ? [] : lines.slice(start + 1)) {
    const begin = offset
    offset += line.length + 1
    // The lines of a value in flow style are read once, with its first line
    if (begin < flowEnd) continue
    const indentation = line.search(/[^ ]/)
    if (/^[ \t]*(?:#.*)?$/.test(line)) continue
    if (/^[^ -]/.test(line)) return false
    const [, before, gap] = listItem.exec(line) ?? []
    if (before !== undefined && (dash === undefined || dash === before.length)) {
      dash = before.length
      column = gap === undefined ? undefined : dash + 1 + gap.length
      if (column === undefined) continue
    } else {
      column ??= indentation
      if (indentation !== column) continue
    }
    if (line[column] === "{") {
      const { end, hasContainer: isFound } = flowAt(plain, begin + column)
      if (isFound) return true
      flowEnd = end
    }
    if (/^(["']?)container\1[ \t]*:(?:[ \t]|$)/.test(line.slice(column))) return true
  }
  return false
}

/**
 * The names of the engines that can run the `template.yaml` of a source: the one that it names in a line such as `engine: docker`; without the line, the
 * engines of containers if an agent has one, and `local` otherwise. Empty for a source without such a file.
 */
export const templateEngines = ({ paths, text }: SourceFiles): ReadonlyArray<string> => {
  const path = templatePath(paths)
  if (path === undefined) return []
  const content = text(path) ?? ""
  const [, , named] = engineLine.exec(content) ?? []
  if (named !== undefined) return [named]
  return hasContainer(content) ? containerEngines : ["local"]
}
