/** Reads JSON with all digits of its numbers, which `JSON.parse` rounds. */
import { EvaluationError } from "./EvaluationError.js"
import { HclError } from "./Hcl.js"
import { readNumber } from "./Numbers.js"
import type { Value } from "./Values.js"
import { Work } from "./Work.js"

/** Collections in each other. */
const maximumDepth = 200

const blank = /[ \t\r\n]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const quoted = /"(?:[^"\\]|\\.)*"/y
const word = /true|false|null/y

class Reader {
  position = 0

  constructor(
    readonly text: string,
    readonly work: Work
  ) {}

  fail(cause: string): never {
    throw new HclError({ line: this.text.slice(0, this.position).split("\n").length, cause })
  }

  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.position += found.length
    return found
  }

  /** Takes a sign with the blanks around it. */
  take(sign: string): boolean {
    this.match(blank)
    if (this.text[this.position] !== sign) return false
    this.position++
    this.match(blank)
    return true
  }

  /** What stands in brackets, with commas between. */
  items<A>(end: string, read: () => A): ReadonlyArray<A> {
    if (this.take(end)) return []
    const items = [read()]
    while (this.take(",")) items.push(read())
    return this.take(end) ? items : this.fail(`"," or ${JSON.stringify(end)} is expected`)
  }

  quoted(): string {
    const source = this.match(quoted) ?? this.fail("a text in quotes is expected")
    try {
      // Checks escapes and control characters
      return String(JSON.parse(source))
    } catch {
      return this.fail("the text in quotes holds a wrong escape or a control character")
    }
  }

  value(depth: number): Value {
    if (depth > maximumDepth) return this.fail("values are too deep in each other")
    this.work.step()
    this.match(blank)
    if (this.text[this.position] === '"') return this.quoted()
    this.work.step(2)
    if (this.take("[")) return this.items("]", () => this.value(depth + 1))
    if (this.take("{")) {
      return new Map(
        this.items("}", () => {
          const key = this.quoted()
          return this.take(":") ? ([key, this.value(depth + 1)] as const) : this.fail('":" is expected')
        })
      )
    }
    const known = this.match(word)
    if (known !== undefined) return known === "null" ? null : known === "true"
    return this.work.number(readNumber(this.match(number) ?? "") ?? this.fail("a value is expected"))
  }
}

/** The value of a JSON text. Throws `HclError` with the line, and `EvaluationError` for numbers or work without bounds. */
export const parseJson = (text: string, work: Work): Value => {
  const reader = new Reader(text, work)
  const value = reader.value(0)
  reader.match(blank)
  return reader.position < text.length ? reader.fail("the text should end here") : value
}

/** The first mistake in a text of JSON, and its line; undefined for a text without one. */
export const jsonFault = (text: string): HclError | undefined => {
  try {
    parseJson(text, new Work())
    return undefined
  } catch (error) {
    if (error instanceof HclError) return error
    if (error instanceof EvaluationError) return new HclError({ line: 1, cause: error.cause })
    throw error
  }
}
