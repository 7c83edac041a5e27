/**
 * The patterns that templates restrict values with: the syntax of RE2, which templates are written in, matched in time proportional to
 * the value, so that no value can make a pattern of somebody else's run for ever. https://github.com/google/re2/wiki/Syntax
 */
import { Either } from "effect"

/** A pattern that is ready to be matched; only this module looks into it. */
export interface Pattern {
  readonly program: ReadonlyArray<Instruction>
}

/** The longest pattern, in characters. */
const maximumPattern = 4_096
/** The largest `n` of `{n}`; RE2's. */
const maximumRepeat = 1_000
/** Levels of groups. */
const maximumDepth = 100
/** Instructions of a program, and steps of making it. */
const maximumProgram = 20_000
/** Steps of matching: instructions times characters. */
const maximumWork = 20_000_000

type Accepts = (codePoint: number) => boolean
type Assertion = "textStart" | "textEnd" | "lineStart" | "lineEnd" | "boundary" | "noBoundary"

type Node =
  | { readonly _tag: "Characters"; readonly accepts: Accepts }
  | { readonly _tag: "Assertion"; readonly assertion: Assertion }
  | { readonly _tag: "Sequence"; readonly nodes: ReadonlyArray<Node> }
  | { readonly _tag: "Choice"; readonly nodes: ReadonlyArray<Node> }
  | { readonly _tag: "Repeat"; readonly node: Node; readonly minimum: number; readonly maximum: number }

type Instruction =
  | { readonly _tag: "Consume"; readonly accepts: Accepts }
  | { readonly _tag: "Assert"; readonly assertion: Assertion }
  | { readonly _tag: "Fork"; readonly targets: ReadonlyArray<number> }
  | { readonly _tag: "Match" }

/** The pattern, or what is wrong with it. */
export const compilePattern = (source: string): Pattern | string => {
  if (source.length > maximumPattern) return `it has more than ${maximumPattern} characters`
  const parsed = new Parser(source).parse()
  return Either.isLeft(parsed) ? parsed.left : assemble(parsed.right)
}

/** Whether the pattern matches anywhere in the text; undefined when the text is too long to tell. */
export const matchesPattern = ({ program }: Pattern, text: string): boolean | undefined => {
  if (text.length * program.length > maximumWork) return undefined
  const codePoints = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  let current = new Threads(program.length)
  let next = new Threads(program.length)
  for (let position = 0; position <= codePoints.length; position++) {
    // A match may begin anywhere
    if (current.add(program, 0, codePoints, position)) return true
    const codePoint = codePoints[position]
    if (codePoint === undefined) return false
    for (const index of current.waiting) {
      const instruction = program[index]
      if (instruction?._tag === "Consume" && instruction.accepts(codePoint) && next.add(program, index + 1, codePoints, position + 1)) {
        return true
      }
    }
    const spent = current
    current = next
    next = spent
    next.clear()
  }
  return false
}

/** The instructions that wait for the next character, each once. */
class Threads {
  readonly waiting: Array<number> = []
  private readonly seen: Uint32Array
  private round = 1

  constructor(size: number) {
    this.seen = new Uint32Array(size)
  }

  clear(): void {
    this.waiting.length = 0
    this.round++
  }

  /** Follows everything that needs no character; true when that reaches the end of the program. */
  add(program: ReadonlyArray<Instruction>, start: number, text: ReadonlyArray<number>, position: number): boolean {
    const open = [start]
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (this.seen[index] === this.round) continue
      this.seen[index] = this.round
      const instruction = program[index]
      switch (instruction?._tag) {
        case "Match":
          return true
        case "Consume":
          this.waiting.push(index)
          break
        case "Assert":
          if (holds(instruction.assertion, text, position)) open.push(index + 1)
          break
        case "Fork":
          open.push(...instruction.targets)
      }
    }
    return false
  }
}

const newline = 0x0a

const isWord: Accepts = (codePoint) => /^\w$/.test(String.fromCodePoint(codePoint))

