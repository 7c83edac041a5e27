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
