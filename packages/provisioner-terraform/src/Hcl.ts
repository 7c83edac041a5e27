/**
 * The blocks of a file in HCL's native syntax, and the expressions of their attributes as texts. An expression is not evaluated unless it is a
 * literal. Works through the text once.
 */
import { Data, Either } from "effect"

/** The text is not HCL. */
export class HclError extends Data.TaggedError("HclError")<{ readonly line: number; readonly cause: string }> {
  override get message(): string {
    return `line ${this.line}: ${this.cause}`
  }
}

export interface Body {
  /** The source of each attribute's expression. */
  readonly attributes: ReadonlyMap<string, string>
  /** The line on which each attribute's expression begins. */
  readonly lines: ReadonlyMap<string, number>
  readonly blocks: ReadonlyArray<Block>
}

export interface Block {
  readonly type: string
  readonly labels: ReadonlyArray<string>
  readonly body: Body
  /** The line on which the block begins. */
  readonly line: number
}

/** Blocks in blocks. */
const maximumDepth = 64

/** Templates in each other. The readers of expressions have bounds of their own, which are narrower. */
const maximumTemplates = 500

/** Characters of the expression of an attribute, and of the label of a block. Each is read in one piece. */
const maximumExpression = 256 * 1024
const maximumLabel = 4096

