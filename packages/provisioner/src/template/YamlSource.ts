/**
 * A YAML document read so that every finding about its content can name the line and column it stands at.
 */
import { nextTurn } from "@atelier/core/platform"
import { Effect } from "effect"
import {
  Composer,
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  type Scalar,
  visit
} from "yaml"

/** Where something is wrong in a file. Lines and columns count from 1, columns in UTF-16 units. */
export interface Problem {
  readonly file: string
  readonly line: number
  readonly column: number
  /** The error, with the path of the value if it helps. */
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
  /** Numbers, true and false that are written in another way than as their values: `3.10` is the number 3.1. By their formatted paths. */
  readonly writtenOtherwise: () => ReadonlyMap<string, string>
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

/** The texts of scalars that are no texts and are written in another way than as their values. */
const writtenOtherwise = (root: Node | undefined): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const pending: Array<{ readonly node: Node | undefined; readonly path: Path }> = [{ node: root, path: [] }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, path } = next
    if (isSeq(node)) pending.push(...node.items.map((item, index) => ({ node: nodeOf(item), path: [...path, index] })))
    if (isMap(node)) pending.push(...node.items.map(({ key, value }) => ({ node: nodeOf(value), path: [...path, String(key)] })))
    if (!isScalar(node) || node.source === undefined || node.source === String(node.value)) continue
    if (typeof node.value === "number" || typeof node.value === "boolean") found.set(formatPath(path), node.source)
  }
  return found
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

/** An error at an offset of a text. */
interface Violation {
  readonly offset: number
  readonly cause: string
}

/** Keys, values and signs of a document, spaces and line ends between them included. Reading takes two microseconds for each. */
const maximumTokens = 20_000
/** Brackets within each other. */
const maximumDepth = 100
/** Tokens that are read before others have their turn. */
const tokensPerTurn = 2000

/** Escapes of one character (YAML 1.2.2 §5.7); the others are of hexadecimal digits. */
const escapes = '0abt\tnvfre "/\\N_LP\r\n'

/** Where a double-quoted text has an invalid escape. The library would list each. */
const escapeViolation = (token: string): Violation | undefined => {
  for (const { 0: whole, 1: escape = "", index } of token.matchAll(
    /\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|[^])/g
  )) {
    if (escape.length === 1 && !escapes.includes(escape)) return { offset: index, cause: `Invalid escape sequence ${whole}` }
  }
  return undefined
}

/** Signs that the library puts between the tokens of a text, and that are not part of it. */
const virtual: ReadonlySet<string | null> = new Set(["doc-mode", "flow-error-end", "scalar"])

/** A document's tokens as a tree, as far as a document may be read at all. */
const syntaxOf = (text: string, lines: LineCounter): Effect.Effect<ReadonlyArray<CST.Token>, Violation> =>
  Effect.gen(function* () {
    const parser = new Parser(lines.addNewLine)
    const trees: Array<CST.Token> = []
    let [offset, count, depth] = [0, 0, 0]
    let isContent = false
    lines.addNewLine(0)
    for (const token of new Lexer().lex(text)) {
      const type: string | null = isContent ? null : CST.tokenType(token)
      isContent = type === "scalar"
      if (++count > maximumTokens) return yield* Effect.fail({ offset, cause: `the file has more than ${maximumTokens} YAML tokens` })
      if (count % tokensPerTurn === 0) yield* nextTurn
      if (type === "flow-map-start" || type === "flow-seq-start") depth++
      if (type === "flow-map-end" || type === "flow-seq-end") depth--
      if (depth > maximumDepth) return yield* Effect.fail({ offset, cause: "the file is nested too deeply" })
      trees.push(...parser.next(token))
      const violation = type === "double-quoted-scalar" ? escapeViolation(token) : undefined
      if (violation !== undefined) return yield* Effect.fail({ ...violation, offset: offset + violation.offset })
      if (!virtual.has(type)) offset += token.length
    }
    trees.push(...parser.end())
    return trees
  })

/** The document of a file, and another one where it holds several. */
const firstDocuments = (syntax: ReadonlyArray<CST.Token>, end: number): ReadonlyArray<Document.Parsed> => {
  const documents: Array<Document.Parsed> = []
  // Its own check for duplicate keys compares each with each
  for (const document of new Composer({ stringKeys: true, uniqueKeys: false }).compose(syntax, true, end)) {
    if (documents.push(document) === 2) break
  }
  return documents
}

/** Texts that no store can hold, keys included. */
const textsWithNul = (document: Document): ReadonlyArray<Scalar> => {
  const found: Array<Scalar> = []
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && scalar.value.includes("\0")) found.push(scalar)
    }
  })
  return found
}

/** Reads one YAML 1.2 document. Duplicate keys, unknown tags and keys that are not text are refused. */
export const readYaml = (file: string, bytes: Uint8Array): Effect.Effect<YamlSource, ReadonlyArray<Problem>> =>
  Effect.gen(function* () {
    const lines = new LineCounter()
    const at = (offset: number, cause: string): Problem => {
      const { col, line } = lines.linePos(Math.max(0, offset))
      // The counter answers line 0 for an empty file
      return { file, line: Math.max(1, line), column: Math.max(1, col), cause }
    }
    const refuse = (cause: string) => Effect.fail([at(0, cause)])
    if (bytes.byteLength > maximumSize) return yield* refuse(`the file is larger than ${maximumSize} bytes`)
    const text = yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
      catch: () => [at(0, "the file is not UTF-8 text")]
    })
    const syntax = yield* Effect.mapError(syntaxOf(text, lines), ({ cause, offset }) => [at(offset, cause)])
    yield* nextTurn
    // Readers of a document descend once per level, so deep ones end at the limit of the stack
    const tooDeep = () => [at(0, "the file is nested too deeply")]
    const [document, another] = yield* Effect.try({ try: () => firstDocuments(syntax, text.length), catch: tooDeep })
    if (document === undefined) return yield* refuse("the file is empty")
    const findings = [...document.errors, ...document.warnings]
    if (findings.some(({ code }) => code === "RESOURCE_EXHAUSTION")) return yield* Effect.fail(tooDeep())
    if (findings.length > 0) return yield* Effect.fail(findings.slice(0, maximumProblems).map(({ message, pos }) => at(pos[0], message)))
    if (another !== undefined) return yield* Effect.fail([at(another.range[0], "the file holds more than one document")])
    yield* nextTurn
    const refused = yield* Effect.try({ try: () => refusedKeys(document), catch: tooDeep })
    if (refused.length > 0) {
      return yield* Effect.fail(
        refused
          .slice(0, maximumProblems)
          .map((key) =>
            at(key.range?.[0] ?? 0, `the key ${String(key)} must not occur ${String(key) === "__proto__" ? "at all" : "twice"}`)
          )
      )
    }
    const unstorable = textsWithNul(document)
    if (unstorable.length > 0) {
      return yield* Effect.fail(
        unstorable.slice(0, maximumProblems).map((scalar) => {
          const offset = offsetIn(text, scalar, scalar.range?.[0] ?? 0, String(scalar.value).indexOf("\0"))
          return at(offset, "must not contain the character U+0000")
        })
      )
    }
    const value = yield* Effect.try({
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
      writtenOtherwise: () => writtenOtherwise(document.contents ?? undefined),
      keyProblem: (path, cause) => {
        const { key, value } = locate(document, path)
        return at((key ?? value)?.range?.[0] ?? 0, cause)
      }
    }
  })
