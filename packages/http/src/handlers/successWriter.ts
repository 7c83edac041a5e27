import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Either, ParseResult, Schema, type SchemaAST as AST } from "effect"
import { encoder } from "../server/codec/encoder.js"
import { json, jsonText } from "../server/codec/respond.js"
import { unchecked } from "../server/codec/unchecked.js"
import { writer } from "../server/codec/writer.js"

/** Writes the successes of an endpoint. */
export interface SuccessWriter {
  /** The first status the endpoint declares. */
  readonly status: number
  /** Dies if the value is not one that the endpoint declares. */
  readonly write: (value: unknown) => Effect.Effect<HttpServerResponse.HttpServerResponse>
  /** The same without an effect, which throws where `write` dies; undefined where the endpoint declares several statuses. */
  readonly writeNow?: (value: unknown) => HttpServerResponse.HttpServerResponse
}

/**
 * Compiles an endpoint's success schema: each member of a union that has a status of its own has an encoding of its own too. A value that is
 * undefined is written by the member without content alone.
 */
export const successWriter = (schema: Schema.Schema.Any): SuccessWriter => {
  const members = schema.ast._tag === "Union" ? schema.ast.types : [schema.ast]
  const status = HttpApiSchema.getStatusSuccessAST(schema.ast)
  const [first, ...others] = new Set(members.map(HttpApiSchema.getStatusSuccessAST)).size > 1 ? members.map(alternativeWriter) : []
  if (first === undefined) {
    const writeText = HttpApiSchema.getEncoding(schema.ast).contentType === "application/json" ? writer(schema.ast) : undefined
    const encode = HttpApiSchema.isVoid(schema.ast) ? () => undefined : encoder(schema.ast)
    const respond = responder(schema.ast)
    const writeNow = (value: unknown) => (writeText === undefined ? respond(encode(value)) : jsonText(status, writeText(value)))
    return { status, write: (value) => Effect.sync(() => writeNow(value)), writeNow }
  }
  return {
    status: first.status,
    write: (value) => {
      const written = first.write(value)
      if (Either.isRight(written)) return Effect.succeed(written.right)
      for (const other of others) {
        const alternative = other.write(value)
        if (Either.isRight(alternative)) return Effect.succeed(alternative.right)
      }
      return Effect.die(new ParseResult.ParseError({ issue: written.left }))
    }
  }
}

interface AlternativeWriter {
  readonly status: number
  readonly write: (value: unknown) => Either.Either<HttpServerResponse.HttpServerResponse, ParseResult.ParseIssue>
}

/** One of several members, which its encoding tells apart from others: nothing is written without its content. */
const alternativeWriter = (ast: AST.AST): AlternativeWriter => {
  const status = HttpApiSchema.getStatusSuccessAST(ast)
  const respond = responder(ast)
  if (HttpApiSchema.isVoid(ast)) {
    return {
      status,
      write: (value) => (value === undefined ? Either.right(respond(value)) : Either.left(new ParseResult.Type(ast, value)))
    }
  }
  const encode = ParseResult.encodeUnknownEither(Schema.make<unknown, unknown>(unchecked(ast)))
  return { status, write: (value) => Either.map(encode(value), respond) }
}

/** The response to an encoded value. */
const responder = (ast: AST.AST): ((encoded: unknown) => HttpServerResponse.HttpServerResponse) => {
  const status = HttpApiSchema.getStatusSuccessAST(ast)
  if (HttpApiSchema.isVoid(ast)) return () => HttpServerResponse.empty({ status })
  const { contentType, kind } = HttpApiSchema.getEncoding(ast)
  return (encoded) => {
    if (kind === "Json") return contentType === "application/json" ? json(status, encoded) : json(status, encoded, contentType)
    return typeof encoded === "string"
      ? HttpServerResponse.text(encoded, { status, contentType })
      : HttpServerResponse.raw(encoded, { status, contentType })
  }
}