const identifier = /[\p{ID_Start}_][\p{ID_Continue}-]*/uy
const blank = /(?:[ \t\r]+|\/\*[\s\S]*?\*\/)*/y
const comment = /(?:#|\/\/)[^\n]*/y
const skippableInLine: ReadonlySet<string> = new Set([" ", "\t", "\r", "#", "/"])
const skippable: ReadonlySet<string> = new Set([...skippableInLine, "\n"])
const closing: Readonly<Record<string, string>> = { "{": "}", "[": "]", "(": ")" }

class Reader {
  position = 0
  /** Of templates in each other. */
  private depth = 0
  /** Where the present expression or label began, and how many characters it may have. */
  private bound = { from: 0, size: Infinity }
  /** Lines are asked for in the order of the text. */
  private counted = { position: 0, line: 1 }

  constructor(readonly text: string) {}

  get line(): number {
    let { line, position } = this.counted
    for (let at = this.text.indexOf("\n", position); at >= 0 && at < this.position; at = this.text.indexOf("\n", position)) {
      line++
      position = at + 1
    }
    this.counted = { position, line }
    return line
  }

  fail(cause: string): never {
    throw new HclError({ line: this.line, cause })
  }

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.position += found.length
    return found
  }

  /** Skips blanks and comments; lines too where they mean nothing. */
  skip(lines: boolean): void {
    // Most places have none, and the patterns take much longer to see that
    if (!(lines ? skippable : skippableInLine).has(this.next)) return
    for (let before = -1; before < this.position;) {
      before = this.position
      this.match(blank)
      this.match(comment)
      // A search for the end of a comment goes to the end of the text: only one may fail
      if (this.text.startsWith("/*", this.position)) this.fail("a comment has no end")
      if (lines && this.text[this.position] === "\n") this.position++
    }
  }

  get next(): string {
    return this.text[this.position] ?? ""
  }

  private checkBound(name: string, place = this.position): void {
    const { from, size } = this.bound
    if (place > from + size) this.fail(`${name} has more than ${size} characters`)
  }

  /** Reads a text of at most so many characters. */
  private within<A>(size: number, read: () => A): A {
    this.bound = { from: this.position, size }
    const result = read()
    this.bound = { from: 0, size: Infinity }
    return result
  }

  /** Skips a quoted text with the templates in it. */
  skipQuoted(): void {
    this.position++
    for (;;) {
      const character = this.next
      this.checkBound("a text")
      if (character === "" || character === "\n") this.fail("a quoted text has no end")
      if (character === '"') {
        this.position++
        return
      }
      if (character === "\\") this.position += 2
      else if (this.text.startsWith("$${", this.position) || this.text.startsWith("%%{", this.position)) this.position += 3
      else if (this.text.startsWith("${", this.position) || this.text.startsWith("%{", this.position)) {
        this.position += 1
        if (++this.depth > maximumTemplates) this.fail("templates are too deep in each other")
        this.skipBrackets()
        this.depth--
      } else this.position++
    }
  }

  /** Skips from an opening bracket behind the one that closes it. */
  skipBrackets(): void {
    const open: Array<string> = []
    do {
      const character = this.next
      if (character === "") this.fail("a bracket is not closed")
      const closes = closing[character]
      if (closes !== undefined) {
        open.push(closes)
        this.position++
      } else if ("}])".includes(character)) {
        if (open.pop() !== character) this.fail(`the bracket ${character} closes none`)
        this.position++
      } else this.skipToken()
    } while (open.length > 0)
  }

  /** Skips what is between brackets: a text, a heredoc, a comment, or one character. */
  skipToken(): void {
    this.checkBound("an expression")
    if (this.next === '"') return this.skipQuoted()
    if (this.text.startsWith("<<", this.position) && this.skipHeredoc()) return
    const before = this.position
    this.skip(false)
    if (this.position === before) this.position++
  }

  /** Skips a heredoc up to the end of its last line; false without a heredoc. */
  skipHeredoc(): boolean {
    const head = /<<-?([\p{ID_Start}_][\p{ID_Continue}-]*)[ \t\r]*\n/uy
    head.lastIndex = this.position
    const [start, word] = head.exec(this.text) ?? []
    if (start === undefined || word === undefined) return false
    const from = this.position + start.length
    for (let line = from; line < this.text.length;) {
      this.checkBound("a text", line)
      const newline = this.text.indexOf("\n", line)
      const end = newline < 0 ? this.text.length : newline
      if (this.text.slice(line, end).trim() === word) {
        this.position = end
        return true
      }
      line = end + 1
    }
    return this.fail(`the heredoc ${word} has no end`)
  }

  expression(): string {
    this.skip(false)
    const from = this.position
    this.within(maximumExpression, () => {
      while (this.next !== "" && this.next !== "\n" && this.next !== "}" && this.next !== ",") {
        if (closing[this.next] !== undefined) this.skipBrackets()
        else if (this.next === "#" || this.text.startsWith("//", this.position)) break
        else this.skipToken()
      }
    })
    const source = this.text.slice(from, this.position).trim()
    return source === "" ? this.fail("an expression is missing") : source
  }

  /** Reads the attributes and blocks, and stops at each of them, each of their labels and each line. Yields its place. */
  *body(depth: number): Generator<number, Body> {
    if (depth > maximumDepth) this.fail("blocks are too deep in each other")
    const attributes = new Map<string, string>()
    const lines = new Map<string, number>()
    const blocks: Array<Block> = []
    for (;;) {
      yield this.position
      this.skip(false)
      if (this.next === "\n") {
        this.position++
        continue
      }
      if (this.next === "" || this.next === "}") {
        if ((this.next === "") !== (depth === 0)) this.fail(depth === 0 ? "a bracket closes none" : "a block has no end")
        return { attributes, blocks, lines }
      }
      const line = this.line
      const name = this.match(identifier) ?? this.fail("an attribute or a block is expected")
      this.skip(false)
      if (this.next === "=") {
        this.position++
        if (attributes.has(name)) this.fail(`the attribute ${name} is set twice`)
        lines.set(name, line)
        attributes.set(name, this.expression())
      } else blocks.push(yield* this.block(name, depth, line))
    }
  }

  private *block(type: string, depth: number, line: number): Generator<number, Block> {
    const labels: Array<string> = []
    while (this.next !== "{") {
      yield this.position
      if (this.next === '"') {
        const from = this.position
        this.within(maximumLabel, () => this.skipQuoted())
        labels.push(quotedText(this.text.slice(from, this.position)) ?? "")
      } else labels.push(this.match(identifier) ?? this.fail(`the block ${type} has no body`))
      this.skip(false)
    }
    this.position++
    const body = yield* this.body(depth + 1)
    this.position++
    return { type, labels, body, line }
  }
}

const run = <A>(text: string, read: (reader: Reader) => A): Either.Either<A, HclError> =>
  Either.try({
    try: () => read(new Reader(text)),
    catch: (error) => {
      // The reader throws nothing else
      if (error instanceof HclError) return error
      throw error
    }
  })

/** Reads a file in steps. Throws `HclError` at the first place that is not HCL. */
export const bodyInSteps = (text: string): Generator<number, Body> => new Reader(text.replace(/^\uFEFF/, "")).body(0)

/** Reads a file at once. Fails at the first place that is not HCL. */
export const parseBody = (text: string): Either.Either<Body, HclError> =>
  run(text, () => {
    const steps = bodyInSteps(text)
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
    }
  })

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" }

