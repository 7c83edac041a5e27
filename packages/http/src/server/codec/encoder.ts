import { ParseResult, Predicate, Schema, SchemaAST as AST } from "effect"
import { unchecked } from "./unchecked.js"

/** Gives a value the form in which it is sent. Throws if it is not one of the schema's. */
export type Encode = (value: unknown) => unknown

const mismatch = (expected: string, value: unknown): never => {
  throw new TypeError(`An answer has ${value === null ? "null" : typeof value} where ${expected} is declared`)
}

/** Of texts, numbers, booleans, null and undefined. */
const scalar: Encode = (value) => (typeof value === "object" && value !== null ? mismatch("a text, a number or a boolean", value) : value)

/**
 * Compiles how values of a schema are encoded. What services answer has the schema's type, so its rules are not checked again. Only the
 * declared properties are sent, whatever else an object has, and one that is missing is an error.
 *
 * The library's own encoder compares every text with its type, in results that are objects of their own: that was an eighth of a page of
 * workspaces. It encodes transformed values, and unions with more than one object among their members.
 */
export const encoder = (ast: AST.AST): Encode => compile(unchecked(ast))

const compiled = new WeakMap<AST.AST, Encode>()

const compile = (ast: AST.AST): Encode => {
  const known = compiled.get(ast)
  if (known !== undefined) return known
  const encode = compileNew(ast)
  compiled.set(ast, encode)
  return encode
}

const compileNew = (ast: AST.AST): Encode => {
  if (isScalar(ast)) return scalar
  switch (ast._tag) {
    case "Refinement":
      return compile(ast.from)
    case "Suspend": {
      let encode: Encode | undefined
      return (value) => (encode ??= compile(ast.f()))(value)
    }
    case "TupleType":
      return listEncoder(ast) ?? byLibrary(ast)
    case "TypeLiteral":
      return ast.indexSignatures.length === 0 ? structEncoder(ast) : (recordEncoder(ast) ?? byLibrary(ast))
    case "Union":
      return unionEncoder(ast) ?? byLibrary(ast)
    default:
      return byLibrary(ast)
  }
}

const byLibrary = (ast: AST.AST): Encode => ParseResult.encodeUnknownSync(Schema.make<unknown, unknown>(ast))

/** Whether every value of a type is sent as it is, and none of them is an object. */
const isScalar = (ast: AST.AST): boolean => {
  switch (ast._tag) {
    case "StringKeyword":
    case "NumberKeyword":
    case "BooleanKeyword":
    case "UndefinedKeyword":
    case "Literal":
    case "Enums":
    case "TemplateLiteral":
      return true
    case "Refinement":
      return isScalar(ast.from)
    case "Union":
      return ast.types.every(isScalar)
    default:
      return false
  }
}

/** Whether undefined is a value of a type: what is transformed decides by itself. */
const takesUndefined = (type: AST.AST): boolean => {
  switch (type._tag) {
    case "Union":
      return type.types.some(takesUndefined)
    case "Suspend":
      return takesUndefined(type.f())
    default:
      return AST.isUndefinedKeyword(type) || AST.isTransformation(type) || AST.isDeclaration(type)
  }
}

const structEncoder = (ast: AST.TypeLiteral): Encode => {
  const properties = ast.propertySignatures.map(({ isOptional, name, type }) => ({
    name,
    encode: compile(type),
    isOptional,
    takesUndefined: takesUndefined(type)
  }))
  return (value) => {
    if (!Predicate.isRecord(value)) return mismatch("an object", value)
    const encoded: Record<PropertyKey, unknown> = {}
    for (const { encode, isOptional, name, takesUndefined } of properties) {
      const property = value[name]
      if (property !== undefined || takesUndefined) encoded[name] = encode === scalar ? scalar(property) : encode(property)
      else if (!isOptional) return mismatch(`the property ${String(name)}`, property)
    }
    return encoded
  }
}

/** Records of any text to one type. */
const recordEncoder = (ast: AST.TypeLiteral): Encode | undefined => {
  const [index, ...others] = ast.indexSignatures
  if (index === undefined || others.length > 0 || ast.propertySignatures.length > 0 || !isScalar(index.parameter)) return undefined
  const encode = compile(index.type)
  return (value) => {
    if (!Predicate.isRecord(value)) return mismatch("an object", value)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, encode(item)]))
  }
}

/** Lists of any length of one type. */
const listEncoder = (ast: AST.TupleType): Encode | undefined => {
  const [item, ...others] = ast.rest
  if (item === undefined || others.length > 0 || ast.elements.length > 0) return undefined
  const encode = compile(item.type)
  return (value) => {
    if (!Array.isArray(value)) return mismatch("a list", value)
    return value.map(encode)
  }
}

/** Unions whose members are all scalar but one, which is an object or a list. */
const unionEncoder = (ast: AST.Union): Encode | undefined => {
  const [member, ...others] = ast.types.filter((type) => !isScalar(type))
  if (member === undefined || others.length > 0 || !(AST.isTypeLiteral(member) || AST.isTupleType(member))) return undefined
  const encode = compile(member)
  return (value) => (typeof value === "object" && value !== null ? encode(value) : value)
}
