/** The functions of Terraform 1.11 that need no provider. What differs from run to run is unknown. */
import { createHash } from "node:crypto"
import { posix } from "node:path"
import { gzipSync } from "node:zlib"
import { RE2JS } from "re2js"
import { Document, parse as parseYaml, type Tags, visit } from "yaml"
import { networkFunctions } from "./NetworkFunctions.js"
import type { Scope } from "./Scope.js"
import { parseTemplate } from "./Expressions.js"
import { HclError } from "./Hcl.js"
import { formatDate, formatText, parseTime } from "./TextFunctions.js"
import {
  byBytes,
  EvaluationError,
  fromPlain,
  hasUnknown,
  isEqual,
  isList,
  isMap,
  makeSet,
  type MapValue,
  plain,
  refuse,
  SetValue,
  sortedEntries,
  toBool,
  toItems,
  toMap,
  toNumber,
  toText,
  unified,
  unknown,
  type Value
} from "./Values.js"

type Arguments = ReadonlyArray<Value>
type Implementation = (given: Arguments, scope: Scope) => Value

const argument = (given: Arguments, index: number): Value => {
  const value = given[index]
  return value === undefined ? refuse("an argument is missing") : value
}
const textAt = (given: Arguments, index: number): string => toText(argument(given, index))
const numberAt = (given: Arguments, index: number): number => toNumber(argument(given, index))
const integerAt = (given: Arguments, index: number): number => {
  const value = numberAt(given, index)
  return Number.isInteger(value) ? value : refuse("a whole number is required")
}
const itemsAt = (given: Arguments, index: number): ReadonlyArray<Value> => toItems(argument(given, index))
const textsAt = (given: Arguments, index: number): ReadonlyArray<string> => itemsAt(given, index).map(toText)
const mapAt = (given: Arguments, index: number): MapValue => toMap(argument(given, index))

const maximumPatternWork = 500_000

