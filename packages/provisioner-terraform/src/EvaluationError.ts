import { Data } from "effect"

/** An expression has no value: a reference to nothing, a wrong argument, too much work. */
export class EvaluationError extends Data.TaggedError("EvaluationError")<{ readonly cause: string; readonly isLimit?: boolean }> {
  override get message(): string {
    return this.cause
  }
}

export const refuse = (cause: string): never => {
  throw new EvaluationError({ cause })
}
