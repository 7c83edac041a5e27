/** A rule of the request that was broken. */
export interface Validation {
  /** The field of the body or the parameter. */
  readonly field: string
  readonly detail: string
}

export interface ErrorFields {
  readonly status: number
  readonly message: string
  readonly detail?: string | undefined
  readonly validations?: ReadonlyArray<Validation> | undefined
  readonly retryAfter?: number | undefined
  readonly requestId?: string | undefined
  readonly cause?: unknown
}

/** A call that failed: the service refused it, or no answer came. An aborted call fails with the reason of its signal instead. */
export class AtelierError extends Error {
  /** Whether a value is such an error, of this copy of the package or of another one: a bundle may contain two. A subclass has only its own instances. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== AtelierError) return super[Symbol.hasInstance](value)
    return value instanceof Error && value.name === "AtelierError"
  }

  override readonly name = "AtelierError"
  /** The HTTP status, such as 404. 0 if no answer came: `cause` has the reason. */
  readonly status: number
  /** More about the reason, for people who look for it. */
  readonly detail: string | undefined
  /** The broken rules by field; empty unless the status is 400. */
  readonly validations: ReadonlyArray<Validation>
  /** Seconds after which the service asks to try again. */
  readonly retryAfter: number | undefined
  /** The id under which the service's log has the request. */
  readonly requestId: string | undefined

  constructor({ cause, detail, message, requestId, retryAfter, status, validations = [] }: ErrorFields) {
    super(message, { cause })
    this.status = status
    this.detail = detail
    this.validations = validations
    this.retryAfter = retryAfter
    this.requestId = requestId
  }
}