const patterns = (source: string, text: string): RE2JS => {
  if (source.length > 4096) return refuse("the pattern is too long")
  try {
    const pattern = RE2JS.compile(source)
    return pattern.programSize() * text.length > maximumPatternWork ? refuse("the text is too long for the pattern") : pattern
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

const regex: Implementation = (given) => {
  const text = textAt(given, 1)
  const pattern = patterns(textAt(given, 0), text)
  const matcher = pattern.matcher(text)
  return matcher.find() ? matchValue(pattern, matcher) : refuse("the pattern does not match the text")
}

const regexAll: Implementation = (given) => {
  const text = textAt(given, 1)
  const pattern = patterns(textAt(given, 0), text)
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
    const pattern = patterns(search.slice(1, -1), text)
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
  work.step(Math.ceil(bytes.byteLength / 1000))
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
  const glob = globPattern(posix.normalize(textAt(given, 1)))
  const prefix = folder === "." || folder === "./" ? "" : `${folder.replace(/\/$/, "")}/`
  work.step(files.size)
  return makeSet(
    [...files.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
      .filter((path) => patterns(glob, path).test(path))
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

const flattened = (items: ReadonlyArray<Value>): ReadonlyArray<Value> =>
  items.flatMap((item) => (isList(item) || item instanceof SetValue ? flattened(toItems(item)) : [item]))

const distinct = (items: ReadonlyArray<Value>): ReadonlyArray<Value> => {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = JSON.stringify(plain(item))
    return seen.has(key) ? false : seen.add(key) !== undefined
  })
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
  const numbers = given.map(toNumber)
  const [first = 0, second] = numbers
  const [from, to] = second === undefined ? [0, first] : [first, second]
  const step = numbers[2] ?? (from <= to ? 1 : -1)
  if (step === 0 || (from < to && step < 0) || (from > to && step > 0)) return refuse("the step of the range leads away from its end")
  const count = Math.max(0, Math.ceil((to - from) / step))
  return count > 1024 ? refuse("a range has at most 1024 numbers") : Array.from({ length: count }, (_, index) => from + index * step)
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
  (combine: (left: ReadonlyArray<Value>, right: ReadonlyArray<Value>) => ReadonlyArray<Value>): Implementation =>
  (given) =>
    makeSet(given.map(toItems).reduce(combine))

const isIn = (items: ReadonlyArray<Value>, value: Value): boolean => items.some((item) => isEqual(item, value))

const setProduct: Implementation = (given, { work }) => {
  const lists = given.map(toItems)
  const count = lists.reduce((product, items) => product * items.length, 1)
  work.step(count * lists.length)
  const rows = lists.reduce<ReadonlyArray<ReadonlyArray<Value>>>(
    (sofar, items) => sofar.flatMap((row) => items.map((item) => [...row, item])),
    [[]]
  )
  return given.every((value) => value instanceof SetValue) ? makeSet(rows) : rows
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
    for (const value of toItems(values).map(toText)) turned.set(value, [...(turned.get(value) ?? []), key])
  return turned
}

const parseJson = (text: string): Value => {
  try {
    return fromPlain(JSON.parse(text))
  } catch {
    return refuse("the text is not JSON")
  }
}

/** As Go writes JSON: these characters are escaped too. */
const encodeJson = (value: Value): string =>
  JSON.stringify(plain(value)).replaceAll(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** As Terraform writes it: texts in quotes, and those of several lines as blocks. */
const encodeYaml = (value: unknown): string => {
  const document = new Document(value)
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string") scalar.type = scalar.value.includes("\n") ? "BLOCK_LITERAL" : "QUOTE_DOUBLE"
    }
  })
  return document.toString({ lineWidth: 0, indentSeq: false })
}

/** Words such as `yes` are bools; times stay texts. */
const yamlOptions = {
  maxAliasCount: 100,
  schema: "yaml-1.1",
  customTags: (tags: Tags): Tags => tags.filter((tag) => typeof tag === "string" || tag.tag !== "tag:yaml.org,2002:timestamp")
}

const csv: Implementation = (given) => {
  const rows: Array<Array<string>> = [[]]
  const source = textAt(given, 0).replaceAll("\r\n", "\n")
  for (const [, quoted, bare = "", end] of source.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare)
    if (end === "\n") rows.push([])
    if (end === "") break
  }
  const [head = [], ...body] = rows.filter((row) => row.length > 1 || row[0] !== "")
  return body.map((row) =>
    row.length === head.length ? new Map(head.map((name, index) => [name, row[index] ?? ""])) : refuse("the rows have different lengths")
  )
}

const parseInteger: Implementation = (given) => {
  const [text, base] = [textAt(given, 0), integerAt(given, 1)]
  const digits = "0123456789abcdefghijklmnopqrstuvwxyz".slice(0, base)
  const body = text.toLowerCase().replace(/^[+-]/, "")
  if (base < 2 || base > 36 || body === "" || [...body].some((digit) => !digits.includes(digit)))
    return refuse(`${JSON.stringify(text)} is no number of base ${base}`)
  return Number.parseInt(text, base)
}

const log: Implementation = (given) => {
  const [value, base] = [numberAt(given, 0), numberAt(given, 1)]
  const exact = Math.log(value) / Math.log(base)
  // Logarithms of powers are whole
  return Math.abs(exact - Math.round(exact)) < 1e-12 ? Math.round(exact) : exact
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
  (convert: (value: Value) => Value): Implementation =>
  (given) => {
    const value = argument(given, 0)
    return value === null ? null : convert(value)
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
  abs: (given) => Math.abs(numberAt(given, 0)),
  ceil: (given) => Math.ceil(numberAt(given, 0)),
  floor: (given) => Math.floor(numberAt(given, 0)),
  log,
  max: (given) => Math.max(...given.map(toNumber)),
  min: (given) => Math.min(...given.map(toNumber)),
  parseint: parseInteger,
  pow: (given) => numberAt(given, 0) ** numberAt(given, 1),
  signum: (given) => Math.sign(integerAt(given, 0)),
  sum: (given) =>
    itemsAt(given, 0)
      .map(toNumber)
      .reduce((a, b) => a + b),

  chomp: (given) => textAt(given, 0).replace(/[\r\n]+$/, ""),
  endswith: (given) => textAt(given, 0).endsWith(textAt(given, 1)),
  format: (given) => formatText(textAt(given, 0), given.slice(1)),
  formatlist: (given) => {
    const [pattern, ...rest] = given
    const lengths = rest.flatMap((value) => (isList(value) || value instanceof SetValue ? [toItems(value).length] : []))
    const [count = 1] = lengths
    if (lengths.some((length) => length !== count)) return refuse("the lists have different lengths")
    return Array.from({ length: count }, (_, index) =>
      formatText(
        toText(pattern ?? ""),
        rest.map((value) => (isList(value) || value instanceof SetValue ? (toItems(value)[index] ?? null) : value))
      )
    )
  },
  indent: (given) => textAt(given, 1).replaceAll("\n", `\n${" ".repeat(Math.min(1000, Math.max(0, integerAt(given, 0))))}`),
  join: (given) => given.slice(1).flatMap(toItems).map(toText).join(textAt(given, 0)),
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
  contains: (given) => isIn(itemsAt(given, 0), argument(given, 1)),
  distinct: (given) => distinct(itemsAt(given, 0)),
  element,
  flatten: (given) => flattened(itemsAt(given, 0)),
  index: (given) => {
    const index = itemsAt(given, 0).findIndex((item) => isEqual(item, argument(given, 1)))
    return index < 0 ? refuse("the list has no such element") : index
  },
  keys: (given) => sortedEntries(mapAt(given, 0)).map(([key]) => key),
  length: (given) => lengthOf(argument(given, 0)),
  list: (given) => unified(given),
  lookup,
  map: (given) => new Map(given.flatMap((key, index) => (index % 2 === 0 ? [[toText(key), argument(given, index + 1)] as const] : []))),
  matchkeys: (given) => {
    const [keys, wanted] = [itemsAt(given, 1), itemsAt(given, 2)]
    return itemsAt(given, 0).filter((_, index) => isIn(wanted, keys[index] ?? null))
  },
  merge,
  one: (given) => {
    const items = itemsAt(given, 0)
    return items.length > 1 ? refuse("the list has several elements") : (items[0] ?? null)
  },
  range,
  reverse: (given) => itemsAt(given, 0).toReversed(),
  setintersection: setOperation((left, right) => left.filter((item) => isIn(right, item))),
  setproduct: setProduct,
  setsubtract: setOperation((left, right) => left.filter((item) => !isIn(right, item))),
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
  jsondecode: (given) => parseJson(textAt(given, 0)),
  jsonencode: (given) => encodeJson(argument(given, 0)),
  textdecodebase64: (given) => base64(textAt(given, 0)).toString(encodingOf(textAt(given, 1))),
  textencodebase64: (given) => Buffer.from(textAt(given, 0), encodingOf(textAt(given, 1))).toString("base64"),
  urlencode: (given) => urlEncode(textAt(given, 0)),
  yamldecode: (given) => {
    try {
      return fromPlain(parseYaml(textAt(given, 0), yamlOptions))
    } catch {
      return refuse("the text is not YAML")
    }
  },
  yamlencode: (given) => encodeYaml(plain(argument(given, 0))),

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
    const parts = [...textAt(given, 1).matchAll(/([+-]?[\d.]+)(ns|us|µs|ms|h|m|s)/g)]
    const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0.001, µs: 0.001, ns: 0.000_001 }
    if (parts.length === 0) return refuse("the duration is wrong")
    const sign = textAt(given, 1).startsWith("-") ? -1 : 1
    const sum = parts.reduce((total, [, amount = "0", unit = "s"]) => total + Math.abs(Number(amount)) * (units[unit] ?? 0), 0)
    return new Date(timestampOf(textAt(given, 0)) + sign * sum).toISOString().replace(".000Z", "Z")
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
  tonumber: convertible(toNumber),
  toset: convertible((value) => makeSet(unified(toItems(value)))),
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

/** Calls a function with values. Fails with `EvaluationError`, which is thrown. */
export const callFunction = (name: string, given: Arguments, scope: Scope): Value => {
  const short = name.replace(/^core::/, "")
  const implementation = Object.hasOwn(functions, short) ? functions[short] : undefined
  if (implementation === undefined) return refuse(`there is no function ${name}`)
  scope.work.step(given.reduce<number>((size, value) => size + sizeOf(value), 1))
  const isOpen = tolerant.has(short) && short !== "coalesce" ? given.includes(unknown) : short !== "coalesce" && given.some(hasUnknown)
  if (isOpen) return short === "issensitive" ? false : unknown
  const value = implementation(given, scope)
  return typeof value === "string" ? scope.work.made(value) : value
}

/** How much a function has to look at. */
const sizeOf = (value: Value): number => {
  if (typeof value === "string") return Math.ceil(value.length / 200)
  if (isList(value)) return value.length
  if (value instanceof SetValue) return value.items.length
  return isMap(value) ? value.size : 0
}
