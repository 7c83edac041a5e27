/**
 * The expressions inside a template's texts: `${parameter.region}`, `${shell(owner.name)}`. A closed little language: references,
 * text, comparison and a handful of functions that quote; nothing in it runs code. `$${` stands for a literal `${`.
 */
import { Data, Either } from "effect"

/** Where values come from. */
export const namespaces = ["parameter", "variable", "workspace", "owner", "template"] as const
export type Namespace = (typeof namespaces)[number]

/** `offset` counts UTF-16 units from the start of the text the expression stands in. */
export type Expression =
  | { readonly _tag: "Literal"; readonly value: string }
  | { readonly _tag: "Reference"; readonly namespace: Namespace; readonly name: string; readonly offset: number }
  | { readonly _tag: "Call"; readonly name: FunctionName; readonly arguments: ReadonlyArray<Expression>; readonly offset: number }
  | { readonly _tag: "Not"; readonly operand: Expression }
  | { readonly _tag: "Binary"; readonly operator: Operator; readonly left: Expression; readonly right: Expression }

/** What is wrong with an expression, and where in its text. */
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

interface Definition {
  readonly takes: ReadonlyArray<ValueType>
  readonly apply: (...values: ReadonlyArray<string>) => string
}

/** The functions of the language. docs/templates.md explains each to authors. */
const functions = {
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

const isFunctionName = (name: string): name is FunctionName => Object.hasOwn(functions, name)
const isNamespace = (name: string): name is Namespace => namespaces.some((namespace) => namespace === name)

interface Token {
  readonly kind: "name" | "string" | "number" | "symbol" | "end"
  readonly text: string
  readonly offset: number
  /** Where the next token may start. */
  readonly end: number
}

const problem = (offset: number, message: string) => Either.left({ offset, message } satisfies ExpressionProblem)

const symbols = ["==", "!=", "&&", "||", "${", "}", "(", ")", ",", ".", "!"]
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t" }

const maximumNameLength = 128
const word = /(?:-?[0-9]+|[A-Za-z_][A-Za-z0-9_-]*)/y
const whiteSpace = /\s*/y

const matchAt = (pattern: RegExp, source: string, at: number): string => {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0] ?? ""
}

/** The token at `from`; white space before it is passed over. */
const tokenAt = (source: string, from: number): Either.Either<Token, ExpressionProblem> => {
  const offset = from + matchAt(whiteSpace, source, from).length
  if (offset >= source.length) return Either.right({ kind: "end", text: "", offset, end: offset })
  const symbol = symbols.find((symbol) => source.startsWith(symbol, offset))
  if (symbol !== undefined) return Either.right({ kind: "symbol", text: symbol, offset, end: offset + symbol.length })
  const quote = source.charAt(offset)
  if (quote === '"' || quote === "'") return stringAt(source, offset, quote)
  const text = matchAt(word, source, offset)
  if (text === "") return problem(offset, `unexpected ${JSON.stringify(String.fromCodePoint(source.codePointAt(offset) ?? 0))}`)
  if (text.length > maximumNameLength) return problem(offset, `a name has at most ${maximumNameLength} characters`)
  return Either.right({ kind: /^[-0-9]/.test(text) ? "number" : "name", text, offset, end: offset + text.length })
}

const stringAt = (source: string, offset: number, quote: string): Either.Either<Token, ExpressionProblem> => {
  let text = ""
  for (let at = offset + 1; at < source.length; at++) {
    const character = source.charAt(at)
    if (character === quote) return Either.right({ kind: "string", text, offset, end: at + 1 })
    if (character === "\\") at++
    text += character === "\\" ? (escapes[source.charAt(at)] ?? source.charAt(at)) : character
  }
  return problem(offset, `the text that starts with ${quote} has no end`)
}

/** Parentheses, negations and calls within each other; operators in a row. */
const maximumNesting = 32

type Operator = "==" | "!=" | "&&" | "||"
type Parsed = Either.Either<Expression, ExpressionProblem>

/** From the weakest to the strongest; none of a level binds closer than another one. */
const operators: ReadonlyArray<ReadonlyArray<Operator>> = [["||"], ["&&"], ["==", "!="]]
const disjunction = 0

