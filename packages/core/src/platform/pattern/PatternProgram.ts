/** A pattern as a program of a machine that tries all its ways at once: a nondeterministic automaton (Thompson, 1968). */
import type { CharacterClass } from "./CharacterClass.js"
import type { Assertion, PatternTree } from "./PatternTree.js"

/** All but `Fork` go on with the next instruction. */
export type Instruction =
  | { readonly _tag: "Consume"; readonly accepts: CharacterClass }
  | { readonly _tag: "Assert"; readonly assertion: Assertion }
  | { readonly _tag: "Fork"; readonly targets: ReadonlyArray<number> }
  | { readonly _tag: "Match" }

export type PatternProgram = ReadonlyArray<Instruction>

/** Instructions of a program, and steps of making it. */
const maximumProgram = 20_000

/** Lays a tree out as a program; undefined when that is too large. */
export const assemble = (root: PatternTree): PatternProgram | undefined => {
  const program: Array<Instruction> = []
  let steps = 0

  /** A fork whose targets are found out later. */
  const fork = (): Array<number> => {
    const targets: Array<number> = []
    program.push({ _tag: "Fork", targets })
    return targets
  }

  /** False when the program is too large. */
  const emit = (tree: PatternTree): boolean => {
    if (++steps > maximumProgram || program.length > maximumProgram) return false
    switch (tree._tag) {
      case "Character":
        program.push({ _tag: "Consume", accepts: tree.accepts })
        return true
      case "Assertion":
        program.push({ _tag: "Assert", assertion: tree.assertion })
        return true
      case "Sequence":
        return tree.parts.every(emit)
      case "Choice":
        return choice(tree.options)
      case "Repeat":
        for (let count = 0; count < tree.minimum; count++) if (!emit(tree.part)) return false
        return tree.maximum === Number.POSITIVE_INFINITY ? anyNumber(tree.part) : atMost(tree.part, tree.maximum - tree.minimum)
    }
  }

  const choice = (options: ReadonlyArray<PatternTree>): boolean => {
    const start = fork()
    const ends: Array<Array<number>> = []
    for (const option of options) {
      start.push(program.length)
      if (!emit(option)) return false
      ends.push(fork())
    }
    for (const end of ends) end.push(program.length)
    return true
  }

  const anyNumber = (part: PatternTree): boolean => {
    const loop = program.length
    const start = fork()
    start.push(program.length)
    if (!emit(part)) return false
    fork().push(loop)
    start.push(program.length)
    return true
  }

  const atMost = (part: PatternTree, times: number): boolean => {
    const starts: Array<Array<number>> = []
    for (let count = 0; count < times; count++) {
      const start = fork()
      start.push(program.length)
      starts.push(start)
      if (!emit(part)) return false
    }
    for (const start of starts) start.push(program.length)
    return true
  }

  if (!emit(root)) return undefined
  program.push({ _tag: "Match" })
  return program
}
