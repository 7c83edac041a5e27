/** The functions of Terraform 1.11 that need no provider. What differs from run to run is unknown. */
import { createHash } from "node:crypto"
import { posix } from "node:path"
import { gzipSync } from "node:zlib"
import { RE2JS } from "re2js"
import { Document, parse as parseYaml, type ScalarTag, type Tags, visit } from "yaml"
import { EvaluationError, refuse } from "./EvaluationError.js"
import { parseTemplate } from "./Expressions.js"
import { HclError } from "./Hcl.js"
import { parseJson } from "./Json.js"
import { networkFunctions } from "./NetworkFunctions.js"
import { compareNumbers, computed, floorOf, fromBigInt, fromDouble, negated, numberText, type Numeric, Real } from "./Numbers.js"
import type { Scope } from "./Scope.js"
import { formatDate, formatText, parseDuration, parseTime, withoutLastLines } from "./TextFunctions.js"
import {
  byBytes,
  encodeJson,
  hasUnknown,
  isEqual,
  isList,
  isMap,
  isNumber,
  keyOf,
  makeSet,
  type MapValue,
  plain,
  SetValue,
  sortedEntries,
  toBool,
  toItems,
  toMap,
  toNumber,
  toNumeric,
  toText,
  unified,
  unknown,
  type Value
} from "./Values.js"
import type { Work } from "./Work.js"

type Arguments = ReadonlyArray<Value>
type Implementation = (given: Arguments, scope: Scope) => Value

const argument = (given: Arguments, index: number): Value => {
  const value = given[index]
  return value === undefined ? refuse("an argument is missing") : value
}
const textAt = (given: Arguments, index: number): string => toText(argument(given, index))
const numberAt = (given: Arguments, index: number): number => toNumber(argument(given, index))
const numericAt = (given: Arguments, index: number): Numeric => toNumeric(argument(given, index))
const finiteAt = (given: Arguments, index: number): Numeric => {
  const value = numericAt(given, index)
  return value === Infinity || value === -Infinity ? refuse("a finite number is required") : value
}
const integerAt = (given: Arguments, index: number): number => {
  const value = numericAt(given, index)
  return typeof value === "number" && Number.isInteger(value) ? value : refuse("a whole number is required")
}
const itemsAt = (given: Arguments, index: number): ReadonlyArray<Value> => toItems(argument(given, index))
const textsAt = (given: Arguments, index: number): ReadonlyArray<string> => itemsAt(given, index).map(toText)
const mapAt = (given: Arguments, index: number): MapValue => toMap(argument(given, index))

/** Characters of a pattern. */
const maximumPattern = 4096

/** Instructions of a pattern times characters of a text: less than 50 ms. */
const maximumPatternWork = 500_000
/** The same in the time of a step. */
const patternWorkOfStep = 25

/** Compiled patterns by their sources, the one that was used last at the end. */
const compiled = new Map<string, RE2JS>()
const maximumCompiled = 500

const compile = (source: string, work: Work): RE2JS => {
  const known = compiled.get(source)
  compiled.delete(source)
  const pattern = known ?? RE2JS.compile(source)
  if (known === undefined) work.step(pattern.programSize() / 2)
  compiled.set(source, pattern)
  const [oldest] = compiled.keys()
  if (compiled.size > maximumCompiled && oldest !== undefined) compiled.delete(oldest)
  return pattern
}

const patterns = (source: string, text: string, work: Work): RE2JS => {
  if (source.length > maximumPattern) return refuse("the pattern is too long")
  try {
    const pattern = compile(source, work)
    const size = pattern.programSize() * text.length
    if (size > maximumPatternWork) return refuse("the text is too long for the pattern")
    work.step(size / patternWorkOfStep)
    return pattern
  } catch (error) {
    if (error instanceof EvaluationError) throw error
    return refuse(`the pattern is wrong: ${error instanceof Error ? error.message : String(error)}`)
  }
}

