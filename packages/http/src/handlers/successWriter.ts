import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Either, ParseResult, Schema, SchemaAST as AST } from "effect"
import { rewriter } from "../rewrite.js"
import { json } from "../server/respond.js"

/** Writes the successes of an endpoint. */
export interface SuccessWriter {
  /** The first status the endpoint declares. */
  readonly status: number
  /** Dies where a value is none that the endpoint declares. */
  readonly write: (value: unknown) => Effect.Effect<HttpServerResponse.HttpServerResponse>
}

interface MemberWriter {
  readonly status: number
  readonly write: (value: unknown) => Either.Either<HttpServerResponse.HttpServerResponse, ParseResult.ParseIssue>
}

/** Compiles an endpoint's success schema: each member of a union has a status and an encoding of its own. */
export const successWriter = (schema: Schema.Schema.Any): SuccessWriter => {
  const members = schema.ast._tag === "Union" ? schema.ast.types : [schema.ast]
  const statuses = new Set(members.map(HttpApiSchema.getStatusSuccessAST))
  const [first, ...others] = statuses.size > 1 ? members.map(memberWriter) : [memberWriter(schema.ast)]
  const writer = first ?? memberWriter(schema.ast)
  return {
    status: writer.status,
    write: (value) => {
      const written = writer.write(value)
      if (Either.isRight(written)) return Effect.succeed(written.right)
      for (const other of others) {
        const alternative = other.write(value)
        if (Either.isRight(alternative)) return Effect.succeed(alternative.right)
      }
      return Effect.die(new ParseResult.ParseError({ issue: written.left }))
    }
  }
}

/**
 * The schema without its rules: those of values that services answer hold already, and checking each id of a page again costs as much
 * as writing it. A rule of a union's member stays, as it may tell the members apart.
 */
const unchecked: (ast: AST.AST) => AST.AST = rewriter((ast, inUnion) => {
  if (isUuid(ast)) return AST.stringKeyword
  return AST.isRefinement(ast) && !inUnion ? unchecked(ast.from) : undefined
})

const isUuid = (ast: AST.AST): boolean => {
  const schema = ast.annotations[AST.JSONSchemaAnnotationId]
  return typeof schema === "object" && schema !== null && "format" in schema && schema.format === "uuid"
}

const memberWriter = (ast: AST.AST): MemberWriter => {
  const status = HttpApiSchema.getStatusSuccessAST(ast)
  if (HttpApiSchema.isVoid(ast)) return { status, write: () => Either.right(HttpServerResponse.empty({ status })) }
  const encode = ParseResult.encodeUnknownEither(Schema.make<unknown, unknown>(unchecked(ast)))
  const { contentType, kind } = HttpApiSchema.getEncoding(ast)
  return {
    status,
    write: (value) =>
      Either.map(encode(value), (encoded) => {
        if (kind === "Json") return contentType === "application/json" ? json(status, encoded) : json(status, encoded, contentType)
        return typeof encoded === "string"
          ? HttpServerResponse.text(encoded, { status, contentType })
          : HttpServerResponse.raw(encoded, { status, contentType })
      })
  }
}