const holds = (assertion: Assertion, text: ReadonlyArray<number>, position: number): boolean => {
  const before = text[position - 1]
  const after = text[position]
  const isBoundary = (before !== undefined && isWord(before)) !== (after !== undefined && isWord(after))
  switch (assertion) {
    case "textStart":
      return before === undefined
    case "textEnd":
      return after === undefined
    case "lineStart":
      return before === undefined || before === newline
    case "lineEnd":
      return after === undefined || after === newline
    case "boundary":
      return isBoundary
    case "noBoundary":
      return !isBoundary
  }
}

/** Lays a tree out as a program. */
const assemble = (root: Node): Pattern | string => {
  const program: Array<Instruction> = []
  let steps = 0
  const fork = (): { targets: Array<number> } => {
    const instruction = { _tag: "Fork" as const, targets: new Array<number>() }
    program.push(instruction)
    return instruction
  }
  const emit = (node: Node): boolean => {
    if (++steps > maximumProgram || program.length > maximumProgram) return false
    switch (node._tag) {
      case "Characters":
        program.push({ _tag: "Consume", accepts: node.accepts })
        return true
      case "Assertion":
        program.push({ _tag: "Assert", assertion: node.assertion })
        return true
      case "Sequence":
        return node.nodes.every(emit)
      case "Choice": {
        const start = fork()
        const ends: Array<{ targets: Array<number> }> = []
        for (const choice of node.nodes) {
          start.targets.push(program.length)
          if (!emit(choice)) return false
          ends.push(fork())
        }
        for (const end of ends) end.targets.push(program.length)
        return true
      }
      case "Repeat":
        return repeat(node.node, node.minimum, node.maximum)
    }
  }
  const repeat = (node: Node, minimum: number, maximum: number): boolean => {
    for (let count = 0; count < minimum; count++) if (!emit(node)) return false
    if (maximum === Number.POSITIVE_INFINITY) {
      const loop = program.length
      const start = fork()
      start.targets.push(program.length)
      if (!emit(node)) return false
      fork().targets.push(loop)
      start.targets.push(program.length)
      return true
    }
    const starts: Array<{ targets: Array<number> }> = []
    for (let count = minimum; count < maximum; count++) {
      const start = fork()
      start.targets.push(program.length)
      starts.push(start)
      if (!emit(node)) return false
    }
    for (const start of starts) start.targets.push(program.length)
    return true
  }
  if (!emit(root)) return "it is too large"
  program.push({ _tag: "Match" })
  return { program }
}

interface Flags {
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly dotAll: boolean
}

type Parsed<A> = Either.Either<A, string>

const perlClasses: Readonly<Record<string, Accepts>> = {
  d: (codePoint) => codePoint >= 0x30 && codePoint <= 0x39,
  s: (codePoint) => codePoint === 0x20 || (codePoint >= 0x09 && codePoint <= 0x0d && codePoint !== 0x0b),
  w: isWord
}

const ranges =
  (...texts: ReadonlyArray<string>): Accepts =>
  (codePoint) =>
    texts.some((range) => codePoint >= range.charCodeAt(0) && codePoint <= range.charCodeAt(range.length - 1))

const posixClasses: Readonly<Record<string, Accepts>> = {
  alnum: ranges("09", "AZ", "az"),
  alpha: ranges("AZ", "az"),
  ascii: (codePoint) => codePoint <= 0x7f,
  blank: (codePoint) => codePoint === 0x20 || codePoint === 0x09,
  cntrl: (codePoint) => codePoint <= 0x1f || codePoint === 0x7f,
  digit: ranges("09"),
  graph: ranges("!~"),
  lower: ranges("az"),
  print: ranges(" ~"),
  punct: ranges("!/", ":@", "[`", "{~"),
  space: (codePoint) => codePoint === 0x20 || (codePoint >= 0x09 && codePoint <= 0x0d),
  upper: ranges("AZ"),
  word: isWord,
  xdigit: ranges("09", "AF", "af")
}

