/** Where expressions are evaluated. Work is bounded for a whole form: steps, and characters of texts that are made. */
import type { Expression } from "./Expressions.js"
import { EvaluationError, type Value } from "./Values.js"

/** The files of the template, by their paths from its root. */
export type FunctionFiles = ReadonlyMap<string, Uint8Array>

/** What all expressions of a form may do together. */
export class Work {
  private steps = 0
  private characters = 0
  private depth = 0

  constructor(
    readonly maximumSteps = 100_000,
    readonly maximumCharacters = 16 * 1024 * 1024,
    readonly maximumDepth = 400
  ) {}

  step(count = 1): void {
    this.steps += count
    if (this.steps > this.maximumSteps) throw new EvaluationError({ cause: "the template needs too many steps", isLimit: true })
  }

  made(text: string): string {
    this.characters += text.length
    if (this.characters > this.maximumCharacters) throw new EvaluationError({ cause: "the template makes too long texts", isLimit: true })
    return text
  }

  deeper<A>(read: () => A): A {
    if (this.depth >= this.maximumDepth) throw new EvaluationError({ cause: "expressions refer to each other too deeply", isLimit: true })
    this.depth++
    try {
      return read()
    } finally {
      this.depth--
    }
  }
}

/** Where an expression stands. */
export interface Scope {
  /** For templates that functions render. Throws `EvaluationError`. */
  readonly evaluate: (expression: Expression, scope: Scope) => Value
  readonly work: Work
  readonly files: FunctionFiles
  /** Names of `for` expressions, of iterators, `each` and `count`. */
  readonly names: ReadonlyMap<string, Value>
  /** The value of the longest reference that is known, and how many of the steps it took. */
  readonly resolve: (root: string, steps: ReadonlyArray<string>) => { readonly value: Value; readonly used: number }
}

export const withNames = (scope: Scope, names: Iterable<readonly [string, Value]>): Scope => ({
  ...scope,
  names: new Map([...scope.names, ...names])
})
