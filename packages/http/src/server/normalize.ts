/** Brings bodies into the form that their schema describes. identity.md §1.4. */
import { Uuid } from "@atelier/core/platform"
import { SchemaAST as AST } from "effect"
import { hasFormat } from "./format.js"

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

const normalizers = new WeakMap<AST.AST, { readonly normalize: Normalizer | undefined }>()

/**
 * Finds fields whatever the case of their names, drops null and what no field asks for, and drops the all-zero UUID that clients
 * send for "absent" (wire.md W3). Undefined where there is nothing to do.
 */
export const normalizerOf = (ast: AST.AST): Normalizer | undefined => {
  const known = normalizers.get(ast)
  if (known !== undefined) return known.normalize
  // A recursive schema meets itself: then it is looked up when a value gets there
  normalizers.set(ast, { normalize: (value) => normalizers.get(ast)?.normalize?.(value) ?? value })
  const normalize = makeNormalizer(ast)
  normalizers.set(ast, { normalize })
  return normalize
}

const makeNormalizer = (ast: AST.AST): Normalizer | undefined => {
  switch (ast._tag) {
    case "Refinement":
    case "Transformation":
      return normalizerOf(ast.from)
    case "Suspend":
      return normalizerOf(ast.f())
    case "TupleType": {
      const item = ast.rest[0] === undefined ? undefined : normalizerOf(ast.rest[0].type)
      return item === undefined ? undefined : (value) => (Array.isArray(value) ? value.map(item) : value)
    }
    case "TypeLiteral":
      return objectNormalizer(ast)
    case "Union": {
      const object = propertiesOf(ast) === undefined ? undefined : objectNormalizer(ast)
      const array = ast.types.filter((type) => AST.isTupleType(AST.encodedAST(type))).map(normalizerOf)[0]
      if (object === undefined && array === undefined) return undefined
      return (value) => (Array.isArray(value) ? (array?.(value) ?? value) : (object?.(value) ?? value))
    }
    default:
      return undefined
  }
}

const objectNormalizer = (ast: AST.TypeLiteral | AST.Union): Normalizer => {
  const properties = new Map(
    [...(propertiesOf(ast) ?? [])].map(([key, { name, type }]) => [key, { name, isUuid: isUuid(type), normalize: normalizerOf(type) }])
  )
  const entries = entriesOf(ast)
  const entry = entries === undefined ? undefined : { normalize: normalizerOf(entries) ?? ((value: unknown) => value) }
  return (value) => {
    if (!isObject(value)) return value
    const result: Record<string, unknown> = Object.create(null)
    for (const key of Object.keys(value)) {
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

const isUuid = (ast: AST.AST): boolean => {
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