/** Recursive descent, weakest operator first: `||`, `&&`, `==` and `!=`, `!`. */
class Parser {
  private peeked: { readonly offset: number; readonly token: Either.Either<Token, ExpressionProblem> } | undefined

  constructor(
    private readonly source: string,
    public offset: number
  ) {}

  peek(): Either.Either<Token, ExpressionProblem> {
    if (this.peeked?.offset !== this.offset) this.peeked = { offset: this.offset, token: tokenAt(this.source, this.offset) }
    return this.peeked.token
  }

  expression(depth: number): Parsed {
    return this.chain(disjunction, depth)
  }

  /** Takes the symbol, or refuses what stands in its place. */
  expect(symbol: string): Either.Either<Token, ExpressionProblem> {
    return Either.flatMap(this.peek(), (token) => {
      if (token.kind === "end") return problem(token.offset, `"${symbol}" is missing`)
      if (!is(token, symbol)) return problem(token.offset, `"${symbol}" expected, not ${JSON.stringify(token.text)}`)
      this.offset = token.end
      return Either.right(token)
    })
  }

  private accept(symbol: string): Either.Either<boolean, ExpressionProblem> {
    return Either.map(this.peek(), (token) => {
      if (is(token, symbol)) this.offset = token.end
      return is(token, symbol)
    })
  }

  private operand(level: number, depth: number): Parsed {
    return level < operators.length ? this.chain(level, depth) : this.unary(depth)
  }

  private chain(level: number, depth: number): Parsed {
    let left = this.operand(level + 1, depth)
    for (let count = 1; Either.isRight(left); count++) {
      const next = this.peek()
      if (Either.isLeft(next)) return Either.left(next.left)
      const token = next.right
      const operator = operators[level]?.find((operator) => is(token, operator))
      if (operator === undefined) return left
      if (count > maximumNesting) return problem(token.offset, `more than ${maximumNesting} operators in a row`)
      this.offset = token.end
      const right = this.operand(level + 1, depth)
      if (Either.isLeft(right)) return right
      left = Either.right({ _tag: "Binary", operator, left: left.right, right: right.right })
    }
    return left
  }

  private unary(depth: number): Parsed {
    return Either.flatMap(this.peek(), (token): Parsed => {
      if (depth > maximumNesting) return problem(token.offset, `nested deeper than ${maximumNesting}`)
      this.offset = token.end
      if (is(token, "!")) return Either.map(this.unary(depth + 1), (operand) => ({ _tag: "Not", operand }))
      if (token.kind === "string" || token.kind === "number") return Either.right({ _tag: "Literal", value: token.text })
      if (token.kind === "name") return this.named(token, depth)
      // A condition may write its references as texts do: `${parameter.ide} == "code"`
      const close = is(token, "(") ? ")" : is(token, "${") ? "}" : undefined
      if (close === undefined) {
        return problem(token.offset, token.kind === "end" ? "an expression is missing" : `unexpected ${JSON.stringify(token.text)}`)
      }
      const inner = this.expression(depth + 1)
      return Either.isLeft(inner) ? inner : Either.flatMap(this.expect(close), () => inner)
    })
  }

  private named(token: Token, depth: number): Parsed {
    return Either.gen(this, function* () {
      const { offset, text } = token
      if (yield* this.accept("(")) return yield* this.call(token, depth)
      if (yield* this.accept(".")) {
        if (!isNamespace(text)) return yield* problem(offset, `"${text}" is none of ${namespaces.join(", ")}; ${literalHint}`)
        const member = yield* this.peek()
        if (member.kind !== "name") return yield* problem(member.offset, `a name is missing after "${text}."`)
        this.offset = member.end
        return { _tag: "Reference", namespace: text, name: member.text, offset } satisfies Expression
      }
      if (text === "true" || text === "false") return { _tag: "Literal", value: text } satisfies Expression
      return yield* problem(offset, `"${text}" is no value; ${literalHint}`)
    })
  }

