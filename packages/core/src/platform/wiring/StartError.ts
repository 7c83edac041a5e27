import { Cause, Data, type Layer, Runtime } from "effect"
import { failingWith } from "./Standing.js"

interface Refused {
  /** The option as the host names it, such as `accessUrl` or `storage.filename`. */
  readonly option: string
  /** The given value; absent if none was given, or all of it is secret. */
  readonly value?: string
  /** Why it cannot be used, in the words of the driver that refuses it where there are any. */
  readonly reason: string
  readonly cause?: unknown
}

/** The service cannot start with an option's value. The message is one sentence without secrets. */
export class StartError extends Data.TaggedError("StartError")<Refused> {
  override readonly message: string
  constructor(props: Refused) {
    super(props)
    this.message = `${props.option}${props.value === undefined ? "" : ` ${JSON.stringify(props.value)}`}: ${props.reason}`
  }
}

/** Returns the words of the innermost error, which is the driver's. A connection that was tried at several addresses has several. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (Runtime.isFiberFailure(error)) return reasonOf(Cause.squash(error[Runtime.FiberFailureCauseId]))
  if (error instanceof AggregateError) return [...new Set(error.errors.map(reasonOf))].join("; ")
  if (error.cause instanceof Error) return reasonOf(error.cause)
  return error.message || error.name
}

/** Has a layer that cannot be built fail with the option that it is made of. */
export const startedWith =
  ({ option, value }: Pick<Refused, "option" | "value">) =>
  <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, StartError, R> =>
    failingWith(layer, (cause) => {
      if (Cause.isInterruptedOnly(cause)) return Cause.stripFailures(cause)
      const error = Cause.squash(cause)
      if (error instanceof StartError) return Cause.fail(error)
      return Cause.fail(new StartError({ option, ...(value === undefined ? {} : { value }), reason: reasonOf(error), cause: error }))
    })
