/** Expressions as trees. */
import type { Numeric } from "./Numbers.js"

export type Expression =
  | { readonly kind: "literal"; readonly value: string | Numeric | boolean | null }
  | { readonly kind: "template"; readonly parts: ReadonlyArray<Expression> }
  | { readonly kind: "reference"; readonly name: string }
  | { readonly kind: "attribute"; readonly of: Expression; readonly name: string }
  | { readonly kind: "index"; readonly of: Expression; readonly key: Expression }
  | { readonly kind: "splat"; readonly of: Expression; readonly each: Expression }
  /** The element of the splat around. */
  | { readonly kind: "element" }
  | { readonly kind: "call"; readonly name: string; readonly given: ReadonlyArray<Expression>; readonly isExpanded: boolean }
  | { readonly kind: "not" | "negative"; readonly of: Expression }
  | { readonly kind: "binary"; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "conditional"; readonly condition: Expression; readonly chosen: Expression; readonly otherwise: Expression }
  | { readonly kind: "list"; readonly items: ReadonlyArray<Expression> }
  | { readonly kind: "object"; readonly items: ReadonlyArray<readonly [key: Expression, value: Expression]> }
  | For

export interface For {
  readonly kind: "for"
  readonly makes: "list" | "object" | "text"
  readonly keyName: string | undefined
  readonly valueName: string
  readonly collection: Expression
  readonly key: Expression | undefined
  readonly value: Expression
  readonly condition: Expression | undefined
  readonly isGrouped: boolean
}