type Matcher = ReturnType<RE2JS["matcher"]>

/** The whole match, a list of groups, or a map of named groups. */
const matchValue = (pattern: RE2JS, matcher: Matcher): Value => {
  const count = matcher.groupCount()
  if (count === 0) return matcher.group() ?? ""
  const names = Object.entries(pattern.namedGroups())
  if (names.length > 0) return new Map(names.map(([name, index]) => [name, matcher.group(Number(index)) ?? null]))
  return Array.from({ length: count }, (_, index) => matcher.group(index + 1) ?? null)
}

const regex: Implementation = (given, { work }) => {
  const text = textAt(given, 1)
  const pattern = patterns(textAt(given, 0), text, work)
  const matcher = pattern.matcher(text)
  return matcher.find() ? matchValue(pattern, matcher) : refuse("the pattern does not match the text")
}

const regexAll: Implementation = (given, { work }) => {
  const text = textAt(given, 1)
  const pattern = patterns(textAt(given, 0), text, work)
  const matcher = pattern.matcher(text)
  const found: Array<Value> = []
  while (matcher.find()) found.push(matchValue(pattern, matcher))
  return found
}

const replace: Implementation = (given, { work }) => {
  const [text, search, by] = [textAt(given, 0), textAt(given, 1), textAt(given, 2)]
  const count = search === "" ? text.length + 1 : text.split(search).length
  work.step(Math.ceil((count * by.length) / 100))
  if (search.length > 2 && search.startsWith("/") && search.endsWith("/")) {
    const pattern = patterns(search.slice(1, -1), text, work)
    work.step(Math.ceil((text.length * by.length) / 100))
    // Group references of Go and of this library are alike but for the braces
    return pattern.matcher(text).replaceAll(by, true)
  }
  return text.replaceAll(search, () => by)
}

const hash =
  (algorithm: string, encoding: "hex" | "base64"): Implementation =>
  (given) =>
    createHash(algorithm).update(textAt(given, 0)).digest(encoding)

const pathOf = (path: string): string => {
  const clean = posix.normalize(path)
  return posix.isAbsolute(clean) || clean.startsWith("..") ? refuse(`${path} is not a file of the template`) : clean
}

const fileBytes = (given: Arguments, { files, work }: Scope): Uint8Array => {
  const path = textAt(given, 0)
  const bytes = files.get(pathOf(path)) ?? refuse(`there is no file ${path}`)
  work.visit(bytes.byteLength / 100)
  return bytes
}

const decodeText = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return refuse("the content is not UTF-8")
  }
}

const fileHash =
  (algorithm: string, encoding: "hex" | "base64"): Implementation =>
  (given, scope) =>
    createHash(algorithm).update(fileBytes(given, scope)).digest(encoding)

/** A pattern of paths with `*`, `**`, `?`, classes and alternatives. */
const globPattern = (glob: string): string => {
  let groups = 0
  return `^${glob.replaceAll(/\*\*\/|\*\*|\*|\?|\[[^\]]*\]|[{},]|[.+^$()|\\]/g, (sign) => {
    if (sign === "**/") return "(?:.*/)?"
    if (sign === "**") return ".*"
    if (sign === "*") return "[^/]*"
    if (sign === "?") return "[^/]"
    if (sign === "{") {
      groups++
      return "(?:"
    }
    if (sign === "}") {
      groups--
      return ")"
    }
    if (sign === ",") return groups > 0 ? "|" : ","
    return sign.startsWith("[") ? sign : `\\${sign}`
  })}$`
}

