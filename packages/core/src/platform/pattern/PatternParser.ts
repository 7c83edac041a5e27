/** Reads the syntax of RE2. https://github.com/google/re2/wiki/Syntax */
import { Either } from "effect"
import {
  anyCharacter,
  between,
  character,
  type CharacterClass,
  controlCharacter,
  either,
  inAnyCase,
  newline,
  not,
  perlClass,
  posixClass,
  unicodeClass
} from "./CharacterClass.js"
import type { Assertion, PatternTree } from "./PatternTree.js"

/** What was read, or what is wrong with it, completing "the pattern cannot be used: …". */
type Parsed<A> = Either.Either<A, string>

/** The largest `n` of `{n}`; RE2's. */
const maximumRepeat = 1_000
/** Levels of groups. */
const maximumDepth = 100

interface Flags {
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly dotAll: boolean
}

const infinite = Number.POSITIVE_INFINITY

/** What letters behind a backslash assert. */
const assertions: ReadonlyMap<string | undefined, Assertion> = new Map([
  ["A", "textStart"],
  ["z", "textEnd"],
  ["b", "boundary"],
  ["B", "noBoundary"]
])

const asserted = (assertion: Assertion): Parsed<PatternTree> => Either.right({ _tag: "Assertion", assertion })

const codePointOf = (text: string): number => text.codePointAt(0) ?? 0

/** Recursive descent over the characters of a pattern. */
class Parser {
  private readonly characters: ReadonlyArray<string>
  private at = 0
  private depth = 0
  private flags: Flags = { ignoreCase: false, multiline: false, dotAll: false }

  constructor(source: string) {
    this.characters = Array.from(source)
  }

