import { Option, ParseResult, Predicate, Schema, SchemaAST as AST } from "effect"

/** What a decoder answers instead of a value that its schema does not describe. */
export const undecodable = Symbol("undecodable")

/** Reads a value as its schema says. */
type Decode = (value: unknown) => unknown

/**
 * Compiles how values of a schema are read: as the library reads them, without a reason where they cannot be read, which the library is asked for then.
 * The library makes objects of its own for each text: a call with a hundred lines of a log spent an eighth of its time there. It reads what is neither a
 * struct, a record, a list nor scalar, such as transformed values.
 */
export const decoder = (ast: AST.AST): Decode => {
  const known = compiled.get(ast)
  if (known !== undefined) return known
  const decode = compileNew(ast)
  compiled.set(ast, decode)
  return decode
}

const compiled = new WeakMap<AST.AST, Decode>()

const compileNew = (ast: AST.AST): Decode => {
  // Options that a part of a schema sets are the library's matter
  if (Option.isSome(AST.getParseOptionsAnnotation(ast))) return byLibrary(ast)
  switch (ast._tag) {
    case "StringKeyword":
      return (value) => (typeof value === "string" ? value : undecodable)
    case "NumberKeyword":
      return (value) => (typeof value === "number" ? value : undecodable)
    case "BooleanKeyword":
      return (value) => (typeof value === "boolean" ? value : undecodable)
    case "Literal":
      return (value) => (value === ast.literal ? value : undecodable)
    case "Refinement":
      return refinementDecoder(ast)
    case "TypeLiteral":
      return ast.indexSignatures.length === 0 ? structDecoder(ast) : (recordDecoder(ast) ?? byLibrary(ast))
    case "TupleType":
      return listDecoder(ast) ?? byLibrary(ast)
    case "Union":
      return optionalDecoder(ast) ?? byLibrary(ast)
    case "Transformation":
      return transformationDecoder(ast) ?? byLibrary(ast)
    default:
      return byLibrary(ast)
  }
}

const byLibrary = (ast: AST.AST): Decode => {
  const decode = ParseResult.decodeUnknownOption(Schema.make<unknown, unknown>(ast), { errors: "first", onExcessProperty: "ignore" })
  return (value) => Option.getOrElse(decode(value), () => undecodable)
}

const refinementDecoder = (ast: AST.Refinement): Decode => {
  const decode = decoder(ast.from)
  return (value) => {
    const decoded = decode(value)
    return decoded === undecodable || Option.isSome(ast.filter(decoded, AST.defaultParseOption, ast)) ? undecodable : decoded
  }
}

const structDecoder = (ast: AST.TypeLiteral): Decode => {
  const properties = ast.propertySignatures.map(({ isOptional, name, type }) => ({ name, decode: decoder(type), isOptional }))
  return (value) => {
    if (!Predicate.isRecord(value)) return undecodable
    const decoded: Record<PropertyKey, unknown> = {}
    for (const { decode, isOptional, name } of properties) {
      if (!Object.hasOwn(value, name)) {
        if (isOptional) continue
        return undecodable
      }
      const property = decode(value[name])
      if (property === undecodable) return undecodable
      decoded[name] = property
    }
    return decoded
  }
}

/** Records of any text to one type. */
const recordDecoder = (ast: AST.TypeLiteral): Decode | undefined => {
  const [index, ...others] = ast.indexSignatures
  if (index === undefined || others.length > 0 || ast.propertySignatures.length > 0 || !AST.isStringKeyword(index.parameter))
    return undefined
  const decode = decoder(index.type)
  return (value) => {
    if (!Predicate.isRecord(value)) return undecodable
    const entries = Object.entries(value).map(([key, item]) => [key, decode(item)] as const)
    return entries.some(([, item]) => item === undecodable) ? undecodable : Object.fromEntries(entries)
  }
}

/** Lists of any length of one type. */
const listDecoder = (ast: AST.TupleType): Decode | undefined => {
  const [item, ...others] = ast.rest
  if (item === undefined || others.length > 0 || ast.elements.length > 0) return undefined
  const decode = decoder(item.type)
  return (value) => {
    if (!Array.isArray(value)) return undecodable
    const decoded = value.map(decode)
    return decoded.includes(undecodable) ? undecodable : decoded
  }
}

/** A type, or undefined, which JSON has not. */
const optionalDecoder = (ast: AST.Union): Decode | undefined => {
  const [type, ...others] = ast.types.filter((member) => !AST.isUndefinedKeyword(member))
  if (type === undefined || others.length > 0) return undefined
  const decode = decoder(type)
  return (value) => (value === undefined ? undecodable : decode(value))
}

/** Structs with properties that have another name or a value of their own when they are absent. */
const transformationDecoder = ({ from, to, transformation }: AST.Transformation): Decode | undefined => {
  if (!AST.isTypeLiteralTransformation(transformation)) return undefined
  const [decodeFrom, decodeTo] = [decoder(from), decoder(to)]
  const properties = transformation.propertySignatureTransformations
  return (value) => {
    const decoded = decodeFrom(value)
    if (!Predicate.isRecord(decoded)) return undecodable
    for (const { decode, from, to } of properties) {
      const property = decode(Object.hasOwn(decoded, from) ? Option.some(decoded[from]) : Option.none())
      if (from !== to || Option.isNone(property)) delete decoded[from]
      if (Option.isSome(property)) decoded[to] = property.value
    }
    return decodeTo(decoded)
  }
}
