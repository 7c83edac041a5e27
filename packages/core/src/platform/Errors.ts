/**
 * The ways a use case refuses. Each error carries what the wire's `Response` object needs; which status it answers is the
 * business of the HTTP package alone.
 */
import { Data, Effect } from "effect"

/** One failing input: `field` is its JSON or query name, `detail` names the rule and the value. */
export interface Validation {
  readonly field: string
  readonly detail: string
}

/** One entry for each input with a violation; valid inputs are undefined. */
export const validationsOf = (violations: Readonly<Record<string, string | undefined>>): ReadonlyArray<Validation> =>
  Object.entries(violations).flatMap(([field, detail]) => (detail === undefined ? [] : [{ field, detail }]))

interface Refusal {
  readonly message: string
  readonly detail?: string | undefined
  readonly validations?: ReadonlyArray<Validation> | undefined
}

/** The object does not exist, or the actor may not read it: the two are indistinguishable. authorization.md §4. */
export class NotFound extends Data.TaggedError("NotFound")<{ readonly resource?: string } & Partial<Refusal>> {
  override readonly message: string
  constructor(props: { readonly resource?: string; readonly message?: string; readonly validations?: ReadonlyArray<Validation> } = {}) {
    super(props)
    this.message = props.message ?? "Resource not found or you do not have access to this resource"
  }
}

/** The actor can read the object and is refused the action. */
export class Forbidden extends Data.TaggedError("Forbidden")<Partial<Refusal>> {
  override readonly message: string
  constructor(props: Partial<Refusal> = {}) {
    super(props)
    this.message = props.message ?? "Forbidden"
  }
}

/** No valid credential. `code` is the OAuth error of the `WWW-Authenticate` header (RFC 6750 §3.1). */
export class Unauthenticated extends Data.TaggedError("Unauthenticated")<Refusal> {}

/** The input breaks a rule. `validations` name a field once, unless `isEachRuleNamed`: then a field stands there for each rule that it breaks. */
export class Invalid extends Data.TaggedError("Invalid")<Refusal & { readonly isEachRuleNamed?: boolean }> {
  /** A refusal of one named input. */
  static readonly field = (field: string, detail: string, message = "Validation failed."): Invalid =>
    new Invalid({ message, validations: [{ field, detail }] })
}

/** Fails with `Invalid` where inputs have violations. */
export const refuseViolations = (validations: ReadonlyArray<Validation>, isEachRuleNamed = false): Effect.Effect<void, Invalid> =>
  validations.length === 0
    ? Effect.void
    : new Invalid({ message: "Validation failed.", validations, ...(isEachRuleNamed ? { isEachRuleNamed } : {}) })

/** The state of the object, or another object, does not allow the action now. */
export class Conflict extends Data.TaggedError("Conflict")<Refusal> {
  /** A refusal of a name that another has. `what` comes with its article: "A group". */
  static readonly taken = (what: string, name: string): Conflict =>
    new Conflict({
      message: `${what} with the name ${JSON.stringify(name)} exists already.`,
      validations: [{ field: "name", detail: "is taken" }]
    })
}

/** The object existed and has been deleted. */
export class Gone extends Data.TaggedError("Gone")<Refusal> {}

/** The object is being prepared; a later call may succeed. */
export class NotReady extends Data.TaggedError("NotReady")<Refusal> {}

/** What the answer depends on does not answer in time. */
export class UpstreamUnavailable extends Data.TaggedError("UpstreamUnavailable")<Refusal> {}

/** Work that the request waits for has not ended in time. It may go on. */
export class TimedOut extends Data.TaggedError("TimedOut")<Refusal> {}

/** The state differs from the one that the caller expects. */
export class ExpectationMismatch extends Data.TaggedError("ExpectationMismatch")<Refusal> {}

/** The object's state allows this action never or not yet, and the caller has to choose another input. */
export class Unacceptable extends Data.TaggedError("Unacceptable")<Refusal> {}

/** The action does not apply to this object any more. */
export class NotAllowed extends Data.TaggedError("NotAllowed")<Refusal> {}

/** The input exceeds a size limit. */
export class TooLarge extends Data.TaggedError("TooLarge")<Refusal> {}

/** The object is in use by others and has to be released first. */
export class InUse extends Data.TaggedError("InUse")<Refusal> {}

/** The server that the request is forwarded to cannot be reached, or gives an invalid answer. A later call may succeed. */
export class UpstreamFailure extends Data.TaggedError("UpstreamFailure")<Refusal> {}

/** Nothing had to change. */
export class NotModified extends Data.TaggedError("NotModified")<{}> {}

/** Every refusal a service may answer. */
export type ServiceError =
  | NotFound
  | Forbidden
  | Unauthenticated
  | Invalid
  | Conflict
  | Gone
  | NotReady
  | ExpectationMismatch
  | Unacceptable
  | NotAllowed
  | TooLarge
  | InUse
  | UpstreamFailure
  | TimedOut
  | UpstreamUnavailable
  | NotModified

/** A row with the same unique value exists. `constraint` is the index's name; services turn it into a `Conflict` that names the field. */
export class Duplicate extends Data.TaggedError("Duplicate")<{ readonly constraint: string }> {}
