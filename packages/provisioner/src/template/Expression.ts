/**
 * The expressions inside a template's texts: `${parameter.region}`, `${shell(owner.name)}`. A closed language of references, text,
 * comparison and functions that quote; nothing in it runs code.
 */
import { Data, Either } from "effect"

/** Where values come from. */
export const namespaces = ["parameter", "variable", "workspace", "owner", "template", "task", "agent_token"] as const
export type Namespace = (typeof namespaces)[number]

export type Operator = "==" | "!=" | "&&" | "||"

/** `offset` counts UTF-16 units from the start of the text the expression stands in. */
export type Expression =
  | { readonly _tag: "Literal"; readonly value: string }
  | { readonly _tag: "Reference"; readonly namespace: Namespace; readonly name: string; readonly offset: number }
  | { readonly _tag: "Call"; readonly name: FunctionName; readonly arguments: ReadonlyArray<Expression>; readonly offset: number }
  | { readonly _tag: "Not"; readonly operand: Expression }
  | { readonly _tag: "Binary"; readonly operator: Operator; readonly left: Expression; readonly right: Expression }

/** An error in an expression, with its place in the text. */
export interface ExpressionProblem {
  readonly offset: number
  readonly message: string
}

/** A text with expressions in it. */
export class TemplateText extends Data.Class<{ readonly source: string; readonly parts: ReadonlyArray<string | Expression> }> {}

/** An expression that answers yes or no. */
export class Condition extends Data.Class<{ readonly source: string; readonly expression: Expression }> {}

/** A list travels as the JSON text of an array of strings. */
export type ValueType = "text" | "list"

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A lone surrogate has no percent-encoding. */
const wellFormed = (text: string): string => new TextDecoder().decode(new TextEncoder().encode(text))

const elements = (text: string): ReadonlyArray<string> => {
  const parsed = Either.try((): unknown => JSON.parse(text))
  return Either.isRight(parsed) && Array.isArray(parsed.right) ? parsed.right.map((element) => String(element)) : []
}

/** The arguments and the result of a function. */
export interface Definition {
  readonly takes: ReadonlyArray<ValueType>
  readonly apply: (...values: ReadonlyArray<string>) => string
}

/** The functions of the language. docs/templates.md explains each to authors. */
export const functions = {
  /** One word of a POSIX shell, whatever the value holds. */
  shell: { takes: ["text"], apply: (text = "") => quoteForShell(text) },
  /** Each element one word of a POSIX shell, separated by spaces. */
  shell_list: { takes: ["list"], apply: (list = "") => elements(list).map(quoteForShell).join(" ") },
  /** A JSON string, which is a YAML and a JavaScript string too. */
  json: { takes: ["text"], apply: (text = "") => JSON.stringify(text) },
  /** One segment or query value of a URL (RFC 3986 §2.1). */
  url: { takes: ["text"], apply: (text = "") => encodeURIComponent(wellFormed(text)) },
  join: { takes: ["list", "text"], apply: (list = "", separator = "") => elements(list).join(separator) },
  contains: { takes: ["list", "text"], apply: (list = "", element = "") => String(elements(list).includes(element)) }
} as const satisfies Record<string, Definition>
export type FunctionName = keyof typeof functions

export const isFunctionName = (name: string): name is FunctionName => Object.hasOwn(functions, name)
export const isNamespace = (name: string): name is Namespace => namespaces.some((namespace) => namespace === name)

/** Refuses an expression. */
export const problem = (offset: number, message: string) => Either.left({ offset, message } satisfies ExpressionProblem)