const controls: Readonly<Record<string, number>> = { a: 0x07, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b }

const own = <A>(record: Readonly<Record<string, A>>, key: string): A | undefined => (Object.hasOwn(record, key) ? record[key] : undefined)

const not =
  (accepts: Accepts): Accepts =>
  (codePoint) =>
    !accepts(codePoint)

const either =
  (all: ReadonlyArray<Accepts>): Accepts =>
  (codePoint) =>
    all.some((accepts) => accepts(codePoint))

const between =
  (first: number, last: number): Accepts =>
  (codePoint) =>
    codePoint >= first && codePoint <= last

/** Accepts a letter when one of its cases is accepted. */
const inAnyCase =
  (accepts: Accepts): Accepts =>
  (codePoint) => {
    if (accepts(codePoint)) return true
    const character = String.fromCodePoint(codePoint)
    return [character.toLowerCase(), character.toUpperCase()].some(
      (folded) => folded.length === character.length && accepts(folded.codePointAt(0) ?? codePoint)
    )
  }

/** A general category or a script of Unicode, by the name RE2 gives it. */
const unicodeClass = (name: string): Accepts | undefined => {
  if (!/^[A-Za-z_]+$/.test(name)) return undefined
  for (const property of [`General_Category=${name}`, `Script=${name}`]) {
    const expression = Either.getOrUndefined(Either.try(() => new RegExp(`^\\p{${property}}$`, "u")))
    if (expression !== undefined) return (codePoint) => expression.test(String.fromCodePoint(codePoint))
  }
  return undefined
}

/** Recursive descent over the characters of a pattern. */
class Parser {
  private readonly characters: ReadonlyArray<string>
  private at = 0
  private depth = 0
  private flags: Flags = { ignoreCase: false, multiline: false, dotAll: false }

  constructor(source: string) {
    this.characters = Array.from(source)
  }

  parse(): Parsed<Node> {
    return Either.gen(this, function* () {
      const node = yield* this.choice()
      if (this.at < this.characters.length) return yield* Either.left('it has a ")" too many')
      return node
    })
  }

  private peek(offset = 0): string | undefined {
    return this.characters[this.at + offset]
  }

  private startsWith(text: string): boolean {
    return Array.from(text).every((character, index) => this.peek(index) === character)
  }

  /** Takes the text when it comes next. */
  private accept(text: string): boolean {
    if (!this.startsWith(text)) return false
    this.at += Array.from(text).length
    return true
  }

  /** Takes characters up to one, and that one. */
  private until(end: string): string | undefined {
    const index = this.characters.indexOf(end, this.at)
    if (index < 0) return undefined
    const taken = this.characters.slice(this.at, index).join("")
    this.at = index + 1
    return taken
  }

  private choice(): Parsed<Node> {
    return Either.gen(this, function* () {
      const nodes = [yield* this.sequence()]
      while (this.accept("|")) nodes.push(yield* this.sequence())
      const [only] = nodes
      return nodes.length === 1 && only !== undefined ? only : ({ _tag: "Choice", nodes } satisfies Node)
    })
  }

  private sequence(): Parsed<Node> {
    return Either.gen(this, function* () {
      const nodes: Array<Node> = []
      for (let next = this.peek(); next !== undefined && next !== "|" && next !== ")"; next = this.peek()) {
        const atom = yield* this.atom()
        if (atom !== undefined) nodes.push(yield* this.repeated(atom))
      }
      return { _tag: "Sequence", nodes } satisfies Node
    })
  }

  private repeated(node: Node): Parsed<Node> {
    return Either.gen(this, function* () {
      const bounds = yield* this.bounds()
      if (bounds === undefined) return node
      // Whether it takes as much or as little as it can makes no difference to whether it matches
      this.accept("?")
      if ((yield* this.bounds()) !== undefined) return yield* Either.left("it repeats a repetition")
      return { _tag: "Repeat", node, ...bounds } satisfies Node
    })
  }

