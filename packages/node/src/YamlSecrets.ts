import { maximumEntries, type SecretsFileEntry, SecretsYaml } from "@atelier/core/identity"
import { existing } from "@atelier/core/platform"
import { Either } from "effect"
import { CST, isMap, isScalar, Lexer, LineCounter, parseDocument, type ParsedNode } from "yaml"

/** The YAML that a flat object of texts does without, by the token that it begins with. */
const refused: ReadonlyMap<string, string> = new Map([
  ["anchor", "an anchor"],
  ["alias", "an alias"],
  ["tag", "a tag"],
  ["directive-line", "a directive"],
  ["explicit-key-ind", "a key behind a question mark"],
  ["seq-item-ind", "a list"],
  ["flow-seq-start", "a list"]
])

/** Pieces outside of values; comments and line breaks are some too. Each may be an error, and the library makes a list of all of them. */
const maximumTokens = 4000

/** Escapes of one letter; the other ones are of hexadecimal digits. */
const escapes = '0abefnrtvNLP_ "/\\\t\r\n'

/** Why the library would find one error after the other in a value. */
const contentViolation = (type: string | null, token: string): string | undefined => {
  if (type === "double-quoted-scalar") {
    for (const [, escape = ""] of token.matchAll(/\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|[\s\S])/g)) {
      if (escape.length === 1 && !escapes.includes(escape)) return "has an escape that is not known"
    }
  }
  return type === "block-scalar-header" && /\d/.test(token) ? "has a block that says how far it is indented" : undefined
}

/** Whether a line of a block is indented less than its first one. */
const isUneven = (block: string): boolean => {
  let indent: number | undefined
  for (const [line] of block.matchAll(/[^\r\n]+/g)) {
    const spaces = line.search(/[^ ]/)
    if (spaces === -1) continue
    indent ??= spaces
    if (spaces < indent) return true
  }
  return false
}

/**
 * The first error among a text's tokens, before anything is composed. A text that passes is at most one object, with few enough entries,
 * errors and levels to be cheap.
 */
const tokensViolation = (text: string): string | undefined => {
  const at = (violation: string): string => `line ${text.slice(0, offset).split(/\r\n|\n|\r/).length} ${violation}`
  let [offset, tokens, objects, entries] = [0, 0, 0, 0]
  let isContent = false
  let isBlock = false
  for (const token of new Lexer().lex(text)) {
    const type: string | null = isContent ? null : CST.tokenType(token)
    if (++tokens > maximumTokens) return at("is too far behind: there are too many comments or empty lines before it")
    if (isContent && isBlock && isUneven(token)) return at("begins a block that is not indented evenly")
    if (isContent) isBlock = false
    isContent = type === "scalar"
    // These three are not part of the text
    if (type === "scalar" || type === "doc-mode" || type === "flow-error-end") continue
    if (type === "block-scalar-header") isBlock = true
    const name = refused.get(type ?? "")
    const violation = name === undefined ? contentViolation(type, token) : `has ${name}`
    if (violation !== undefined) return at(violation)
    if (type === "flow-map-start" && ++objects > 1) return at("has an object in an object")
    if (type === "map-value-ind" && ++entries > maximumEntries) return `must hold 1 to ${maximumEntries} entries`
    offset += token.length
  }
  return undefined
}

/** Plain words that some readers, and those of YAML 1.1, take for a number, a date or a merge. */
const otherThanText =
  /^(?:<<|[-+]?(?:0x[\da-fA-F_]+|0o?[0-7_]+|0b[01_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?)|\d{4}-\d{1,2}-\d{1,2}(?:[Tt ].*)?)$/s

const textOf = (node: ParsedNode | null): string | undefined => {
  if (!isScalar(node) || typeof node.value !== "string") return undefined
  return node.type === "PLAIN" && otherThanText.test(node.value) ? undefined : node.value
}

/** The entries, or what is wrong. The library's own messages show the text. */
const read = (text: string): Either.Either<ReadonlyArray<SecretsFileEntry>, string> => {
  const violation = tokensViolation(text)
  if (violation !== undefined) return Either.left(violation)
  const lines = new LineCounter()
  const refusal = (offset: number, detail: string): Either.Either<never, string> =>
    Either.left(`line ${lines.linePos(offset).line} ${detail}`)
  const document = parseDocument(text, { lineCounter: lines, logLevel: "error", prettyErrors: false, schema: "core", version: "1.2" })
  const [error] = document.errors
  if (error !== undefined) {
    return refusal(error.pos[0], error.code === "DUPLICATE_KEY" ? "has the key of another one" : "is not YAML of one object of texts")
  }
  const { contents } = document
  if (contents === null) return Either.right([])
  if (!isMap(contents)) return Either.left("must be one object of texts")
  const entries: Array<SecretsFileEntry> = []
  for (const pair of contents.items) {
    const [key, value] = [textOf(pair.key), textOf(pair.value)]
    if (key === undefined || value === undefined)
      return refusal(pair.key.range[0], "has a key or value that is not a text: put it in quotes")
    entries.push([key, value])
  }
  return Either.right(entries)
}

/** On the library `yaml`, which is given what `tokensViolation` leaves. */
export const layer = existing(SecretsYaml, { read })
