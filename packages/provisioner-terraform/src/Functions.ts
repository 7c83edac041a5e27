/** The functions of Terraform 1.11 that need no provider. What differs from run to run is unknown. */
import { refuse } from "./EvaluationError.js"
import type { Arguments, Functions } from "./functions/Arguments.js"
import { collectionFunctions } from "./functions/CollectionFunctions.js"
import { conversionFunctions } from "./functions/ConversionFunctions.js"
import { dateFunctions } from "./functions/DateFunctions.js"
import { encodingFunctions } from "./functions/EncodingFunctions.js"
import { fileFunctions } from "./functions/FileFunctions.js"
import { hashFunctions } from "./functions/HashFunctions.js"
import { networkFunctions } from "./functions/NetworkFunctions.js"
import { numberFunctions } from "./functions/NumberFunctions.js"
import { stringFunctions } from "./functions/StringFunctions.js"
import { Real } from "./Numbers.js"
import type { Scope } from "./Scope.js"
import { hasUnknown, isList, isMap, isNumber, SetValue, unknown, type Value } from "./Values.js"

const functions: Functions = {
  ...collectionFunctions,
  ...conversionFunctions,
  ...dateFunctions,
  ...encodingFunctions,
  ...fileFunctions,
  ...hashFunctions,
  ...networkFunctions,
  ...numberFunctions,
  ...stringFunctions
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
  base64decode: 12,
  base64encode: 8,
  base64gzip: 20,
  csvdecode: 40,
  formatdate: 90,
  indent: 25,
  jsondecode: 20,
  length: 50,
  lower: 10,
  split: 20,
  strrev: 50,
  substr: 20,
  templatefile: 120,
  templatestring: 120,
  title: 100,
  textdecodebase64: 5,
  trim: 20,
  upper: 15,
  urlencode: 70,
  yamldecode: 40
}

/** Functions whose time for an element is many times that of others. */
const thorough: Readonly<Record<string, number>> = {
  chunklist: 8,
  compact: 3,
  concat: 4,
  distinct: 20,
  join: 4,
  matchkeys: 3,
  merge: 8,
  tomap: 10,
  zipmap: 10
}

/** Steps for each argument. */
const stepsOfArgument = 1

const factorOf = (factors: Readonly<Record<string, number>>, name: string): number =>
  Object.hasOwn(factors, name) ? (factors[name] ?? 1) : 1

/** Calls a function with values. Fails with `EvaluationError`, which is thrown. */
export const callFunction = (name: string, given: Arguments, scope: Scope): Value => {
  const { work } = scope
  const short = name.replace(/^core::/, "")
  const implementation = Object.hasOwn(functions, short) ? functions[short] : undefined
  if (implementation === undefined) return refuse(`there is no function ${name}`)
  const [ofCharacter, ofElement] = [factorOf(slow, short), factorOf(thorough, short)]
  work.step(1 + given.length * stepsOfArgument)
  for (const value of given) work.visit(sizeOf(value, ofCharacter, ofElement))
  const isOpen =
    tolerant.has(short) && short !== "coalesce"
      ? given.includes(unknown)
      : short !== "coalesce" && given.some((value) => hasUnknown(value, work))
  if (isOpen) return short === "issensitive" ? false : unknown
  const value = implementation(given, scope)
  if (typeof value === "string") return work.made(value)
  work.visit(sizeOf(value))
  return isNumber(value) ? work.number(value) : value
}

/** Characters in the time of an element. */
const charactersOfVisit = 20

/** How much a function has to look at. */
const sizeOf = (value: Value, ofCharacter = 1, ofElement = 1): number => {
  if (typeof value === "string") return Math.ceil((value.length * ofCharacter) / charactersOfVisit)
  if (isNumber(value)) return value instanceof Real ? 200 : 1
  if (isList(value)) return value.length * ofElement
  if (value instanceof SetValue) return value.items.length * ofElement
  return isMap(value) ? value.size * ofElement : 0
}