  private bounds(): Parsed<{ readonly minimum: number; readonly maximum: number } | undefined> {
    const infinite = Number.POSITIVE_INFINITY
    if (this.accept("*")) return Either.right({ minimum: 0, maximum: infinite })
    if (this.accept("+")) return Either.right({ minimum: 1, maximum: infinite })
    if (this.accept("?")) return Either.right({ minimum: 0, maximum: 1 })
    const counted = /^\{(\d{1,5})(,(\d{0,5}))?\}/.exec(this.characters.slice(this.at, this.at + 13).join(""))
    if (counted === null) return Either.right(undefined)
    this.at += counted[0].length
    const minimum = Number(counted[1])
    const maximum = counted[2] === undefined ? minimum : counted[3] === "" ? infinite : Number(counted[3])
    const largest = maximum === infinite ? minimum : maximum
    return largest > maximumRepeat || maximum < minimum
      ? Either.left(`${counted[0]} is no valid count`)
      : Either.right({ minimum, maximum })
  }

  /** One thing that can be repeated; undefined for what only changes how the rest is read. */
  private atom(): Parsed<Node | undefined> {
    const character = this.peek()
    if (character === undefined) return Either.right(undefined)
    this.at++
    switch (character) {
      case "(":
        return this.group()
      case "[":
        return Either.map(this.set(), (accepts) => this.characterNode(accepts))
      case ".":
        return Either.right(this.characterNode(this.flags.dotAll ? () => true : (codePoint) => codePoint !== newline))
      case "^":
        return this.assertion(this.flags.multiline ? "lineStart" : "textStart")
      case "$":
        return this.assertion(this.flags.multiline ? "lineEnd" : "textEnd")
      case "*":
      case "+":
      case "?":
        return Either.left(`there is nothing that "${character}" could repeat`)
      case "\\":
        return this.escaped()
      default:
        return this.literal(character)
    }
  }

  private characterNode(accepts: Accepts): Node {
    return { _tag: "Characters", accepts: this.flags.ignoreCase ? inAnyCase(accepts) : accepts }
  }

  private assertion(assertion: Assertion): Parsed<Node> {
    return Either.right({ _tag: "Assertion", assertion })
  }

  private literal(character: string): Parsed<Node> {
    const wanted = character.codePointAt(0)
    return Either.right(this.characterNode((codePoint) => codePoint === wanted))
  }

  private group(): Parsed<Node | undefined> {
    return Either.gen(this, function* () {
      if (++this.depth > maximumDepth) return yield* Either.left(`it nests deeper than ${maximumDepth} groups`)
      const outer = this.flags
      if (this.accept("?P<") || (this.startsWith("?<") && this.accept("?<"))) {
        const name = this.until(">")
        if (name === undefined || !/^\w+$/.test(name)) return yield* Either.left("the name of a group is missing")
      } else if (this.accept("?")) {
        const isGroup = yield* this.setFlags()
        if (!isGroup) {
          this.depth--
          return undefined
        }
      }
      const node = yield* this.choice()
      if (!this.accept(")")) return yield* Either.left('a ")" is missing')
      this.flags = outer
      this.depth--
      return node
    })
  }

  /** Reads `i-s:` or `i-s)`; true when the flags are those of a group that begins. */
  private setFlags(): Parsed<boolean> {
    let value = true
    for (let next = this.peek(); next !== undefined; next = this.peek()) {
      this.at++
      if (next === ":") return Either.right(true)
      if (next === ")") return Either.right(false)
      if (next === "-") value = false
      else if (next === "i") this.flags = { ...this.flags, ignoreCase: value }
      else if (next === "m") this.flags = { ...this.flags, multiline: value }
      else if (next === "s") this.flags = { ...this.flags, dotAll: value }
      else if (next !== "U") return Either.left(`"(?${next}" is not known`)
    }
    return Either.left('a ")" is missing')
  }

