/** Runs a pattern's program: time is proportional to the program times the text. */
import { isWord, newline } from "./CharacterClass.js"
import type { PatternProgram } from "./PatternProgram.js"
import type { Assertion } from "./PatternTree.js"

type CodePoints = ReadonlyArray<number>

/** Whether the program matches anywhere in the text. */
export const run = (program: PatternProgram, text: string): boolean => {
  const codePoints = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  let current = new Threads(program)
  let next = new Threads(program)
  for (let position = 0; position <= codePoints.length; position++) {
    // A match may begin anywhere
    if (current.add(0, codePoints, position)) return true
    const codePoint = codePoints[position]
    if (codePoint === undefined) return false
    for (const index of current.waiting) {
      const instruction = program[index]
      if (instruction?._tag === "Consume" && instruction.accepts(codePoint) && next.add(index + 1, codePoints, position + 1)) return true
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

  constructor(private readonly program: PatternProgram) {
    this.seen = new Uint32Array(program.length)
  }

  clear(): void {
    this.waiting.length = 0
    this.round++
  }

  /** Follows everything that needs no character; true when that reaches the end of the program. */
  add(start: number, text: CodePoints, position: number): boolean {
    const open = [start]
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (this.seen[index] === this.round) continue
      this.seen[index] = this.round
      const instruction = this.program[index]
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

const holds = (assertion: Assertion, text: CodePoints, position: number): boolean => {
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
