/** Reads expressions in HCL's native syntax. Templates in quoted texts and heredocs are expressions too. */
import { EvaluationError } from "./EvaluationError.js"
import type { Expression } from "./Expressions.js"
import { HclError } from "./Hcl.js"
import { readNumber } from "./Numbers.js"
import { assembled, dedented, maximumDepth, merged, type Piece, text, type TextPiece } from "./TemplatePieces.js"

/** Characters of a source: reading one takes the server's only thread. */
const maximumSource = 256 * 1024

const precedence: ReadonlyArray<ReadonlyArray<string>> = [["||"], ["&&"], ["==", "!="], ["<=", ">=", "<", ">"], ["+", "-"], ["*", "/", "%"]]

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" }

const identifier = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy
class Parser {
  position = 0
  depth = 0
  /** Whether a line's end is a separator, as in objects. */
  linesCount = false

  constructor(
    readonly source: string,
    readonly firstLine: number
  ) {}

  fail(cause: string): never {
    throw new HclError({ line: this.firstLine + this.source.slice(0, this.position).split("\n").length - 1, cause })
  }

  get next(): string {
    return this.source[this.position] ?? ""
  }

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.source)?.[0]
    if (found !== undefined) this.position += found.length
    return found
  }

  skip(): void {
    if (this.linesCount) this.match(/(?:[ \t\r]+|\/\*[\s\S]*?\*\/|(?:#|\/\/)[^\n]*)*/y)
    else this.match(/(?:\s+|\/\*[\s\S]*?\*\/|(?:#|\/\/)[^\n]*)*/y)
  }

  /** Takes a word or sign, after blanks. */
  take(sign: string): boolean {
    this.skip()
    if (!this.source.startsWith(sign, this.position)) return false
    this.position += sign.length
    return true
  }

  expect(sign: string): void {
    if (!this.take(sign)) this.fail(`${JSON.stringify(sign)} is expected`)
  }

  /** Takes a word that no letter follows. */
  takeWord(word: string): boolean {
    this.skip()
    const before = this.position
    if (this.match(identifier) === word) return true
    this.position = before
    return false
  }

  name(): string {
    this.skip()
    return this.match(identifier) ?? this.fail("a name is expected")
  }

  within<A>(linesCount: boolean, read: () => A): A {
    const outer = this.linesCount
    if (++this.depth > maximumDepth) this.fail("expressions are too deep in each other")
    this.linesCount = linesCount
    const result = read()
    this.linesCount = outer
    this.depth--
    return result
  }

  expression(): Expression {
    return this.within(this.linesCount, () => {
      const condition = this.binary(0)
      if (!this.take("?")) return condition
      const chosen = this.expression()
      this.expect(":")
      return { kind: "conditional", condition, chosen, otherwise: this.expression() }
    })
  }

  binary(level: number): Expression {
    const operators = precedence[level]
    if (operators === undefined) return this.unary()
    let left = this.binary(level + 1)
    for (;;) {
      this.skip()
      const operator = operators.find((sign) => this.source.startsWith(sign, this.position))
      if (operator === undefined) return left
      this.position += operator.length
      left = { kind: "binary", operator, left, right: this.binary(level + 1) }
    }
  }

  unary(): Expression {
    this.skip()
    if (this.next === "!" && !this.source.startsWith("!=", this.position)) {
      this.position++
      return this.within(this.linesCount, () => ({ kind: "not", of: this.unary() }))
    }
    if (this.next === "-") {
      this.position++
      return this.within(this.linesCount, () => ({ kind: "negative", of: this.unary() }))
    }
    return this.steps(this.term())
  }

  /** What follows a term: attributes, indexes and splats. */
  steps(start: Expression): Expression {
    let at = start
    for (;;) {
      const before = this.position
      this.skip()
      if (this.next === "[") {
        this.position++
        if (this.take("*")) {
          this.expect("]")
          return { kind: "splat", of: at, each: this.steps({ kind: "element" }) }
        }
        const key = this.within(false, () => this.expression())
        this.within(false, () => this.expect("]"))
        at = { kind: "index", of: at, key }
      } else if (this.next === "." && !this.source.startsWith("...", this.position)) {
        this.position++
        if (this.take("*")) {
          // Indexes behind belong to the list as a whole
          let each: Expression = { kind: "element" }
          while (this.source[this.position] === "." && !this.source.startsWith("...", this.position)) {
            this.position++
            each = { kind: "attribute", of: each, name: this.name() }
          }
          at = { kind: "splat", of: at, each }
          continue
        }
        const digits = this.match(/\d+/y)
        at =
          digits === undefined
            ? { kind: "attribute", of: at, name: this.name() }
            : { kind: "index", of: at, key: { kind: "literal", value: readNumber(digits) ?? 0 } }
      } else {
        this.position = before
        return at
      }
    }
  }

  term(): Expression {
    const { next } = this
    if (next === '"') return this.quoted()
    if (this.source.startsWith("<<", this.position)) return this.heredoc()
    if (next === "(") {
      this.position++
      return this.within(false, () => {
        const inner = this.expression()
        this.expect(")")
        return inner
      })
    }
    if (next === "[") return this.within(false, () => this.list())
    if (next === "{") return this.within(true, () => this.object())
    const number = this.match(/\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
    if (number !== undefined) return { kind: "literal", value: readNumber(number) ?? 0 }
    const name = this.match(identifier)
    if (name === undefined) return this.fail("an expression is expected")
    if (name === "true" || name === "false") return { kind: "literal", value: name === "true" }
    if (name === "null") return { kind: "literal", value: null }
    const before = this.position
    const space = this.match(/::[\p{ID_Start}_][\p{ID_Continue}-]*/uy) ?? ""
    this.skip()
    if (this.next !== "(") {
      this.position = before
      return { kind: "reference", name }
    }
    this.position++
    return this.within(false, () => this.call(name + space))
  }

  call(name: string): Expression {
    const given: Array<Expression> = []
    for (;;) {
      if (this.take(")")) return { kind: "call", name, given, isExpanded: false }
      given.push(this.expression())
      if (this.take("...")) {
        this.expect(")")
        return { kind: "call", name, given, isExpanded: true }
      }
      if (!this.take(",")) {
        this.expect(")")
        return { kind: "call", name, given, isExpanded: false }
      }
    }
  }

  list(): Expression {
    this.position++
    if (this.takeWord("for")) return this.forExpression("list", "]")
    const items: Array<Expression> = []
    for (;;) {
      if (this.take("]")) return { kind: "list", items }
      items.push(this.expression())
      if (!this.take(",")) {
        this.expect("]")
        return { kind: "list", items }
      }
    }
  }

  object(): Expression {
    this.position++
    this.match(/\s*/y)
    const before = this.position
    if (this.takeWord("for") && /[ \t\r\n]/.test(this.next)) return this.within(false, () => this.forExpression("object", "}"))
    this.position = before
    const items: Array<readonly [Expression, Expression]> = []
    for (;;) {
      this.lineEnds()
      if (this.take("}")) return { kind: "object", items }
      const keyAt = this.position
      const word = this.match(identifier)
      this.skip()
      let key: Expression
      if (word !== undefined && /^(?:=(?!=)|:)/.test(this.source.slice(this.position, this.position + 2))) key = text(word)
      else {
        this.position = keyAt
        key = this.expression()
      }
      if (!this.take("=")) this.expect(":")
      items.push([key, this.expression()])
      this.skip()
      if (this.next === ",") this.position++
      else if (this.next !== "\n" && this.next !== "}") this.fail('"," or a new line is expected')
    }
  }

  lineEnds(): void {
    for (this.skip(); this.next === "\n"; this.skip()) this.position++
  }

  forExpression(makes: "list" | "object", end: string): Expression {
    const [keyName, valueName, collection] = this.forHead()
    this.expect(":")
    const first = this.expression()
    const second = makes === "object" ? (this.expect("=>"), this.expression()) : undefined
    const isGrouped = makes === "object" && this.take("...")
    const condition = this.takeWord("if") ? this.expression() : undefined
    this.expect(end)
    const [key, value] = second === undefined ? [undefined, first] : [first, second]
    return { kind: "for", makes, keyName, valueName, collection, key, value, condition, isGrouped }
  }

  forHead(): readonly [string | undefined, string, Expression] {
    const first = this.name()
    const second = this.take(",") ? this.name() : undefined
    if (!this.takeWord("in")) this.fail('"in" is expected')
    const collection = this.expression()
    return second === undefined ? [undefined, first, collection] : [first, second, collection]
  }

  quoted(): Expression {
    this.position++
    const template = this.template(true)
    this.position++
    return template
  }

  heredoc(): Expression {
    const head = /<<(-?)([\p{ID_Start}_][\p{ID_Continue}-]*)[ \t\r]*\n/uy
    head.lastIndex = this.position
    const [start, strip, word] = head.exec(this.source) ?? []
    if (start === undefined) return this.fail("a heredoc is expected")
    const lines: Array<string> = []
    for (let line = this.position + start.length; ;) {
      if (line > this.source.length) return this.fail(`the heredoc ${word} has no end`)
      const newline = this.source.indexOf("\n", line)
      const end = newline < 0 ? this.source.length : newline
      const content = this.source.slice(line, end)
      if (content.trim() === word) {
        this.position = end
        break
      }
      lines.push(content)
      line = end + 1
    }
    const pieces = lines.map((line) => ({ kind: "text", text: `${line}\n` }) as const)
    const content = pieces.map((piece) => piece.text).join("")
    // Most heredocs are scripts, which hold no expressions
    if (!/[$%]\{/.test(content)) return this.assembled(strip === "-" ? dedented(pieces) : pieces)
    const inner = new Parser(content, this.firstLine)
    inner.depth = this.depth
    return inner.template(false, strip === "-")
  }

  /** The pieces up to the closing quote, or up to the end of a text that has none. `dedents` is for a heredoc that begins with `<<-`. */
  template(isQuoted: boolean, dedents = false): Expression {
    return this.within(false, () => {
      const pieces: Array<Piece> = []
      /** Outside quotes each line is a text of its own: `~` trims the nearest of them alone. */
      let last: TextPiece | undefined
      let trims = false
      let isTrimmed = false
      const add = (more: string): void => {
        if (last === undefined) {
          pieces.push((last = { kind: "text", text: "" }))
          isTrimmed = trims
          trims = false
        }
        last.text += isTrimmed ? more.trimStart() : more
        if (last.text !== "") isTrimmed = false
        if (!isQuoted && more.endsWith("\n")) last = undefined
      }
      for (;;) {
        if (this.position >= this.source.length) {
          if (isQuoted) this.fail("a quoted text has no end")
          break
        }
        const { next } = this
        if (isQuoted && next === '"') break
        if (isQuoted && next === "\n") this.fail("a quoted text has no end")
        if (isQuoted && next === "\\") add(this.escape())
        else if (this.match(/\$\$\{|%%\{/y) !== undefined) add(`${next}{`)
        else if (/^[$%]\{/.test(this.source.slice(this.position, this.position + 2))) {
          const opening = this.match(/[$%]\{~?/y) ?? ""
          const before = pieces.at(-1)
          if (opening.endsWith("~") && before?.kind === "text") before.text = before.text.trimEnd()
          pieces.push(opening.startsWith("$") ? { kind: "value", value: this.expression() } : this.directive())
          last = undefined
          trims = this.take("~")
          this.expect("}")
        } else {
          const run = this.match(isQuoted ? /[^\\"$%\n]+/y : /[^$%\n]*\n|[^$%\n]+/y)
          if (run === undefined) this.position++
          add(run ?? next)
        }
      }
      return this.assembled(dedents ? dedented(pieces) : pieces)
    })
  }

  assembled(pieces: ReadonlyArray<Piece>): Expression {
    return assembled(merged(pieces), { depth: this.depth, fail: (cause) => this.fail(cause) })
  }

  escape(): string {
    const [whole = "", short, long, character = ""] =
      /^\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/.exec(this.source.slice(this.position, this.position + 10)) ?? []
    this.position += Math.max(1, whole.length)
    const code = short ?? long
    if (code === undefined) return escapes[character] ?? this.fail(`the escape \\${character} is not known`)
    const point = Number.parseInt(code, 16)
    return point > 0x10ffff ? "\uFFFD" : String.fromCodePoint(point)
  }

  directive(): Piece {
    const word = this.name()
    switch (word) {
      case "if":
        return { kind: "if", condition: this.expression() }
      case "for": {
        const [keyName, valueName, collection] = this.forHead()
        return { kind: "for", keyName, valueName, collection }
      }
      case "else":
      case "endif":
      case "endfor":
        return { kind: word }
      default:
        return this.fail(`the directive ${word} is not known`)
    }
  }
}

/** The source, unless it is too long to be read. Throws `EvaluationError`. */
export const readable = (source: string): string => {
  if (source.length > maximumSource) {
    throw new EvaluationError({ cause: `a source has more than ${maximumSource} characters`, isLimit: true })
  }
  return source
}

/** Reads an expression. Throws `HclError` with the line, counted from `line`, and `EvaluationError` for a source that is too long. */
export const parseExpression = (source: string, line: number): Expression => {
  const parser = new Parser(readable(source), line)
  const expression = parser.expression()
  parser.skip()
  return parser.position < source.length ? parser.fail("the expression should end here") : expression
}

/** Reads a template that stands in no quotes: a heredoc, a file, or a text in JSON syntax. */
export const parseTemplate = (source: string, line: number): Expression => new Parser(readable(source), line).template(false)