  private escaped(): Parsed<Node | undefined> {
    const character = this.peek()
    switch (character) {
      case "A":
        this.at++
        return this.assertion("textStart")
      case "z":
        this.at++
        return this.assertion("textEnd")
      case "b":
        this.at++
        return this.assertion("boundary")
      case "B":
        this.at++
        return this.assertion("noBoundary")
      case "Q": {
        this.at++
        const nodes: Array<Node> = []
        while (this.at < this.characters.length && !this.accept("\\E")) {
          const wanted = this.peek()?.codePointAt(0)
          nodes.push(this.characterNode((codePoint) => codePoint === wanted))
          this.at++
        }
        return Either.right({ _tag: "Sequence", nodes })
      }
      default:
        return Either.map(this.escapedCharacters(), (accepts) =>
          this.characterNode(typeof accepts === "number" ? (codePoint) => codePoint === accepts : accepts)
        )
    }
  }

  /** What follows a backslash: one character by its code point, or a class. */
  private escapedCharacters(): Parsed<number | Accepts> {
    const character = this.peek()
    if (character === undefined) return Either.left("it ends in a backslash")
    this.at++
    const perl = own(perlClasses, character.toLowerCase())
    if (perl !== undefined) return Either.right(character === character.toLowerCase() ? perl : not(perl))
    const control = own(controls, character)
    if (control !== undefined) return Either.right(control)
    if (character === "x") return this.hexadecimal()
    if (character === "p" || character === "P") return this.unicode(character === "P")
    if (character === "0") return Either.right(0)
    return /[A-Za-z0-9]/.test(character) ? Either.left(`"\\${character}" is not known`) : Either.right(character.codePointAt(0) ?? 0)
  }

  private hexadecimal(): Parsed<number> {
    const digits = this.accept("{") ? this.until("}") : this.characters.slice(this.at, (this.at += 2)).join("")
    const codePoint = digits !== undefined && /^[0-9A-Fa-f]{1,6}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
    return codePoint <= 0x10ffff ? Either.right(codePoint) : Either.left('"\\x" needs hexadecimal digits')
  }

  private unicode(negated: boolean): Parsed<Accepts> {
    const braced = this.accept("{")
    const inverted = braced && this.accept("^")
    const name = braced ? this.until("}") : this.characters[this.at++]
    const accepts = name === undefined ? undefined : unicodeClass(name)
    if (accepts === undefined) return Either.left(`"\\p{${name ?? ""}}" is not known`)
    return Either.right(negated !== inverted ? not(accepts) : accepts)
  }

  /** The characters of `[…]`, whose first bracket has been taken. */
  private set(): Parsed<Accepts> {
    return Either.gen(this, function* () {
      const negated = this.accept("^")
      const accepted: Array<Accepts> = []
      for (let isFirst = true; isFirst || !this.accept("]"); isFirst = false) {
        if (this.peek() === undefined) return yield* Either.left('a "]" is missing')
        const first = yield* this.setMember()
        if (typeof first !== "number") accepted.push(first)
        else if (this.peek() === "-" && this.peek(1) !== "]" && this.peek(1) !== undefined) {
          this.at++
          const last = yield* this.setMember()
          if (typeof last !== "number" || last < first) return yield* Either.left("a range of characters is not in order")
          accepted.push(between(first, last))
        } else accepted.push(between(first, first))
      }
      const accepts = either(accepted)
      if (!negated) return accepts
      // Negation comes after folding: [^a] without regard to case accepts neither "a" nor "A"
      return not(this.flags.ignoreCase ? inAnyCase(accepts) : accepts)
    })
  }

  private setMember(): Parsed<number | Accepts> {
    if (this.accept("[:")) {
      const negated = this.accept("^")
      const name = this.until(":")
      const accepts = name === undefined || !this.accept("]") ? undefined : own(posixClasses, name)
      if (accepts === undefined) return Either.left(`"[:${name ?? ""}:]" is not known`)
      return Either.right(negated ? not(accepts) : accepts)
    }
    const character = this.peek() ?? ""
    this.at++
    return character === "\\" ? this.escapedCharacters() : Either.right(character.codePointAt(0) ?? 0)
  }
}
