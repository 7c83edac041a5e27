/**
 * The differences between the two forms of the wire: the standard one (the default) and the one that the reference's clients read. This file has
 * their kinds, which endpoints use in the contract: forms of values as schemas, and statuses as annotations. architecture.md, "The wire".
 *
 * A dialectal schema is the standard form and remembers the other one. An API is brought into a dialect once, when it is served,
 * described or called, so that encoding a response costs the same in both.
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { Uuid } from "@atelier/core/platform"
import { Context, Schema, SchemaAST as AST } from "effect"
import { mapEndpoints } from "./mapEndpoints.js"
import { rewriter } from "./rewrite.js"

export type Dialect = "standard" | "reference"

/** The dialect in force. */
export class Wire extends Context.Reference<Wire>()("@atelier/http/Wire", { defaultValue: (): Dialect => "standard" }) {}

/** The success status of the reference where the standard contract has another one: `endpoint.annotate(ReferenceStatus, 201)`. wire.md §2. */
export class ReferenceStatus extends Context.Reference<ReferenceStatus>()("@atelier/http/ReferenceStatus", {
  defaultValue: (): number | undefined => undefined
}) {}

const referenceForm = Symbol.for("@atelier/http/dialect/reference")

/** A value that has two forms on the wire. The form must stand in a response, not in a request. */
export const dialectal = <A, Standard, Reference>(forms: {
  readonly standard: Schema.Schema<A, Standard>
  readonly reference: Schema.Schema<A, Reference>
}): Schema.Schema<A, Standard | Reference> => Schema.make(AST.annotations(forms.standard.ast, { [referenceForm]: forms.reference.ast }))

type Endpoint = HttpApiEndpoint.HttpApiEndpoint.AnyWithProps

/** A UUID or null: `{uuid, valid}` in the standard dialect, the plain text or null in the reference. wire.md W1. */
export const NullableUuid = dialectal({
  standard: Schema.transform(Schema.Struct({ uuid: Uuid.Uuid, valid: Schema.Boolean }), Schema.NullOr(Schema.typeSchema(Uuid.Uuid)), {
    strict: true,
    decode: ({ uuid, valid }) => (valid ? uuid : null),
    encode: (uuid) => ({ uuid: uuid ?? Uuid.nil, valid: uuid !== null })
  }),
  reference: Schema.NullOr(Uuid.Uuid)
})

/** One value that the standard dialect has as a list of one. */
export const listOfOne = <A, I>(value: Schema.Schema<A, I>) =>
  dialectal({
    standard: Schema.transform(Schema.NonEmptyArray(value), Schema.typeSchema(value), {
      strict: true,
      decode: ([first]) => first,
      encode: (first) => [first] as const
    }),
    reference: value
  })

/** A list that the reference has as null where it is empty. */
export const nullWhenEmpty = <A, I>(list: Schema.Schema<ReadonlyArray<A>, ReadonlyArray<I>>) =>
  dialectal({
    standard: list,
    reference: Schema.transform(Schema.NullOr(list), Schema.typeSchema(list), {
      strict: true,
      decode: (items) => items ?? [],
      encode: (items) => (items.length === 0 ? null : items)
    })
  })

/** The answer to an action that has nothing to say: a `Response` in the standard dialect, null in the reference. agents-and-apps.md §22 no. 2. */
export const acknowledgement = <A, I>(response: Schema.Schema<A, I>, message: A) =>
  dialectal({
    standard: response,
    reference: Schema.transform(Schema.Null, Schema.typeSchema(response), { strict: true, decode: () => message, encode: () => null })
  })

/** A schema in a dialect. */
export const schemaIn = <A, I, R>(wire: Dialect, schema: Schema.Schema<A, I, R>): Schema.Schema<A, I, R> =>
  wire === "standard" ? schema : Schema.make(inReference(schema.ast))

/** The same API with each success response in a dialect. */
export const apiIn = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  wire: Dialect,
  api: HttpApi.HttpApi<Id, Groups, E, R>
): HttpApi.HttpApi<Id, Groups, E, R> => {
  if (wire === "standard") return api
  return mapEndpoints(api, (endpoint) => endpointIn(wire, endpoint))
}

/** Shared by the servers of this process: a schema's compiled form is found by its AST, so each endpoint is translated once. */
const referenceEndpoints = new WeakMap<Endpoint, Endpoint>()

/** An endpoint with its success response in a dialect. */
export const endpointIn = (wire: Dialect, endpoint: Endpoint): Endpoint => {
  if (wire === "standard") return endpoint
  const known = referenceEndpoints.get(endpoint) ?? endpointInReference(endpoint)
  referenceEndpoints.set(endpoint, known)
  return known
}

const endpointInReference = (endpoint: Endpoint): Endpoint => {
  const status = Context.get(endpoint.annotations, ReferenceStatus)
  const ast = inReference(endpoint.successSchema.ast)
  const successSchema = Schema.make(status === undefined ? ast : AST.annotations(ast, { [HttpApiSchema.AnnotationStatus]: status }))
  return Object.assign(Object.create(Object.getPrototypeOf(endpoint)), endpoint, { successSchema })
}

/** The AST with every dialectal node replaced by its reference form. */
const inReference: (ast: AST.AST) => AST.AST = rewriter((ast) => {
  const form = ast.annotations[referenceForm]
  return isAst(form) ? inReference(AST.annotations(form, statusOf(ast))) : undefined
})

/** The status that an endpoint gave a dialectal schema belongs to both of its forms. */
const statusOf = ({ annotations }: AST.AST): AST.Annotations =>
  HttpApiSchema.AnnotationStatus in annotations ? { [HttpApiSchema.AnnotationStatus]: annotations[HttpApiSchema.AnnotationStatus] } : {}

const isAst = (value: unknown): value is AST.AST => typeof value === "object" && value !== null && "_tag" in value && "annotations" in value
