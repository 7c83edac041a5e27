import { Remembered } from "@atelier/core/platform"
import { Predicate, SchemaAST as AST } from "effect"
import { isKeptText } from "../../wire/keptText.js"
import { encoder } from "./encoder.js"
import { compact } from "./json.js"
import { unchecked } from "./unchecked.js"

/** Writes a value as a part of a document. Throws if it is not one of the schema's. */
export type Write = (value: unknown) => string

/** Bytes of texts that are kept of each schema that is marked. */
const keptBytes = 2 ** 22

const compiled = new WeakMap<AST.AST, Write>()

/**
 * Compiles how documents are written whose parts are marked with `keptText`: the texts of these parts are kept, and put together. Undefined where no part is marked. The marked
 * parts may lie in lists, and in structs.
 */
export const writer = (given: AST.AST): Write | undefined => {
  const ast = unchecked(given)
  if (isKeptText(ast)) return keptWriter(ast)
  if (AST.isTupleType(ast)) return listWriter(ast)
  return AST.isTypeLiteral(ast) ? structWriter(ast) : undefined
}

const keptWriter = (ast: AST.AST): Write => {
  const known = compiled.get(ast)
  if (known !== undefined) return known
  const encode = encoder(ast)
  const texts = Remembered.make<string>(keptBytes)
  const write: Write = (value) => {
    const text = (): string => compact(encode(value))
    return Predicate.hasProperty(value, "id") ? texts.get(String(value.id), [value], text) : text()
  }
  compiled.set(ast, write)
  return write
}

const listWriter = (ast: AST.TupleType): Write | undefined => {
  const [item, ...others] = ast.rest
  const write = item === undefined || others.length > 0 || ast.elements.length > 0 ? undefined : writer(item.type)
  if (write === undefined) return undefined
  const encode = encoder(ast)
  // The encoder refuses what is no list
  return (value) => (Array.isArray(value) ? `[${value.map(write).join(",")}]` : compact(encode(value)))
}

const structWriter = (ast: AST.TypeLiteral): Write | undefined => {
  const properties = ast.propertySignatures.map(({ isOptional, name, type }) => ({ isOptional, name, write: writer(type) }))
  if (ast.indexSignatures.length > 0 || properties.every(({ write }) => write === undefined)) return undefined
  const isPlain = new Set(properties.flatMap(({ name, write }) => (write === undefined ? [name] : [])))
  const plain = new AST.TypeLiteral(
    ast.propertySignatures.filter(({ name }) => isPlain.has(name)),
    []
  )
  const encode = encoder(plain)
  return (value) => {
    const others: unknown = encode(value)
    const members = properties.flatMap(({ isOptional, name, write }) => {
      const from = write === undefined ? others : value
      const member = Predicate.hasProperty(from, name) ? from[name] : undefined
      if (member === undefined && (isOptional || write === undefined)) return []
      return [`${JSON.stringify(name)}:${(write ?? compact)(member)}`]
    })
    return `{${members.join(",")}}`
  }
}