  private call({ offset, text: name }: Token, depth: number): Parsed {
    return Either.gen(this, function* () {
      if (!isFunctionName(name))
        return yield* problem(offset, `there is no function "${name}"; there are ${Object.keys(functions).join(", ")}`)
      const values = [yield* this.expression(depth + 1)]
      while (values.length < functions[name].takes.length) {
        yield* this.expect(",")
        values.push(yield* this.expression(depth + 1))
      }
      yield* this.expect(")")
      return { _tag: "Call", name, arguments: values, offset } satisfies Expression
    })
  }
}

const is = (token: Token, symbol: string): boolean => token.kind === "symbol" && token.text === symbol

/** Shell scripts are full of `${HOME}`. */
const literalHint = 'for a literal "${" write "$${"'

/** Reads a text; `$${` stands for `${`, and a `$` before anything else for itself. */
export const parseText = (source: string): Either.Either<TemplateText, ExpressionProblem> =>
  Either.gen(function* () {
    const parts: Array<string | Expression> = []
    let literal = ""
    let at = 0
    while (at < source.length) {
      const dollar = source.indexOf("$", at)
      literal += source.slice(at, dollar < 0 ? source.length : dollar)
      if (dollar < 0) break
      if (source.startsWith("$${", dollar)) {
        literal += "${"
        at = dollar + 3
      } else if (source.startsWith("${", dollar)) {
        if (literal !== "") parts.push(literal)
        literal = ""
        const parser = new Parser(source, dollar + 2)
        parts.push(yield* parser.expression(0))
        yield* parser.expect("}")
        at = parser.offset
      } else {
        literal += "$"
        at = dollar + 1
      }
    }
    if (literal !== "") parts.push(literal)
    return new TemplateText({ source, parts })
  })

/** Reads a condition, the whole of whose source is an expression. */
export const parseCondition = (source: string): Either.Either<Condition, ExpressionProblem> =>
  Either.gen(function* () {
    const parser = new Parser(source, 0)
    const expression = yield* parser.expression(0)
    const rest = yield* parser.peek()
    if (rest.kind !== "end") return yield* problem(rest.offset, `unexpected ${JSON.stringify(rest.text)}`)
    return new Condition({ source, expression })
  })

/** Words, signs and literals of the expression at `from`, up to `limit`: what reading it costs. Ends where the expression does, or breaks. */
const tokensFrom = (source: string, from: number, limit: number): { readonly tokens: number; readonly end: number } => {
  let [tokens, end, open] = [0, from, 1]
  while (tokens < limit && open > 0) {
    const token = tokenAt(source, end)
    if (Either.isLeft(token) || token.right.kind === "end") return { tokens, end: source.length }
    if (is(token.right, "${")) open++
    if (is(token.right, "}")) open--
    end = token.right.end
    tokens++
  }
  return { tokens, end }
}

/** Words, signs and literals of a condition, up to `limit`. */
export const tokensOfCondition = (source: string, limit: number): number => tokensFrom(source, 0, limit).tokens

/** Words, signs and literals of all expressions of a text, up to `limit`. */
export const tokensOfText = (source: string, limit: number): number => {
  let tokens = 0
  for (let at = source.indexOf("${"); at >= 0 && tokens < limit; at = source.indexOf("${", at)) {
    if (source.charAt(at - 1) === "$") at += 2
    else {
      const found = tokensFrom(source, at + 2, limit - tokens)
      tokens += found.tokens
      at = found.end
    }
  }
  return tokens
}

/** The text whose rendering is `literal`. */
export const escape = (literal: string): string => literal.replaceAll("${", () => "$${")

/** What a reference stands for. Answers a value's type, or undefined where nothing has the name. */
export type Declarations = (namespace: Namespace, name: string) => ValueType | undefined

const checkExpression = (expression: Expression, declared: Declarations, wanted: ValueType, problems: Array<ExpressionProblem>): void => {
  switch (expression._tag) {
    case "Literal":
      return
    case "Reference": {
      const { name, namespace, offset } = expression
      const type = declared(namespace, name)
      if (type === undefined) problems.push({ offset, message: `there is no ${namespace}.${name} here` })
      else if (wanted === "list" && type !== "list") problems.push({ offset, message: `${namespace}.${name} is no list` })
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
