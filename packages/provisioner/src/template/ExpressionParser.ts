/** Reads the expressions of texts and conditions. `$${` stands for a literal `${`. */
import { Either } from "effect"
import {
  Condition,
  type Expression,
  type ExpressionProblem,
  functions,
  isFunctionName,
  isNamespace,
  namespaces,
  type Operator,
  problem,
  TemplateText
} from "./Expression.js"
import { is, type Token, tokenAt } from "./ExpressionTokens.js"

/** Parentheses, negations and calls within each other; operators in a row. */
const maximumNesting = 32

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
        if (!isNamespace(text)) return yield* problem(offset, `"${text}" is not one of ${namespaces.join(", ")}; ${literalHint}`)
        const member = yield* this.peek()
        if (member.kind !== "name") return yield* problem(member.offset, `a name is missing after "${text}."`)
        this.offset = member.end
        return { _tag: "Reference", namespace: text, name: member.text, offset } satisfies Expression
      }
      if (text === "true" || text === "false") return { _tag: "Literal", value: text } satisfies Expression
      return yield* problem(offset, `"${text}" is not a value; ${literalHint}`)
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

/** The broken expressions of a text, in order, at most so many. Text behind an expression without an end is not read. */
export const problemsInText = (source: string, limit: number): ReadonlyArray<ExpressionProblem> => {
  const problems: Array<ExpressionProblem> = []
  let from = 0
  while (problems.length < limit) {
    const text = source.slice(from)
    const parsed = parseText(text)
    if (Either.isRight(parsed)) break
    const { message, offset } = parsed.left
    problems.push({ message, offset: from + offset })
    const start = text.lastIndexOf("${", offset)
    const end = text.indexOf("}", Math.max(start, offset))
    if (start < 0 || end < 0) break
    from += end + 1
  }
  return problems
}