  whole(): Parsed<PatternTree> {
    return Either.flatMap(this.choice(), (tree) =>
      this.at < this.characters.length ? Either.left('it has a ")" too many') : Either.right(tree)
    )
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

  /** Takes so many characters, or all that are left. */
  private take(count: number): string {
    const taken = this.characters.slice(this.at, this.at + count).join("")
    this.at += count
    return taken
  }

  /** Takes characters up to one, and that one. */
  private until(end: string): string | undefined {
    const index = this.characters.indexOf(end, this.at)
    if (index < 0) return undefined
    const taken = this.take(index - this.at)
    this.at++
    return taken
  }

  private choice(): Parsed<PatternTree> {
    return Either.gen(this, function* () {
      const options = [yield* this.sequence()]
      while (this.accept("|")) options.push(yield* this.sequence())
      const [only] = options
      return options.length === 1 && only !== undefined ? only : ({ _tag: "Choice", options } satisfies PatternTree)
    })
  }

  private sequence(): Parsed<PatternTree> {
    return Either.gen(this, function* () {
      const parts: Array<PatternTree> = []
      for (let next = this.peek(); next !== undefined && next !== "|" && next !== ")"; next = this.peek()) {
        const atom = yield* this.atom()
        if (atom !== undefined) parts.push(yield* this.repeated(atom))
      }
      return { _tag: "Sequence", parts } satisfies PatternTree
    })
  }

  private repeated(part: PatternTree): Parsed<PatternTree> {
    return Either.gen(this, function* () {
      const bounds = yield* this.bounds()
      if (bounds === undefined) return part
      // Whether it takes as much or as little as it can makes no difference to whether it matches
      this.accept("?")
      if ((yield* this.bounds()) !== undefined) return yield* Either.left("it repeats a repetition")
      return { _tag: "Repeat", part, ...bounds } satisfies PatternTree
    })
  }

  private bounds(): Parsed<{ readonly minimum: number; readonly maximum: number } | undefined> {
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
      ? Either.left(`${counted[0]} is not a valid count`)
      : Either.right({ minimum, maximum })
  }

  /** One thing that can be repeated; undefined for what only changes how the rest is read. */
  private atom(): Parsed<PatternTree | undefined> {
    const next = this.take(1)
    switch (next) {
      case "(":
        return this.group()
      case "[":
        return Either.map(this.set(), (accepts) => this.oneOf(accepts))
      case ".":
        return Either.right(this.oneOf(this.flags.dotAll ? anyCharacter : not(character(newline))))
      case "^":
        return asserted(this.flags.multiline ? "lineStart" : "textStart")
      case "$":
        return asserted(this.flags.multiline ? "lineEnd" : "textEnd")
      case "*":
      case "+":
      case "?":
        return Either.left(`there is nothing that "${next}" could repeat`)
      case "\\":
        return this.escaped()
      default:
        return Either.right(this.literal(next))
    }
  }

  private oneOf(accepts: CharacterClass): PatternTree {
    return { _tag: "Character", accepts: this.flags.ignoreCase ? inAnyCase(accepts) : accepts }
  }

  private literal(text: string): PatternTree {
    return this.oneOf(character(codePointOf(text)))
  }

  private group(): Parsed<PatternTree | undefined> {
    return Either.gen(this, function* () {
      if (++this.depth > maximumDepth) return yield* Either.left(`it nests deeper than ${maximumDepth} groups`)
      const outer = this.flags
      if (this.accept("?P<") || this.accept("?<")) {
        const name = this.until(">")
        if (name === undefined || !/^\w+$/.test(name)) return yield* Either.left("the name of a group is missing")
      } else if (this.accept("?")) {
        const isGroup = yield* this.setFlags()
        if (!isGroup) {
          this.depth--
          return undefined
        }
      }
      const tree = yield* this.choice()
      if (!this.accept(")")) return yield* Either.left('a ")" is missing')
      this.flags = outer
      this.depth--
      return tree
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

  /** What follows a backslash. */
  private escaped(): Parsed<PatternTree> {
    const assertion = assertions.get(this.peek())
    if (assertion !== undefined) {
      this.at++
      return asserted(assertion)
    }
    if (this.accept("Q")) return Either.right(this.quoted())
    return Either.map(this.escapedCharacter(), (accepts) => this.oneOf(typeof accepts === "number" ? character(accepts) : accepts))
  }

  /** Characters as they are, up to `\E` or the end. */
  private quoted(): PatternTree {
    const parts: Array<PatternTree> = []
    while (this.at < this.characters.length && !this.accept("\\E")) parts.push(this.literal(this.take(1)))
    return { _tag: "Sequence", parts }
  }

  /** What follows a backslash and stands for characters: one by its code point, or a class. */
  private escapedCharacter(): Parsed<number | CharacterClass> {
    const next = this.take(1)
    if (next === "") return Either.left("it ends in a backslash")
    const known = perlClass(next) ?? controlCharacter(next)
    if (known !== undefined) return Either.right(known)
    if (next === "x") return this.hexadecimal()
    if (next === "p" || next === "P") return this.unicode(next === "P")
    if (next === "0") return Either.right(0)
    return /[A-Za-z0-9]/.test(next) ? Either.left(`"\\${next}" is not known`) : Either.right(codePointOf(next))
  }

  private hexadecimal(): Parsed<number> {
    const digits = this.accept("{") ? this.until("}") : this.take(2)
    const codePoint = digits !== undefined && /^[0-9A-Fa-f]{1,6}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
    return codePoint <= 0x10ffff ? Either.right(codePoint) : Either.left('"\\x" needs hexadecimal digits')
  }

  private unicode(negated: boolean): Parsed<CharacterClass> {
    const braced = this.accept("{")
    const inverted = braced && this.accept("^")
    const name = braced ? this.until("}") : this.take(1)
    const accepts = name === undefined ? undefined : unicodeClass(name)
    if (accepts === undefined) return Either.left(`"\\p{${name ?? ""}}" is not known`)
    return Either.right(negated !== inverted ? not(accepts) : accepts)
  }

  /** The characters of `[…]`, whose first bracket has been taken. */
  private set(): Parsed<CharacterClass> {
    return Either.gen(this, function* () {
      const negated = this.accept("^")
      const members: Array<CharacterClass> = []
      for (let isFirst = true; isFirst || !this.accept("]"); isFirst = false) {
        if (this.peek() === undefined) return yield* Either.left('a "]" is missing')
        const first = yield* this.setMember()
        if (typeof first !== "number") members.push(first)
        else if (this.peek() === "-" && this.peek(1) !== "]" && this.peek(1) !== undefined) {
          this.at++
          const last = yield* this.setMember()
          if (typeof last !== "number" || last < first) return yield* Either.left("a range of characters is not in order")
          members.push(between(first, last))
        } else members.push(character(first))
      }
      const accepts = either(members)
      if (!negated) return accepts
      // Negation comes after folding: [^a] without regard to case accepts neither "a" nor "A"
      return not(this.flags.ignoreCase ? inAnyCase(accepts) : accepts)
    })
  }

  private setMember(): Parsed<number | CharacterClass> {
    if (this.accept("[:")) {
      const negated = this.accept("^")
      const name = this.until(":")
      const accepts = name === undefined || !this.accept("]") ? undefined : posixClass(name)
      if (accepts === undefined) return Either.left(`"[:${name ?? ""}:]" is not known`)
      return Either.right(negated ? not(accepts) : accepts)
    }
    const next = this.take(1)
    return next === "\\" ? this.escapedCharacter() : Either.right(codePointOf(next))
  }
}

/** What a pattern says, or what is wrong with it. */
export const parse = (source: string): Parsed<PatternTree> => new Parser(source).whole()
