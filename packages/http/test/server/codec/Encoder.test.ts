import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { ParseResult, Redacted, Schema, SchemaAST as AST } from "effect"
import { describe, expect, it } from "vitest"
import { Permission } from "@atelier/core/access"
import { Contract } from "../../../src/contract/Contract.js"
import { apiIn } from "../../../src/wire/dialect.js"
import { encoder } from "../../../src/server/codec/encoder.js"
import { unchecked } from "../../../src/server/codec/unchecked.js"

/** Texts and numbers that satisfy the rules of the contract's types. */
const candidates = ["018f0000-0000-7000-8000-000000000001", "2030-01-01T00:00:00.000Z", "a <text> & more", "", "user:read", 1, 0]

/** A value of a class. */
const declared = (ast: AST.Declaration): unknown => {
  if (String(ast) === "Permission") return new Permission({ resource_type: "workspace", action: "read", negate: false })
  if (String(ast) === "Redacted(<redacted>)") return Redacted.make("a secret")
  throw new Error(`No value of ${String(ast)} is known`)
}

const variants = 4

/** A value of a type; variants differ in the members of unions and in what is optional. Objects have a property that is not declared. */
const valueOf = (ast: AST.AST, variant: number): unknown => {
  switch (ast._tag) {
    case "StringKeyword":
      return "a <text> & more"
    case "NumberKeyword":
      return variant
    case "BooleanKeyword":
      return variant % 2 === 0
    case "Literal":
      return ast.literal
    case "Refinement":
      return candidates.find(Schema.is(Schema.make(ast))) ?? valueOf(ast.from, variant)
    case "Union":
      return valueOf(ast.types[variant % ast.types.length] ?? ast, variant)
    case "TypeLiteral": {
      const properties = ast.propertySignatures.filter(({ isOptional }) => !isOptional || variant % 2 === 0)
      const named = Object.fromEntries(properties.map(({ name, type }) => [name, valueOf(type, variant)]))
      const [index] = ast.indexSignatures
      if (index !== undefined) return { ...named, [String(valueOf(index.parameter, 0))]: valueOf(index.type, variant) }
      return { ...named, undeclared: "a secret" }
    }
    case "TupleType":
      return [...ast.elements, ...(variant === 3 ? [] : ast.rest)].map(({ type }) => valueOf(type, variant))
    case "Suspend":
      return valueOf(ast.f(), variant)
    case "UndefinedKeyword":
    case "VoidKeyword":
      return undefined
    case "UnknownKeyword":
    case "AnyKeyword":
      return { any: ["value"] }
    case "Declaration":
      return declared(ast)
    default:
      throw new Error(`No value of ${String(ast)} is known`)
  }
}

const answers: Array<{ readonly name: string; readonly schema: Schema.Schema.Any }> = []
for (const wire of ["standard", "reference"] as const) {
  HttpApi.reflect(apiIn(wire, Contract), {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const { ast } = endpoint.successSchema
      if (!HttpApiSchema.isVoid(ast) && HttpApiSchema.getEncoding(ast).kind === "Json") {
        answers.push({ name: `${endpoint.name}, ${wire}`, schema: endpoint.successSchema })
      }
    }
  })
}

describe("the encoder", () => {
  it.each(answers)("sends what the library would send: $name", ({ schema }) => {
    const ours = encoder(schema.ast)
    const theirs = ParseResult.encodeUnknownSync(Schema.make<unknown, unknown>(unchecked(schema.ast)))
    for (let variant = 0; variant < variants; variant++) {
      const value = valueOf(AST.typeAST(schema.ast), variant)
      expect(JSON.parse(JSON.stringify(ours(value)) ?? "null")).toStrictEqual(JSON.parse(JSON.stringify(theirs(value)) ?? "null"))
    }
  })

  const User = Schema.Struct({ id: Schema.String, name: Schema.optional(Schema.String), tags: Schema.Array(Schema.String) })

  it.each([
    ["an object without one of its properties", { id: "1" }],
    ["an object where a text is declared", { id: { secret: "x" }, tags: [] }],
    ["an object in a list of texts", { id: "1", tags: [{ secret: "x" }] }],
    ["a text where an object is declared", "text"],
    ["an object where a list is declared", { id: "1", tags: {} }]
  ])("sends nothing of %s", (_, value) => {
    expect(() => encoder(User.ast)(value)).toThrow("An answer has")
  })
})
