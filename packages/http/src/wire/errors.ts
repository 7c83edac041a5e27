/**
 * Refusals on the wire. `statuses` is the one table from the errors of core to HTTP statuses; everything else is derived from it: the
 * schemas endpoints declare, the answers the server gives, and the errors the typed client fails with. identity.md §1.3.
 */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import {
  Conflict,
  ExpectationMismatch,
  Forbidden,
  Gone,
  InUse,
  Invalid,
  NotAllowed,
  NotFound,
  NotModified,
  NotReady,
  TimedOut,
  TooLarge,
  Unacceptable,
  Unauthenticated,
  UpstreamFailure,
  UpstreamUnavailable,
  type Validation
} from "@atelier/core/platform"
import { Data, Schema, SchemaAST as AST } from "effect"

/** The caller sends more than its share of requests. identity.md §1.8. */
export class TooManyRequests extends Data.TaggedError("TooManyRequests")<{
  readonly message: string
  readonly detail?: string | undefined
}> {}

/** The operation answers over an upgraded connection only. agents-and-apps.md §0. */
export class UpgradeRequired extends Data.TaggedError("UpgradeRequired")<{
  readonly message: string
  readonly detail?: string | undefined
}> {}

/** The request's body did not arrive in time. */
export class RequestTimeout extends Data.TaggedError("RequestTimeout")<{
  readonly message: string
  readonly detail?: string | undefined
}> {}

/** The service failed. Its log has the reason, under the id of the request. */
export class InternalError extends Data.TaggedError("InternalError")<{ readonly message: string; readonly detail?: string | undefined }> {}

/** The store cannot answer now. The same request may succeed later. */
export class Unavailable extends Data.TaggedError("Unavailable")<{ readonly message: string; readonly detail?: string | undefined }> {}

/** The store has no room for what the request would write. */
export class StorageFull extends Data.TaggedError("StorageFull")<{ readonly message: string; readonly detail?: string | undefined }> {}

/** The status of each refusal. */
export const statuses = {
  NotModified: 304,
  Invalid: 400,
  Unauthenticated: 401,
  Forbidden: 403,
  NotFound: 404,
  NotAllowed: 405,
  Unacceptable: 406,
  RequestTimeout: 408,
  Conflict: 409,
  Gone: 410,
  ExpectationMismatch: 412,
  TooLarge: 413,
  InUse: 417,
  NotReady: 425,
  UpgradeRequired: 426,
  TooManyRequests: 429,
  InternalError: 500,
  UpstreamFailure: 502,
  UpstreamUnavailable: 503,
  Unavailable: 503,
  TimedOut: 504,
  StorageFull: 507
} as const

export type RefusalTag = keyof typeof statuses

/** The body of every error, and of answers that are only a message. */
export const Response = Schema.Struct({
  message: Schema.String,
  detail: Schema.optional(Schema.String),
  validations: Schema.optional(Schema.Array(Schema.Struct({ field: Schema.String, detail: Schema.String })))
}).annotations({ identifier: "Message" })
export interface Response extends Schema.Schema.Type<typeof Response> {}

interface Described {
  readonly message: string
  readonly detail?: string | undefined
  readonly validations?: ReadonlyArray<Validation> | undefined
  readonly isEachRuleNamed?: boolean | undefined
}

/** Entries of `validations`. */
const maximumValidations = 100

/** Characters of each text of a refusal. */
const maximumText = 1000

const cut = (text: string): string => (text.length > maximumText ? `${text.slice(0, maximumText).toWellFormed()}…` : text)

/** One entry per field: the first rule it breaks. */
const distinct = (validations: ReadonlyArray<Validation>): ReadonlyArray<Validation> => {
  const fields = new Set<string>()
  return validations.filter(({ field }) => !fields.has(field) && fields.add(field))
}

