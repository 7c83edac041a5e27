/** Brings bodies into the form that their schema describes. identity.md §1.4. */
import { Uuid } from "@atelier/core/platform"
import { SchemaAST as AST } from "effect"
import { hasFormat } from "./format.js"

/** Stands for an array or object that has more entries than its schema allows, and is not decoded. */
export class TooMany {
  constructor(readonly maximum: number) {}
}

/** Entries of an array or object whose schema has no bound of its own. */
export const maximumEntries = 1000

/** Answers the value in the form described; what it cannot bring there stays as it is. */
type Normalizer = (value: unknown) => unknown

/** A property of an object, named as its schema writes it. */
interface Property {
  readonly name: string
  readonly type: AST.AST
}

/** The properties an object may have on the wire, by lower-case name; undefined where the schema describes no object. */
export const propertiesOf = (ast: AST.AST): ReadonlyMap<string, Property> | undefined => {
  switch (ast._tag) {
    case "TypeLiteral":
      return new Map(
        ast.propertySignatures.flatMap(({ name, type }) =>
          typeof name === "string" ? [[name.toLowerCase(), { name, type }] as const] : []
        )
      )
    case "Refinement":
    case "Transformation":
      return propertiesOf(ast.from)
    case "Suspend":
      return propertiesOf(ast.f())
    case "Union": {
      const members = ast.types.flatMap((type) => propertiesOf(type) ?? [])
      return members.length === 0 ? undefined : new Map(members.flatMap((member) => [...member]))
    }
    default:
      return undefined
  }
}

/** The type of the values of a map; undefined where the schema describes none. */
const entriesOf = (ast: AST.AST): AST.AST | undefined => {
  switch (ast._tag) {
    case "TypeLiteral":
      return ast.indexSignatures[0]?.type
    case "Refinement":
    case "Transformation":
      return entriesOf(ast.from)
    case "Suspend":
      return entriesOf(ast.f())
    case "Union":
      return ast.types.map(entriesOf).find((type) => type !== undefined)
    default:
      return undefined
  }
}

const normalizers = new WeakMap<AST.AST, Map<number, { readonly normalize: Normalizer | undefined }>>()

/**
 * Finds fields whatever the case of their names, drops null and what no field asks for, and drops the all-zero UUID that clients
 * send for "absent" (wire.md W3). Arrays and objects with more entries than their schema allows become `TooMany`, so that their length
 * is judged before anything in them. `maximum` holds where a schema has no bound. Undefined where there is nothing to do.
 */
export const normalizerOf = (ast: AST.AST, maximum = maximumEntries): Normalizer | undefined => {
  const byMaximum = normalizers.get(ast) ?? new Map<number, { readonly normalize: Normalizer | undefined }>()
  normalizers.set(ast, byMaximum)
  const known = byMaximum.get(maximum)
  if (known !== undefined) return known.normalize
  // A recursive schema meets itself: then it is looked up when a value gets there
  byMaximum.set(maximum, { normalize: (value) => byMaximum.get(maximum)?.normalize?.(value) ?? value })
  const normalize = makeNormalizer(ast, maximum)
  byMaximum.set(maximum, { normalize })
  return normalize
}

/** The bound that a rule sets on an array or a map. */
export const declaredMaximum = (ast: AST.Annotated): number | undefined => {
  const schema = ast.annotations[AST.JSONSchemaAnnotationId]
  if (typeof schema !== "object" || schema === null) return undefined
  const maximum = "maxItems" in schema ? schema.maxItems : "maxProperties" in schema ? schema.maxProperties : undefined
  return typeof maximum === "number" ? maximum : undefined
}

const makeNormalizer = (ast: AST.AST, maximum: number): Normalizer | undefined => {
  switch (ast._tag) {
    case "Refinement":
      return normalizerOf(ast.from, declaredMaximum(ast) ?? maximum)
    case "Transformation":
      return normalizerOf(ast.from, maximum)
    case "Suspend":
      return normalizerOf(ast.f(), maximum)
    case "TupleType": {
      const item = ast.rest[0] === undefined ? undefined : normalizerOf(ast.rest[0].type)
      return (value) => {
        if (!Array.isArray(value)) return value
        if (value.length > maximum) return new TooMany(maximum)
        return item === undefined ? value : value.map(item)
      }
    }
    case "TypeLiteral":
      return objectNormalizer(ast, maximum)
    case "Union": {
      const object = propertiesOf(ast) === undefined ? undefined : objectNormalizer(ast, mapMaximumOf(ast) ?? maximum)
      const array = ast.types.filter((type) => AST.isTupleType(AST.encodedAST(type))).map((type) => normalizerOf(type, maximum))[0]
      if (object === undefined && array === undefined) return undefined
      return (value) => (Array.isArray(value) ? (array?.(value) ?? value) : (object?.(value) ?? value))
    }
    default:
      return undefined
  }
}

/** The bound of a union's map. */
const mapMaximumOf = (ast: AST.AST): number | undefined => {
  switch (ast._tag) {
    case "Refinement":
      return entriesOf(ast) === undefined ? undefined : (declaredMaximum(ast) ?? mapMaximumOf(ast.from))
    case "Union":
      return ast.types.map(mapMaximumOf).find((maximum) => maximum !== undefined)
    default:
      return undefined
  }
}

const objectNormalizer = (ast: AST.TypeLiteral | AST.Union, maximum: number): Normalizer => {
  const properties = new Map(
    [...(propertiesOf(ast) ?? [])].map(([key, { name, type }]) => [key, { name, isUuid: isUuid(type), normalize: normalizerOf(type) }])
  )
  const entries = entriesOf(ast)
  const entry = entries === undefined ? undefined : { normalize: normalizerOf(entries) ?? ((value: unknown) => value) }
  return (value) => {
    if (!isObject(value)) return value
    const keys = Object.keys(value)
    if (keys.length > maximum) return new TooMany(maximum)
    const result: Record<string, unknown> = Object.create(null)
    for (const key of keys) {
      const given = value[key]
      if (given === null) continue
      const property = properties.get(key.toLowerCase())
      if (property === undefined) {
        if (entry !== undefined) result[key] = entry.normalize(given)
      } else if (!(property.isUuid && given === Uuid.nil)) {
        result[property.name] = property.normalize === undefined ? given : property.normalize(given)
      }
    }
    return result
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a value is a UUID, or may be one. */
export const isUuid = (ast: AST.AST): boolean => {
  if (hasFormat(ast, "uuid")) return true
  switch (ast._tag) {
    case "Refinement":
    case "Transformation":
      return isUuid(ast.from)
    case "Union":
      return ast.types.some(isUuid)
    default:
      return false
  }
}