/** The text of a quoted literal; undefined if it is a template. */
const quotedText = (source: string): string | undefined => {
  const inside = source.slice(1, -1)
  if (/(?<!\$)\$\{|(?<!%)%\{/.test(inside)) return undefined
  return inside
    .replaceAll(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g, (_, short?: string, long?: string, character = "") => {
      const code = short ?? long
      if (code === undefined) return escapes[character] ?? character
      const point = Number.parseInt(code, 16)
      return point > 0x10ffff ? "\uFFFD" : String.fromCodePoint(point)
    })
    .replaceAll("$${", "${")
    .replaceAll("%%{", "%{")
}

/** The text of a heredoc without templates; `<<-` takes away the blanks that all lines begin with. */
const heredocText = (source: string): string | undefined => {
  const strip = source[2] === "-" ? "-" : ""
  const content = source.slice(source.indexOf("\n") + 1, source.lastIndexOf("\n") + 1)
  if (/(?<!\$)\$\{|(?<!%)%\{/.test(content)) return undefined
  if (strip === "") return content
  const lines = content.split("\n")
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length)
  const indent = Math.min(...indents, Number.MAX_SAFE_INTEGER)
  return lines.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length))).join("\n")
}

export type Literal = string | number | boolean | null | ReadonlyArray<Literal> | { readonly [key: string]: Literal }

/** Not a literal. */
const open = Symbol("open")

const literalIn = (reader: Reader, depth: number): Literal | typeof open => {
  if (depth > maximumDepth) return reader.fail("values are too deep in each other")
  reader.skip(depth > 0)
  const from = reader.position
  if (reader.next === '"') {
    reader.skipQuoted()
    return quotedText(reader.text.slice(from, reader.position)) ?? open
  }
  if (reader.text.startsWith("<<", from) && reader.skipHeredoc()) return heredocText(reader.text.slice(from, reader.position)) ?? open
  if (reader.next === "[") return listIn(reader, depth)
  if (reader.next === "{") return objectIn(reader, depth)
  const number = reader.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
  if (number !== undefined) return Number(number)
  const word = reader.match(identifier)
  if (word === "true" || word === "false") return word === "true"
  return word === "null" ? null : open
}

const separator = (reader: Reader, end: string): boolean => {
  reader.skip(true)
  if (reader.next === ",") reader.position++
  reader.skip(true)
  if (reader.next !== end) return false
  reader.position++
  return true
}

const listIn = (reader: Reader, depth: number): Literal | typeof open => {
  const items: Array<Literal> = []
  reader.position++
  reader.skip(true)
  if (reader.next === "]") return separator(reader, "]") ? items : open
  for (;;) {
    const item = literalIn(reader, depth + 1)
    if (item === open) return open
    items.push(item)
    const before = reader.position
    if (separator(reader, "]")) return items
    if (reader.position === before) return open
  }
}

const objectIn = (reader: Reader, depth: number): Literal | typeof open => {
  const entries: Array<readonly [string, Literal]> = []
  reader.position++
  reader.skip(true)
  if (reader.next === "}") return separator(reader, "}") ? {} : open
  for (;;) {
    const key = reader.next === '"' ? literalIn(reader, depth + 1) : (reader.match(identifier) ?? open)
    reader.skip(true)
    if (typeof key !== "string" || !"=:".includes(reader.next) || reader.next === "") return open
    reader.position++
    const value = literalIn(reader, depth + 1)
    if (value === open) return open
    entries.push([key, value])
    const before = reader.position
    if (separator(reader, "}")) return Object.fromEntries(entries)
    if (reader.position === before) return open
  }
}

/** The value of an expression that refers to nothing; undefined for others. */
export const literalValue = (source: string): Literal | undefined => {
  const read = run(source, (reader) => {
    const value = literalIn(reader, 0)
    reader.skip(true)
    return value === open || reader.next !== "" ? undefined : value
  })
  return Either.getOrUndefined(read)
}

/** The expression up to its last token; all of it where a token has no end. */
export const withoutLastComments = (source: string): string => {
  const end = run(source, (reader) => {
    for (let last = 0; ; last = reader.position) {
      reader.skip(true)
      if (reader.next === "") return last
      reader.skipToken()
    }
  })
  return source.slice(
    0,
    Either.getOrElse(end, () => source.length)
  )
}
