/**
 * A YAML document read so that every finding about its content can name the line and column it stands at.
 */
import { Either } from "effect"
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar, visit } from "yaml"

/** Where something is wrong in a file. Lines and columns count from 1, columns in UTF-16 units. */
export interface Problem {
  readonly file: string
  readonly line: number
  readonly column: number
  /** What is wrong, with the path of the value where it helps. */
  readonly cause: string
}

export const formatProblem = ({ cause, column, file, line }: Problem): string => `${file}:${line}:${column}: ${cause}`

/** Problems that are told at once; finding the place of each costs a search. */
export const maximumProblems = 20

/** One line per problem, in the order of the file. */
export const formatProblems = (problems: ReadonlyArray<Problem>): string =>
  problems
    .toSorted((one, other) => one.line - other.line || one.column - other.column)
    .slice(0, maximumProblems)
    .map(formatProblem)
    .join("\n")

/** Keys and indexes from the root to a value. */
export type Path = ReadonlyArray<PropertyKey>

/** `agents[0].apps[1].slug` */
export const formatPath = (path: Path): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === "number" || /^\d+$/.test(String(step))
        ? `${text}[${String(step)}]`
        : text === ""
          ? String(step)
          : `${text}.${String(step)}`,
    ""
  )

export interface YamlSource {
  /** The document as plain values. */
  readonly value: unknown
  /** The problem at a value; at the nearest value around it where the path leads to none. `offset` counts into the value's text. */
  readonly problem: (path: Path, cause: string, offset?: number) => Problem
  /** The problem at a key of a mapping. */
  readonly keyProblem: (path: Path, cause: string) => Problem
}

/** Bytes. A template is written by hand, and reading YAML takes some microseconds per byte. */
const maximumSize = 256 * 1024
/** How often a document may reuse its anchors, which would otherwise grow it exponentially. */
const maximumAliasCount = 100

/** Whether the texts and values of a document, with its aliases in place, are more than its largest file could hold without them. */
const isOutgrown = (document: unknown): boolean => {
  const pending = [document]
  let size = 0
  while (pending.length > 0 && size <= maximumSize) {
    const value = pending.pop()
    size += typeof value === "string" ? value.length : 1
    if (typeof value !== "object" || value === null) continue
    for (const [key, member] of Object.entries(value)) {
      if (!Array.isArray(value)) size += key.length
      pending.push(member)
    }
  }
  return size > maximumSize
}

interface Located {
  readonly key: Node | undefined
  readonly value: Node | undefined
}

const nodeOf = (value: unknown): Node | undefined => (isMap(value) || isSeq(value) || isScalar(value) || isAlias(value) ? value : undefined)

const member = (document: Document, parent: Node | undefined, step: PropertyKey): Located | undefined => {
  const node = isAlias(parent) ? parent.resolve(document) : parent
  if (isSeq(node)) {
    const value = nodeOf(node.items[Number(step)])
    return value === undefined ? undefined : { key: undefined, value }
  }
  if (!isMap(node)) return undefined
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
  return pair === undefined ? undefined : { key: nodeOf(pair.key), value: nodeOf(pair.value) }
}

const locate = (document: Document, path: Path): Located => {
  let located: Located = { key: undefined, value: document.contents ?? undefined }
  for (const step of path) {
    const next = member(document, located.value, step)
    if (next === undefined) return located
    located = next
  }
  return located
}

/** The place in the file of a place in a scalar's text; the scalar's start where escapes or folding break the relation. */
const offsetIn = (text: string, node: Scalar, start: number, offset: number): number => {
  const value = String(node.value)
  if (node.type === "BLOCK_LITERAL") {
    const before = value.slice(0, offset).split("\n")
    const lineText = value.split("\n")[before.length - 1] ?? ""
    let lineStart = start
    for (let line = 0; line < before.length; line++) lineStart = text.indexOf("\n", lineStart) + 1
    const end = text.indexOf("\n", lineStart)
    const sourceLine = text.slice(lineStart, end < 0 ? text.length : end).replace(/\r$/, "")
    return sourceLine.endsWith(lineText) ? lineStart + sourceLine.length - lineText.length + (before.at(-1) ?? "").length : lineStart
  }
  const quote = node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE" ? 1 : 0
  const source = text.slice(start + quote, start + quote + value.length)
  return source === value ? start + quote + offset : start
}

/** Keys that stand twice in a mapping, and the one that plain objects cannot hold. */
const refusedKeys = (document: Document): ReadonlyArray<Node> => {
  const refused: Array<Node> = []
  visit(document, {
    Map: (_, map) => {
      const keys = new Set<string>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        const text = String(key.value)
        if (keys.has(text) || text === "__proto__") refused.push(key)
        keys.add(text)
      }
    }
  })
  return refused
}

/** Reads one YAML 1.2 document. Duplicate keys, unknown tags and keys that are no text are refused. */
export const readYaml = (file: string, bytes: Uint8Array): Either.Either<YamlSource, ReadonlyArray<Problem>> =>
  Either.gen(function* () {
    const lines = new LineCounter()
    const at = (offset: number, cause: string): Problem => {
      const { col, line } = lines.linePos(Math.max(0, offset))
      // The counter answers line 0 for an empty file
      return { file, line: Math.max(1, line), column: Math.max(1, col), cause }
    }
    const refuse = (cause: string) => Either.left([at(0, cause)])
    if (bytes.byteLength > maximumSize) return yield* refuse(`the file is larger than ${maximumSize} bytes`)
    const text = yield* Either.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => [at(0, "the file is not UTF-8 text")]
    })
    // The parser descends once per level, so a file of brackets alone ends at the limit of the stack
    const tooDeep = () => [at(0, "the file is nested too deeply")]
    const document = yield* Either.try({
      // Its own check for duplicate keys compares each with each
      try: () => parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false, logLevel: "error" }),
      catch: tooDeep
    })
    const findings = [...document.errors, ...document.warnings]
    if (findings.some(({ code }) => code === "RESOURCE_EXHAUSTION")) return yield* Either.left(tooDeep())
    if (findings.length > 0) return yield* Either.left(findings.map(({ message, pos }) => at(pos[0], message)))
    const refused = yield* Either.try({ try: () => refusedKeys(document), catch: tooDeep })
    if (refused.length > 0) {
      return yield* Either.left(
        refused.map((key) =>
          at(key.range?.[0] ?? 0, `the key ${String(key)} must not occur ${String(key) === "__proto__" ? "at all" : "twice"}`)
        )
      )
    }
    const value = yield* Either.try({
      try: (): unknown => document.toJS({ maxAliasCount: maximumAliasCount }),
      catch: () => [at(0, `aliases are used too often; at most ${maximumAliasCount} uses of an anchor are resolved`)]
    })
    if (isOutgrown(value)) return yield* refuse(`the file is larger than ${maximumSize} characters with its aliases in place`)
    return {
      value,
      problem: (path, cause, offset = 0) => {
        const { key, value } = locate(document, path)
        const start = value?.range?.[0] ?? key?.range?.[0] ?? 0
        return at(isScalar(value) && offset > 0 ? offsetIn(text, value, start, offset) : start, cause)
      },
      keyProblem: (path, cause) => {
        const { key, value } = locate(document, path)
        return at((key ?? value)?.range?.[0] ?? 0, cause)
      }
    }
  })
