/** How identity providers are refused: every refusal below `/scim/v2` has the form of RFC 7644 §3.12. authorization.md §13. */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { type ScimErrorType, ScimInvalid } from "@atelier/core/identity"
import { Conflict, Forbidden, Invalid, NotFound, type NotModified, TooLarge, Unauthenticated } from "@atelier/core/platform"
import { Schema, SchemaAST as AST } from "effect"
import { InternalError, type Refusal, RequestTimeout, responseOf, statusOf } from "./errors.js"

export const scimContentType = "application/scim+json"

const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error"

/** The body of a refusal. */
export const ScimError = Schema.Struct({
  schemas: Schema.Array(Schema.String),
  /** The status as a text. */
  status: Schema.String,
  scimType: Schema.optional(Schema.String),
  detail: Schema.String
}).annotations({ identifier: "SCIMError" })
export interface ScimError extends Schema.Schema.Type<typeof ScimError> {}

/** Whether refusals at a path have this form. */
export const isScimPath = (path: string): boolean => path === "/scim/v2" || path.startsWith("/scim/v2/")

/** A refusal that has a body. */
type SpokenRefusal = Exclude<Refusal, NotModified>

const typeOf = (refusal: SpokenRefusal): ScimErrorType | "uniqueness" | undefined => {
  if (refusal instanceof ScimInvalid) return refusal.scimType
  if (refusal._tag === "Conflict") return "uniqueness"
  if (refusal._tag !== "Invalid") return undefined
  return refusal.validations === undefined || refusal.validations.length === 0 ? "invalidSyntax" : "invalidValue"
}

/** A refusal without an error of its own. */
export const scimError = (status: number, detail: string, scimType?: string): ScimError => ({
  schemas: [errorSchema],
  status: String(status),
  ...(scimType === undefined ? {} : { scimType }),
  detail
})

/** The answer to a refusal. */
export const scimErrorOf = (refusal: SpokenRefusal): ScimError => {
  const { detail, message, validations = [] } = responseOf(refusal)
  const findings = validations.map(({ detail, field }) => `${field}: ${detail}`)
  return scimError(statusOf(refusal), [message, ...(detail === undefined ? [] : [detail]), ...findings].join(" "), typeOf(refusal))
}

const errors = { Conflict, Forbidden, Invalid, InternalError, NotFound, RequestTimeout, TooLarge, Unauthenticated } as const

const schemaOf = (tag: keyof typeof errors): AST.AST => {
  const error = errors[tag]
  return Schema.transform(ScimError, Schema.instanceOf<new (props: { message: string }) => SpokenRefusal>(error), {
    strict: true,
    decode: ({ detail }) => new error({ message: detail }),
    encode: scimErrorOf
  })
    .annotations(HttpApiSchema.annotations({ status: statusOf(new error({ message: "" })) }))
    .pipe(HttpApiSchema.withEncoding({ kind: "Json", contentType: scimContentType })).ast
}

/** The errors an endpoint of SCIM declares, by tag; the same ones that the services fail with. */
export const scimRefusals = <const Tag extends keyof typeof errors>(
  ...tags: ReadonlyArray<Tag>
): Schema.Schema<InstanceType<(typeof errors)[Tag]>, ScimError> => Schema.make(AST.Union.make(tags.map(schemaOf)))