const fileset: Implementation = (given, { files, work }) => {
  const folder = pathOf(textAt(given, 0))
  if (textAt(given, 1).length > maximumPattern) return refuse("the pattern is too long")
  const glob = globPattern(posix.normalize(textAt(given, 1)))
  const prefix = folder === "." || folder === "./" ? "" : `${folder.replace(/\/$/, "")}/`
  work.step(files.size)
  return makeSet(
    [...files.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
      .filter((path) => patterns(glob, path, work).test(path)),
    work
  )
}

/** A template with values of its own: it sees no names of the module around. */
const renderTemplate = (source: string, values: Value, scope: Scope): Value => {
  try {
    const names = toMap(values)
    const resolve = (root: string) => refuse(`the template is given no ${root}`)
    return scope.evaluate(parseTemplate(source, 1), { ...scope, names, resolve })
  } catch (error) {
    if (error instanceof HclError) return refuse(error.message)
    throw error
  }
}

const flattened = (items: ReadonlyArray<Value>, work: Work): ReadonlyArray<Value> => {
  work.visit(items.length)
  return items.flatMap((item) => (isList(item) || item instanceof SetValue ? flattened(toItems(item), work) : [item]))
}

const distinct = (items: ReadonlyArray<Value>, work: Work): ReadonlyArray<Value> => {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = keyOf(item, work)
    return seen.has(key) ? false : seen.add(key) !== undefined
  })
}

/** Whether a value is one of the items; goes through them once for many values. */
const membersOf = (items: ReadonlyArray<Value>, work: Work): ((value: Value) => boolean) => {
  const keys = new Set(items.map((item) => keyOf(item, work)))
  return (value) => keys.has(keyOf(value, work))
}

const lengthOf = (value: Value): number => {
  // As the user sees characters
  if (typeof value === "string") return [...new Intl.Segmenter().segment(value)].length
  return isList(value) || value instanceof SetValue ? toItems(value).length : toMap(value).size
}

const slice: Implementation = (given) => {
  const [items, from, to] = [itemsAt(given, 0), integerAt(given, 1), integerAt(given, 2)]
  return from < 0 || to > items.length || from > to ? refuse("the indexes are outside the list") : items.slice(from, to)
}

const substr: Implementation = (given) => {
  const characters = [...textAt(given, 0)]
  const [offset, length] = [integerAt(given, 1), integerAt(given, 2)]
  const from = offset < 0 ? Math.max(0, characters.length + offset) : offset
  return characters.slice(from, length < 0 ? undefined : from + length).join("")
}

const range: Implementation = (given) => {
  const [first = 0, second, third] = given.map(toNumeric)
  const [from, to] = second === undefined ? [0, first] : [first, second]
  const direction = compareNumbers(to, from)
  const step = third ?? (direction < 0 ? -1 : 1)
  if (step === 0 || compareNumbers(step, 0) * direction < 0) return refuse("the step of the range leads away from its end")
  const numbers: Array<Numeric> = []
  for (let next = from; compareNumbers(to, next) * direction > 0; next = computed("+", next, step)) {
    if (numbers.length === 1024) return refuse("a range has at most 1024 numbers")
    numbers.push(next)
  }
  return numbers
}

const merge: Implementation = (given) => {
  const maps = given.filter((value) => value !== null)
  return maps.includes(unknown) ? unknown : new Map(maps.flatMap((map) => [...toMap(map)]))
}

const lookup: Implementation = (given) => {
  const found = mapAt(given, 0).get(textAt(given, 1))
  return found ?? given[2] ?? refuse(`there is no element ${textAt(given, 1)}`)
}

const element: Implementation = (given) => {
  const [items, index] = [itemsAt(given, 0), integerAt(given, 1)]
  if (items.length === 0) return refuse("an empty list has no element")
  return items[((index % items.length) + items.length) % items.length] ?? null
}

const setOperation =
  (combine: (left: ReadonlyArray<Value>, right: ReadonlyArray<Value>, work: Work) => ReadonlyArray<Value>): Implementation =>
  (given, { work }) =>
    makeSet(
      given.map(toItems).reduce((left, right) => combine(left, right, work)),
      work
    )