/** The `Response` object of an error; empty members are left out, and what a caller's input made long is cut. */
export const responseOf = (error: Described): Response => {
  const { detail, message, validations = [] } = error
  // A refusal of a permission lists everything that is missing, not rules of inputs
  const named = error instanceof Forbidden || error.isEachRuleNamed === true ? validations : distinct(validations)
  const entries = named.slice(0, maximumValidations).map(({ detail, field }) => ({ field: cut(field), detail: cut(detail) }))
  return { message: cut(message), ...(detail ? { detail: cut(detail) } : {}), ...(entries.length > 0 ? { validations: entries } : {}) }
}

const schemaOf = <E extends Described & { readonly _tag: Exclude<RefusalTag, "NotModified"> }>(
  error: new (props: { message: string; detail?: string; validations?: ReadonlyArray<Validation> }) => E,
  tag: E["_tag"]
): Schema.Schema<E, Response> =>
  Schema.transform(Response, Schema.instanceOf(error), {
    strict: true,
    decode: ({ detail, message, validations }) =>
      new error({ message, ...(detail === undefined ? {} : { detail }), ...(validations === undefined ? {} : { validations }) }),
    encode: responseOf
  }).annotations(HttpApiSchema.annotations({ status: statuses[tag] }))

const schemas = {
  Invalid: schemaOf(Invalid, "Invalid"),
  Unauthenticated: schemaOf(Unauthenticated, "Unauthenticated"),
  Forbidden: schemaOf(Forbidden, "Forbidden"),
  NotFound: schemaOf(NotFound, "NotFound"),
  NotAllowed: schemaOf(NotAllowed, "NotAllowed"),
  Unacceptable: schemaOf(Unacceptable, "Unacceptable"),
  RequestTimeout: schemaOf(RequestTimeout, "RequestTimeout"),
  Conflict: schemaOf(Conflict, "Conflict"),
  Gone: schemaOf(Gone, "Gone"),
  ExpectationMismatch: schemaOf(ExpectationMismatch, "ExpectationMismatch"),
  TooLarge: schemaOf(TooLarge, "TooLarge"),
  InUse: schemaOf(InUse, "InUse"),
  NotReady: schemaOf(NotReady, "NotReady"),
  UpgradeRequired: schemaOf(UpgradeRequired, "UpgradeRequired"),
  TooManyRequests: schemaOf(TooManyRequests, "TooManyRequests"),
  InternalError: schemaOf(InternalError, "InternalError"),
  UpstreamFailure: schemaOf(UpstreamFailure, "UpstreamFailure"),
  TimedOut: schemaOf(TimedOut, "TimedOut"),
  UpstreamUnavailable: schemaOf(UpstreamUnavailable, "UpstreamUnavailable"),
  Unavailable: schemaOf(Unavailable, "Unavailable"),
  StorageFull: schemaOf(StorageFull, "StorageFull"),
  NotModified: HttpApiSchema.asEmpty(Schema.instanceOf(NotModified), { status: statuses.NotModified, decode: () => new NotModified() })
}

/**
 * The errors an endpoint declares, by tag: `endpoint.addError(refusals("NotFound", "Conflict"))`. Those any endpoint may answer
 * (`commonRefusals`) are declared once for the whole contract.
 */
export const refusals = <const Tag extends RefusalTag>(...tags: ReadonlyArray<Tag>): Schema.Schema<RefusalOf<Tag>, Response | void> =>
  Schema.make(AST.Union.make(tags.map((tag) => schemas[tag].ast)))

type RefusalOf<Tag extends RefusalTag> = Schema.Schema.Type<(typeof schemas)[Tag]>

/** The errors that any endpoint may answer. */
export const commonRefusals = refusals(
  "Invalid",
  "TooLarge",
  "RequestTimeout",
  "TooManyRequests",
  "InternalError",
  "Unavailable",
  "StorageFull"
)
export type CommonRefusal = Schema.Schema.Type<typeof commonRefusals>

/** An error that the table has a status for. */
export type Refusal = RefusalOf<RefusalTag>

export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string" && Object.hasOwn(statuses, error._tag)

/** The status that a refusal is answered with. */
export const statusOf = (error: Refusal): number => statuses[error._tag]
