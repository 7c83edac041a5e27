/** JSON schemas as the library makes them of the contract's schemas, and as the description shows them. */
import { Schema, SchemaAST as AST } from "effect"
import { filledKeyword } from "../wire/input.js"
import { maximumParameter } from "../server/codec/decode.js"
import { routerConfig } from "../server/pipeline/Routes.js"

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The library's texts for its own types, which do not help readers of the description. */
const libraryTexts: ReadonlySet<unknown> = new Set(
  [Schema.String, Schema.Number, Schema.Boolean, Schema.Int, Schema.Unknown, Schema.Void, Schema.Null, Schema.Uint8ArrayFromBase64]
    .flatMap(({ ast }): ReadonlyArray<AST.AST> => (AST.isTransformation(ast) ? [ast, ast.from, ast.to] : [ast]))
    .map(({ annotations }) => annotations[AST.DescriptionAnnotationId])
)

/** Keywords that the description does not use: titles are names of types, and each `$id` would have to be unique. */
const unused: ReadonlySet<string> = new Set(["$id", "$comment", "title"])

/** Whether a keyword says something to a reader of the description. Readers ignore fields that they do not know. */
const isTelling = (keyword: string, value: unknown): boolean => {
  switch (keyword) {
    case "description":
      return !libraryTexts.has(value) && !String(value).startsWith("Redacted(")
    case "additionalProperties":
      return typeof value !== "boolean"
    case "required":
    case "properties":
      return typeof value === "object" && value !== null && Object.keys(value).length > 0
    default:
      return !unused.has(keyword)
  }
}

/** The range of every whole number of the interface; they are doubles, and `Schema.Int` takes no others. */
const wholeNumber = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

/** The properties of a body; a text that must not be empty has a character. */
const filled = (properties: object, names: unknown): object =>
  Object.fromEntries(
    Object.entries<JsonSchema>({ ...properties }).map(([name, property]) => {
      const isText = property["type"] === "string" && !("enum" in property)
      return [name, isText && Array.isArray(names) && names.includes(name) ? { ...property, minLength: 1 } : property]
    })
  )

/** A schema without what is the library's: its titles and identifiers, its texts, and what says nothing. */
export const tidy = (given: object): JsonSchema => {
  const schema: JsonSchema = { ...given }
  const { properties } = schema
  if (filledKeyword in schema && typeof properties === "object" && properties !== null) {
    const { [filledKeyword]: names, ...rest } = schema
    return tidy({ ...rest, properties: filled(properties, names) })
  }
  const kept = Object.entries(schema).filter(([keyword, value]) => isTelling(keyword, value))
  const tidied = Object.fromEntries(kept.map(([keyword, value]) => [keyword, tidyWithin(keyword, value)]))
  return tidied["type"] === "integer" && !("enum" in tidied) ? { ...wholeNumber, format: "int64", ...tidied } : tidied
}

const tidyWithin = (keyword: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  switch (keyword) {
    case "properties":
    case "patternProperties":
      return Object.fromEntries(Object.entries<object>({ ...value }).map(([name, schema]) => [name, tidy(schema)]))
    case "items":
    case "additionalProperties":
    case "propertyNames":
    case "contentSchema":
      return tidy(value)
    case "anyOf":
    case "allOf":
    case "prefixItems":
      return Array.isArray(value) ? value.map(tidy) : value
    default:
      return value
  }
}

/** The schema of a parameter, whose texts are bounded by what the router and the reader take. */
export const parameterSchema = (place: string, schema: object): JsonSchema => {
  const bounded = (one: JsonSchema): JsonSchema =>
    one["type"] === "string" && !("enum" in one || "format" in one || "maxLength" in one)
      ? {
          ...one,
          ...(place === "path" ? { minLength: 1 } : {}),
          maxLength: place === "path" ? routerConfig.maxParamLength : maximumParameter
        }
      : one
  const { items, ...tidied } = tidy(schema)
  return bounded(typeof items === "object" && items !== null ? { ...tidied, items: bounded(tidy(items)) } : tidied)
}