const setProduct: Implementation = (given, { work }) => {
  const lists = given.map(toItems)
  const count = lists.reduce((product, items) => product * items.length, 1)
  work.step(count * lists.length)
  const rows = lists.reduce<ReadonlyArray<ReadonlyArray<Value>>>(
    (sofar, items) => sofar.flatMap((row) => items.map((item) => [...row, item])),
    [[]]
  )
  return given.every((value) => value instanceof SetValue) ? makeSet(rows, work) : rows
}

const chunks: Implementation = (given) => {
  const [items, size] = [itemsAt(given, 0), integerAt(given, 1)]
  if (size < 0) return refuse("the size of a chunk must not be negative")
  if (size === 0) return [items]
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))
}

const transpose: Implementation = (given) => {
  const turned = new Map<string, Array<string>>()
  for (const [key, values] of sortedEntries(mapAt(given, 0)))
    for (const value of toItems(values).map(toText)) {
      const found = turned.get(value)
      if (found === undefined) turned.set(value, [key])
      else found.push(key)
    }
  return turned
}

/** As Go writes JSON: these characters are escaped too. */
const escapedJson = (value: Value, work: Work): string =>
  encodeJson(value, work).replaceAll(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Numbers in YAML with all their digits. */
const yamlNumber: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: (value) => value instanceof Real,
  resolve: (text) => text,
  stringify: ({ value }) => (value instanceof Real ? numberText(value) : String(value))
}

/** As Terraform writes it: texts in quotes, and those of several lines as blocks. */
const encodeYaml = (value: unknown): string => {
  const document = new Document(value, { customTags: [yamlNumber] })
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string") scalar.type = scalar.value.includes("\n") ? "BLOCK_LITERAL" : "QUOTE_DOUBLE"
    }
  })
  return document.toString({ lineWidth: 0, indentSeq: false })
}

const fromYaml = (value: unknown, work: Work): Value => {
  work.visit(1)
  if (typeof value === "bigint") return fromBigInt(value)
  if (typeof value === "number") return fromDouble(value)
  if (value === null || typeof value === "string" || typeof value === "boolean") return value
  if (Array.isArray(value)) return value.map((item) => fromYaml(item, work))
  if (typeof value === "object") return new Map(Object.entries(value).map(([key, item]) => [key, fromYaml(item, work)]))
  return refuse("the value is of no type that expressions know")
}

/** Words such as `yes` are bools; times stay texts. */
const yamlOptions = {
  maxAliasCount: 100,
  intAsBigInt: true,
  schema: "yaml-1.1",
  customTags: (tags: Tags): Tags => tags.filter((tag) => typeof tag === "string" || tag.tag !== "tag:yaml.org,2002:timestamp")
}

/** Reads a field at a place; answers what it holds and the place behind it. */
const csvField = (source: string, from: number): readonly [text: string, end: number] => {
  if (source[from] !== '"') {
    const bare = /[^,\n]*/y
    bare.lastIndex = from
    const [text = ""] = bare.exec(source) ?? []
    return [text, from + text.length]
  }
  const parts: Array<string> = []
  for (let at = from + 1; ;) {
    const quote = source.indexOf('"', at)
    if (quote < 0) return refuse("a quoted field has no end")
    parts.push(source.slice(at, quote))
    if (source[quote + 1] !== '"') return [parts.join('"'), quote + 1]
    at = quote + 2
  }
}

const csvRows = (source: string): ReadonlyArray<ReadonlyArray<string>> => {
  const rows: Array<Array<string>> = []
  for (let at = 0; at < source.length;) {
    const row: Array<string> = []
    for (let isMore = true; isMore;) {
      const [text, end] = csvField(source, at)
      row.push(text)
      isMore = source[end] === ","
      if (!isMore && end < source.length && source[end] !== "\n") return refuse("a quoted field goes on behind its end")
      at = end + 1
    }
    if (row.length > 1 || row[0] !== "") rows.push(row)
  }
  return rows
}

const csv: Implementation = (given) => {
  const [head = [], ...body] = csvRows(textAt(given, 0).replaceAll("\r\n", "\n"))
  return body.map((row) =>
    row.length === head.length ? new Map(head.map((name, index) => [name, row[index] ?? ""])) : refuse("the rows have different lengths")
  )
}

