/** Checks the expressions of a template against what they may name, and puts values into their place. */
import { Either } from "effect"
import {
  Condition,
  type Definition,
  type Expression,
  type ExpressionProblem,
  functions,
  type Namespace,
  problem,
  type TemplateText,
  type ValueType
} from "./Expression.js"

/** Returns the type of a reference's value, or undefined for an unknown name. */
export type Declarations = (namespace: Namespace, name: string) => ValueType | undefined

const checkExpression = (expression: Expression, declared: Declarations, wanted: ValueType, problems: Array<ExpressionProblem>): void => {
  switch (expression._tag) {
    case "Literal":
      return
    case "Reference": {
      const { name, namespace, offset } = expression
      const type = declared(namespace, name)
      if (type === undefined) problems.push({ offset, message: `there is no ${namespace}.${name} here` })
      else if (wanted === "list" && type !== "list") problems.push({ offset, message: `${namespace}.${name} is not a list` })
      return
    }
    case "Call":
      functions[expression.name].takes.forEach((type, index) => {
        const value = expression.arguments[index]
        if (value === undefined) return
        if (type === "list" && value._tag !== "Reference") {
          problems.push({ offset: expression.offset, message: `${expression.name}() takes a list, which only a reference can be` })
        } else checkExpression(value, declared, type, problems)
      })
      return
    case "Not":
      return checkExpression(expression.operand, declared, "text", problems)
    case "Binary":
      checkExpression(expression.left, declared, "text", problems)
      checkExpression(expression.right, declared, "text", problems)
  }
}

/** Every reference without a target, and every list reference to a value that is not a list. */
export const check = (text: TemplateText | Condition, declared: Declarations): ReadonlyArray<ExpressionProblem> => {
  const problems: Array<ExpressionProblem> = []
  const expressions = text instanceof Condition ? [text.expression] : text.parts.filter((part) => typeof part !== "string")
  for (const expression of expressions) checkExpression(expression, declared, "text", problems)
  return problems
}

export type Reference = Extract<Expression, { readonly _tag: "Reference" }>

/** References whose value becomes part of the expression's, in whatever form, but for those a shell takes for one word each. */
const unquotedIn = (expression: Expression): ReadonlyArray<Reference> => {
  switch (expression._tag) {
    case "Reference":
      return [expression]
    case "Call":
      return ["shell", "shell_list", "contains"].includes(expression.name) ? [] : expression.arguments.flatMap(unquotedIn)
    // Literals, and answers of yes or no
    case "Literal":
    case "Not":
    case "Binary":
      return []
  }
}

/** The references whose value enters the text without being quoted for a shell; what other functions quote, a shell may still read. */
export const unquoted = (text: TemplateText): ReadonlyArray<Reference> =>
  text.parts.flatMap((part) => (typeof part === "string" ? [] : unquotedIn(part)))

/** The value of a reference that `check` accepted. */
export type Scope = (namespace: Namespace, name: string) => string

const tooLong = (offset: number, limit: number) => problem(offset, `its value is longer than ${limit} characters`)

const evaluate = (expression: Expression, scope: Scope, limit: number): Either.Either<string, ExpressionProblem> =>
  Either.gen(function* () {
    switch (expression._tag) {
      case "Literal":
        return expression.value
      case "Reference":
        return scope(expression.namespace, expression.name)
      case "Not":
        return String((yield* evaluate(expression.operand, scope, limit)) !== "true")
      case "Call": {
        const values = yield* Either.all(expression.arguments.map((argument) => evaluate(argument, scope, limit)))
        if (values.some((value) => value.length > limit)) return yield* tooLong(expression.offset, limit)
        const definition: Definition = functions[expression.name]
        return definition.apply(...values)
      }
      case "Binary": {
        const left = yield* evaluate(expression.left, scope, limit)
        const right = yield* evaluate(expression.right, scope, limit)
        switch (expression.operator) {
          case "==":
            return String(left === right)
          case "!=":
            return String(left !== right)
          case "&&":
            return String(left === "true" && right === "true")
          case "||":
            return String(left === "true" || right === "true")
        }
      }
    }
  })

/** The text with its expressions' values in it; refused when it is longer than `limit` UTF-16 units. */
export const render = (text: TemplateText, scope: Scope, limit: number): Either.Either<string, ExpressionProblem> =>
  Either.gen(function* () {
    let rendered = ""
    for (const part of text.parts) {
      rendered += typeof part === "string" ? part : yield* evaluate(part, scope, limit)
      if (rendered.length > limit) return yield* tooLong(0, limit)
    }
    return rendered
  })

/** Whether the condition holds: its value is the text `true`. */
export const holds = (condition: Condition, scope: Scope, limit: number): Either.Either<boolean, ExpressionProblem> =>
  Either.map(evaluate(condition.expression, scope, limit), (value) => value === "true")
