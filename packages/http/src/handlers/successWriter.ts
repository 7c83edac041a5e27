import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Either, ParseResult, Schema, type SchemaAST as AST } from "effect"
import { json } from "../server/respond.js"
import { unchecked } from "../server/unchecked.js"

/** Writes the successes of an endpoint. */
export interface SuccessWriter {
  /** The first status the endpoint declares. */
  readonly status: number
  /** Dies if the value is not one that the endpoint declares. */
  readonly write: (value: unknown) => Effect.Effect<HttpServerResponse.HttpServerResponse>
}

interface MemberWriter {
  readonly status: number
  readonly write: (value: unknown) => Either.Either<HttpServerResponse.HttpServerResponse, ParseResult.ParseIssue>
}

/**
 * Compiles an endpoint's success schema: each member of a union has a status and an encoding of its own. A value that is undefined is written
 * by the member without content alone.
 */
export const successWriter = (schema: Schema.Schema.Any): SuccessWriter => {
  const members = schema.ast._tag === "Union" ? schema.ast.types : [schema.ast]
  const statuses = new Set(members.map(HttpApiSchema.getStatusSuccessAST))
  const [first, ...others] = statuses.size > 1 ? members.map(alternativeWriter) : [memberWriter(schema.ast)]
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

/** One of several members: nothing is written without its content. */
const alternativeWriter = (ast: AST.AST): MemberWriter => {
  const { status, write } = memberWriter(ast)
  if (!HttpApiSchema.isVoid(ast)) return { status, write }
  return { status, write: (value) => (value === undefined ? write(value) : Either.left(new ParseResult.Type(ast, value))) }
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
