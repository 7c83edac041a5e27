/** YAML as Terraform reads and writes it. */
import { Document, isAlias, isCollection, parseDocument, type ScalarTag, type Tags, visit } from "yaml"
import { EvaluationError, refuse } from "../EvaluationError.js"
import { fromBigInt, fromDouble, numberText, Real } from "../Numbers.js"
import { isList, isMap, settled, SetValue, sortedEntries, unknown, type Value } from "../Values.js"
import type { Work } from "../Work.js"

/** Numbers in YAML with all their digits. */
const yamlNumber: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: (value) => value instanceof Real,
  resolve: (text) => text,
  stringify: ({ value }) => (value instanceof Real ? numberText(value) : String(value))
}

/** Steps for each value that is written, and for each character, which more than one line repeats the indentation of. */
const stepsOfValue = 20
const stepsOfCharacter = 0.5

/** As a value of JavaScript, keys in order. Numbers stay as they are. */
const plain = (value: Value, work: Work, depth = 0): unknown => {
  work.step(stepsOfValue)
  if (value === unknown) return { unknown: true }
  if (typeof value === "string") work.step(value.length * (stepsOfCharacter + depth / 50))
  if (isList(value)) return value.map((item) => plain(item, work, depth + 1))
  if (value instanceof SetValue) return value.items.map((item) => plain(item, work, depth + 1))
  const map = settled(value)
  if (isMap(map)) return Object.fromEntries(sortedEntries(map, work).map(([key, item]) => [key, plain(item, work, depth + 1)]))
  return map
}

/** As Terraform writes it: texts in quotes, and those of several lines as blocks. */
export const encodeYaml = (value: Value, work: Work): string => {
  const document = new Document(plain(value, work), { customTags: [yamlNumber] })
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string") scalar.type = scalar.value.includes("\n") ? "BLOCK_LITERAL" : "QUOTE_DOUBLE"
    }
  })
  return document.toString({ lineWidth: 0, indentSeq: false })
}

const fromYaml = (value: unknown, work: Work): Value => {
  work.step()
  if (typeof value === "bigint") return work.number(fromBigInt(value))
  if (typeof value === "number") return work.number(fromDouble(value))
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (Array.isArray(value)) return value.map((item) => fromYaml(item, work))
  if (typeof value === "object") return new Map(Object.entries(value).map(([key, item]) => [key, fromYaml(item, work)]))
  return refuse("the value is of no type that expressions know")
}

const maxAliasCount = 100

/** Words such as `yes` are bools; times stay texts; the last of equal keys counts, as in Terraform. */
const yamlOptions = {
  // A search for equal keys would go through all others of its map
  uniqueKeys: false,
  // Nothing but the fact that there is an error is shown, and the place of each takes a search
  prettyErrors: false,
  logLevel: "error" as const,
  intAsBigInt: true,
  schema: "yaml-1.1",
  customTags: (tags: Tags): Tags => tags.filter((tag) => typeof tag === "string" || tag.tag !== "tag:yaml.org,2002:timestamp")
}

/** Signs that may begin a value, a key or a part of one, and other signs that the parser stops at. */
const structure = /[[\]{},&*!%]|[-?:](?=[\s,[\]{}"'&*!]|$)/g
const pause = /[\n#"'|>@`]/g
const stepsOfStructure = 30
const stepsOfPause = 5

const countOf = (source: string, signs: RegExp): number => {
  let count = 0
  for (signs.lastIndex = 0; signs.test(source);) count++
  return count
}

/** The value of a text. Throws `EvaluationError`. */
export const decodeYaml = (source: string, work: Work): Value => {
  work.step(countOf(source, structure) * stepsOfStructure + countOf(source, pause) * stepsOfPause)
  try {
    const document = parseDocument(source, yamlOptions)
    if (document.errors.length > 0) return refuse("the text is not YAML")
    visit(document, {
      Pair: (_, { key }) => {
        // Written as texts, keys in keys take a time without bounds
        if (isCollection(isAlias(key) ? key.resolve(document) : key)) refuse("a key of a map is no text")
      }
    })
    return fromYaml(document.toJS({ maxAliasCount }), work)
  } catch (error) {
    if (error instanceof EvaluationError) throw error
    return refuse("the text is not YAML")
  }
}
