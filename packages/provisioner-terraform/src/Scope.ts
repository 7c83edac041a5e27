/** Where expressions are evaluated. */
import type { Expression } from "./Expressions.js"
import type { Value } from "./Values.js"
import type { Work } from "./Work.js"

/** The files of the template, by their paths from its root. */
export type FunctionFiles = ReadonlyMap<string, Uint8Array>

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