const parseInteger: Implementation = (given) => {
  const [text, base] = [textAt(given, 0), integerAt(given, 1)]
  const body = text.toLowerCase().replace(/^[+-]/, "")
  if (base < 2 || base > 62) return refuse("the base must be from 2 to 62")
  if (body.length > 1_000) return refuse("the number is too long")
  let value = 0n
  for (const sign of base > 36 ? text.replace(/^[+-]/, "") : body) {
    const digit = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".indexOf(sign)
    if (digit < 0 || digit >= base) return refuse(`${JSON.stringify(text)} is no number of base ${base}`)
    value = value * BigInt(base) + BigInt(digit)
  }
  if (body === "") return refuse(`${JSON.stringify(text)} is no number of base ${base}`)
  return fromBigInt(text.startsWith("-") ? -value : value)
}

const log: Implementation = (given) => {
  const [value, base] = [numberAt(given, 0), numberAt(given, 1)]
  const exact = Math.log(value) / Math.log(base)
  // Logarithms of powers are whole
  return fromDouble(Math.abs(exact - Math.round(exact)) < 1e-12 ? Math.round(exact) : exact)
}

const uuidv5: Implementation = (given) => {
  const namespaces: Readonly<Record<string, string>> = { dns: "10", url: "11", oid: "12", x500: "14" }
  const [space, name] = [textAt(given, 0), textAt(given, 1)]
  const id = namespaces[space] === undefined ? space : `6ba7b8${namespaces[space]}-9dad-11d1-80b4-00c04fd430c8`
  if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return refuse("the namespace is no UUID")
  const bytes = createHash("sha1")
    .update(Buffer.from(id.replaceAll("-", ""), "hex"))
    .update(name)
    .digest()
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

const encodings: Readonly<Record<string, BufferEncoding>> = {
  "utf-8": "utf8",
  utf8: "utf8",
  "utf-16le": "utf16le",
  "us-ascii": "latin1",
  "iso-8859-1": "latin1"
}
const encodingOf = (name: string): BufferEncoding =>
  encodings[name.toLowerCase()] ?? refuse(`the encoding ${name} is not supported in forms`)

const base64 = (text: string): Buffer => {
  const bytes = Buffer.from(text, "base64")
  return bytes.toString("base64") === text ? bytes : refuse("the text is not Base64")
}

const trimSet = (text: string, signs: string, where: "both" | "start" | "end"): string => {
  const characters = [...text]
  let [from, to] = [0, characters.length]
  if (where !== "end") while (from < to && signs.includes(characters[from] ?? "")) from++
  if (where !== "start") while (to > from && signs.includes(characters[to - 1] ?? "")) to--
  return characters.slice(from, to).join("")
}

const convertible =
  (convert: (value: Value, work: Work) => Value): Implementation =>
  (given, { work }) => {
    const value = argument(given, 0)
    return value === null ? null : convert(value, work)
  }

const urlEncode = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll("%20", "+")
    .replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

const coalesce: Implementation = (given) => {
  const isText = given.some((value) => typeof value === "string")
  for (const value of given) {
    if (value === unknown) return unknown
    if (value !== null && value !== "") return isText ? toText(value) : value
  }
  return refuse("all arguments are null or empty")
}

const timestampOf = (text: string): number => parseTime(text)

const functions: Readonly<Record<string, Implementation>> = {
  ...networkFunctions,
  abs: (given) => {
    const value = numericAt(given, 0)
    return compareNumbers(value, 0) < 0 ? negated(value) : value
  },
  ceil: (given) => fromBigInt(-floorOf(negated(finiteAt(given, 0)))),
  floor: (given) => fromBigInt(floorOf(finiteAt(given, 0))),
  log,
  max: (given) => given.map(toNumeric).reduce((a, b) => (compareNumbers(a, b) < 0 ? b : a)),
  min: (given) => given.map(toNumeric).reduce((a, b) => (compareNumbers(b, a) < 0 ? b : a)),
  parseint: parseInteger,
  pow: (given) => fromDouble(numberAt(given, 0) ** numberAt(given, 1)),
  signum: (given) => compareNumbers(numericAt(given, 0), 0),
  sum: (given) =>
    itemsAt(given, 0)
      .map(toNumeric)
      .reduce((a, b) => computed("+", a, b)),

  chomp: (given) => withoutLastLines(textAt(given, 0)),
  endswith: (given) => textAt(given, 0).endsWith(textAt(given, 1)),
  format: (given, { work }) => formatText(textAt(given, 0), given.slice(1), work),
  formatlist: (given, { work }) => {
    const [pattern, ...rest] = given
    const lengths = rest.flatMap((value) => (isList(value) || value instanceof SetValue ? [toItems(value).length] : []))
    const [count = 1] = lengths
    if (lengths.some((length) => length !== count)) return refuse("the lists have different lengths")
    return Array.from({ length: count }, (_, index) =>
      formatText(
        toText(pattern ?? ""),
        rest.map((value) => (isList(value) || value instanceof SetValue ? (toItems(value)[index] ?? null) : value)),
        work
      )
    )
  },
  indent: (given, { work }) =>
    work.joined(textAt(given, 1).split("\n"), `\n${" ".repeat(Math.min(1000, Math.max(0, integerAt(given, 0))))}`),
  join: (given, { work }) => work.joined(given.slice(1).flatMap(toItems).map(toText), textAt(given, 0)),
  lower: (given) => textAt(given, 0).toLowerCase(),
  regex,
  regexall: regexAll,
  replace,
  split: (given) => textAt(given, 1).split(textAt(given, 0)),
  startswith: (given) => textAt(given, 0).startsWith(textAt(given, 1)),
  strcontains: (given) => textAt(given, 0).includes(textAt(given, 1)),
  strrev: (given) =>
    Array.from(new Intl.Segmenter().segment(textAt(given, 0)), ({ segment }) => segment)
      .toReversed()
      .join(""),
  substr,
  title: (given) =>
    textAt(given, 0).replaceAll(/(^|[^\p{L}\p{N}_])(\p{L})/gu, (_, before: string, letter: string) => before + letter.toUpperCase()),
  trim: (given) => trimSet(textAt(given, 0), textAt(given, 1), "both"),
  trimprefix: (given) => {
    const [text, prefix] = [textAt(given, 0), textAt(given, 1)]
    return text.startsWith(prefix) ? text.slice(prefix.length) : text
  },
  trimsuffix: (given) => {
    const [text, suffix] = [textAt(given, 0), textAt(given, 1)]
    return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text
  },
  trimspace: (given) => textAt(given, 0).trim(),
  upper: (given) => textAt(given, 0).toUpperCase(),

  alltrue: (given) => itemsAt(given, 0).every((item) => item !== null && toBool(item)),
  anytrue: (given) => itemsAt(given, 0).some((item) => item !== null && toBool(item)),
  chunklist: chunks,
  coalesce,
  coalescelist: (given) => given.find((value) => value !== null && toItems(value).length > 0) ?? refuse("all lists are empty"),
  compact: (given) => itemsAt(given, 0).flatMap((item) => (item === null || item === "" ? [] : [toText(item)])),
  concat: (given) => given.flatMap(toItems),
  contains: (given, { work }) => itemsAt(given, 0).some((item) => isEqual(item, argument(given, 1), work)),
  distinct: (given, { work }) => distinct(itemsAt(given, 0), work),
  element,
  flatten: (given, { work }) => flattened(itemsAt(given, 0), work),
  index: (given, { work }) => {
    const index = itemsAt(given, 0).findIndex((item) => isEqual(item, argument(given, 1), work))
    return index < 0 ? refuse("the list has no such element") : index
  },
  keys: (given) => sortedEntries(mapAt(given, 0)).map(([key]) => key),
  length: (given) => lengthOf(argument(given, 0)),
  list: (given) => unified(given),
  lookup,
  map: (given) => new Map(given.flatMap((key, index) => (index % 2 === 0 ? [[toText(key), argument(given, index + 1)] as const] : []))),
  matchkeys: (given, { work }) => {
    const keys = itemsAt(given, 1)
    const isWanted = membersOf(itemsAt(given, 2), work)
    return itemsAt(given, 0).filter((_, index) => isWanted(keys[index] ?? null))
  },
  merge,
  one: (given) => {
    const items = itemsAt(given, 0)
    return items.length > 1 ? refuse("the list has several elements") : (items[0] ?? null)
  },
  range,
  reverse: (given) => itemsAt(given, 0).toReversed(),
  setintersection: setOperation((left, right, work) => left.filter(membersOf(right, work))),
  setproduct: setProduct,
  setsubtract: setOperation((left, right, work) => {
    const isRight = membersOf(right, work)
    return left.filter((item) => !isRight(item))
  }),
  setunion: setOperation((left, right) => [...left, ...right]),
  slice,
  sort: (given) => textsAt(given, 0).toSorted(byBytes),
  transpose,
  values: (given) => sortedEntries(mapAt(given, 0)).map(([, value]) => value),
  zipmap: (given) => {
    const [keys, values] = [textsAt(given, 0), itemsAt(given, 1)]
    return keys.length === values.length
      ? new Map(keys.map((key, index) => [key, values[index] ?? null]))
      : refuse("the lists have different lengths")
  },

  base64decode: (given) => decodeText(base64(textAt(given, 0))),
  base64encode: (given) => Buffer.from(textAt(given, 0)).toString("base64"),
  base64gzip: (given) => gzipSync(textAt(given, 0)).toString("base64"),
  csvdecode: csv,
  jsondecode: (given, { work }) => {
    try {
      return parseJson(textAt(given, 0), work)
    } catch (error) {
      if (error instanceof HclError) return refuse("the text is not JSON")
      throw error
    }
  },
  jsonencode: (given, { work }) => escapedJson(argument(given, 0), work),
  textdecodebase64: (given) => base64(textAt(given, 0)).toString(encodingOf(textAt(given, 1))),
  textencodebase64: (given) => Buffer.from(textAt(given, 0), encodingOf(textAt(given, 1))).toString("base64"),
  urlencode: (given) => urlEncode(textAt(given, 0)),
  yamldecode: (given, { work }) => {
    try {
      return fromYaml(parseYaml(textAt(given, 0), yamlOptions), work)
    } catch (error) {
      if (error instanceof EvaluationError) throw error
      return refuse("the text is not YAML")
    }
  },
  yamlencode: (given, { work }) => encodeYaml(plain(argument(given, 0), work)),

  base64sha256: hash("sha256", "base64"),
  base64sha512: hash("sha512", "base64"),
  md5: hash("md5", "hex"),
  sha1: hash("sha1", "hex"),
  sha256: hash("sha256", "hex"),
  sha512: hash("sha512", "hex"),
  uuidv5,
  bcrypt: () => unknown,
  uuid: () => unknown,
  timestamp: () => unknown,
  plantimestamp: () => unknown,
  rsadecrypt: () => unknown,

  abspath: (given) => posix.resolve("/", textAt(given, 0)),
  basename: (given) => posix.basename(textAt(given, 0)),
  dirname: (given) => posix.dirname(textAt(given, 0)),
  pathexpand: (given) => textAt(given, 0),
  file: (given, scope) => decodeText(fileBytes(given, scope)),
  filebase64: (given, scope) => Buffer.from(fileBytes(given, scope)).toString("base64"),
  filebase64sha256: fileHash("sha256", "base64"),
  filebase64sha512: fileHash("sha512", "base64"),
  fileexists: (given, { files }) => files.has(pathOf(textAt(given, 0))),
  filemd5: fileHash("md5", "hex"),
  fileset,
  filesha1: fileHash("sha1", "hex"),
  filesha256: fileHash("sha256", "hex"),
  filesha512: fileHash("sha512", "hex"),
  templatefile: (given, scope) => renderTemplate(decodeText(fileBytes(given, scope)), argument(given, 1), scope),
  templatestring: (given, scope) => renderTemplate(textAt(given, 0), argument(given, 1), scope),

  formatdate: (given) => formatDate(textAt(given, 0), timestampOf(textAt(given, 1))),
  timeadd: (given) => {
    const time = new Date(timestampOf(textAt(given, 0)) + parseDuration(textAt(given, 1)))
    return Number.isNaN(time.getTime()) ? refuse("the time is out of range") : time.toISOString().replace(".000Z", "Z")
  },
  timecmp: (given) => Math.sign(timestampOf(textAt(given, 0)) - timestampOf(textAt(given, 1))),

  ephemeralasnull: (given) => argument(given, 0),
  issensitive: () => false,
  nonsensitive: (given) => argument(given, 0),
  sensitive: (given) => argument(given, 0),
  tobool: convertible(toBool),
  tolist: convertible((value) => unified(toItems(value))),
  tomap: convertible((value) => {
    const entries = sortedEntries(toMap(value))
    const items = unified(entries.map(([, item]) => item))
    return new Map(entries.map(([key], index) => [key, items[index] ?? null]))
  }),
  tonumber: convertible(toNumeric),
  toset: convertible((value, work) => makeSet(unified(toItems(value)), work)),
  tostring: convertible(toText)
}

/** Functions that look at the outside of collections, whose elements may be unknown, or that want no value known. */
const tolerant = new Set([
  "length",
  "keys",
  "values",
  "merge",
  "concat",
  "element",
  "lookup",
  "list",
  "map",
  "zipmap",
  "slice",
  "reverse",
  "chunklist",
  "coalesce",
  "tolist",
  "tomap",
  "one",
  "flatten",
  "issensitive",
  "nonsensitive",
  "sensitive",
  "ephemeralasnull"
])

/** Functions whose time for a character is many times that of others. */
const slow: Readonly<Record<string, number>> = {
  base64gzip: 20,
  csvdecode: 20,
  jsondecode: 20,
  length: 50,
  split: 20,
  strrev: 50,
  substr: 10,
  templatefile: 50,
  templatestring: 50,
  title: 20,
  trim: 10,
  yamldecode: 200
}

/** Calls a function with values. Fails with `EvaluationError`, which is thrown. */
export const callFunction = (name: string, given: Arguments, scope: Scope): Value => {
  const { work } = scope
  const short = name.replace(/^core::/, "")
  const implementation = Object.hasOwn(functions, short) ? functions[short] : undefined
  if (implementation === undefined) return refuse(`there is no function ${name}`)
  const factor = Object.hasOwn(slow, short) ? (slow[short] ?? 1) : 1
  work.step()
  for (const value of given) work.visit(sizeOf(value, factor))
  const isOpen =
    tolerant.has(short) && short !== "coalesce"
      ? given.includes(unknown)
      : short !== "coalesce" && given.some((value) => hasUnknown(value, work))
  if (isOpen) return short === "issensitive" ? false : unknown
  const value = implementation(given, scope)
  if (typeof value === "string") return work.made(value)
  work.visit(sizeOf(value, 1))
  return value
}

/** Characters in the time of an element. */
const charactersOfVisit = 20

/** How much a function has to look at. */
const sizeOf = (value: Value, factor: number): number => {
  if (typeof value === "string") return Math.ceil((value.length * factor) / charactersOfVisit)
  if (isNumber(value)) return value instanceof Real ? 200 : 1
  if (isList(value)) return value.length
  if (value instanceof SetValue) return value.items.length
  return isMap(value) ? value.size : 0
}
