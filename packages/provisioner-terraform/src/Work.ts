import { EvaluationError } from "./EvaluationError.js"
import { type Numeric, Real } from "./Numbers.js"

const refused = (cause: string): never => {
  throw new EvaluationError({ cause, isLimit: true })
}

export interface Limits {
  /** Steps of all parts of a form together. */
  readonly steps: number
  /** Steps of one part, such as a parameter: no other request has its turn before it ends. */
  readonly stepsOfPart: number
  readonly characters: number
  /** Characters of all that a form says: one text may be the value of many parameters. */
  readonly charactersOfAnswer: number
  readonly depth: number
}

const limits: Limits = {
  steps: 1_000_000,
  stepsOfPart: 100_000,
  characters: 16 * 1024 * 1024,
  charactersOfAnswer: 4 * 1024 * 1024,
  depth: 400
}

/** Characters of all texts in a value without cycles. */
const charactersIn = (answer: unknown): number => {
  if (typeof answer === "string") return answer.length
  if (typeof answer !== "object" || answer === null) return 0
  return Object.values(answer).reduce<number>((sum, part) => sum + charactersIn(part), 0)
}

/** Elements of collections that functions go through in the time of a step. */
const visitsOfStep = 10

/** Steps for a number of 512 bits, which is made and may be written. */
const stepsOfReal = 60

/** Steps of a comparison of two texts, and of each character that both may begin with. */
const stepsOfComparison = 0.2
const stepsOfComparedCharacter = 0.001

/** What all expressions of a form may do together: steps, and characters of texts that are made. */
export class Work {
  private steps = 0
  private stepsOfPart = 0
  private characters = 0
  private charactersOfAnswer = 0
  private depth = 0

  constructor(private readonly bounds: Limits = limits) {}

  /** Begins the next part of the form. */
  nextPart(): void {
    this.stepsOfPart = 0
  }

  step(count = 1): void {
    this.steps += count
    this.stepsOfPart += count
    if (this.steps > this.bounds.steps || this.stepsOfPart > this.bounds.stepsOfPart) refused("the template needs too many steps")
  }

  /** Elements, or parts of texts, that a function looks at. */
  visit(count: number): void {
    this.step(count / visitsOfStep)
  }

  /** A number that was made. One that JavaScript cannot hold takes long to make, and later to write. */
  number<A extends Numeric>(value: A): A {
    if (value instanceof Real) this.step(stepsOfReal)
    return value
  }

  /** Texts that are about to be sorted, or keys of texts. */
  sort(texts: ReadonlyArray<string>): void {
    const longest = texts.reduce((length, text) => Math.max(length, text.length), 0)
    this.step(texts.length * Math.log2(texts.length + 1) * (stepsOfComparison + longest * stepsOfComparedCharacter))
  }

  /** Characters that are about to be made. */
  make(length: number): void {
    this.characters += length
    if (this.characters > this.bounds.characters) refused("the template makes too long texts")
  }

  made(text: string): string {
    this.make(text.length)
    return text
  }

  joined(texts: ReadonlyArray<string>, separator = ""): string {
    this.make(texts.reduce((length, text) => length + text.length + separator.length, 0))
    return texts.join(separator)
  }

  /** A part of what is answered. */
  answer<A>(part: A): A {
    this.charactersOfAnswer += charactersIn(part)
    if (this.charactersOfAnswer > this.bounds.charactersOfAnswer) refused("the template shows too long texts")
    return part
  }

  deeper<A>(read: () => A): A {
    if (this.depth >= this.bounds.depth) refused("expressions refer to each other too deeply")
    this.depth++
    try {
      return read()
    } finally {
      this.depth--
    }
  }
}
