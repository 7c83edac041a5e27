import { randomUUID } from "node:crypto"
import type { Brand } from "../Brand.js"

/** The variable that marks the processes of an agent's scripts, so that they are found again. */
export interface Marks {
  /** A mark for one run of a script. */
  readonly next: () => readonly [name: string, value: string]
  /** Whether an entry of a process's environment is a mark of this agent. */
  readonly isMark: (entry: string) => boolean
  /** Whether a mark has been given out: otherwise no process has one. */
  readonly areUsed: () => boolean
  /** Marks of their own for some of the processes, which are marks of the agent too. */
  readonly within: () => Marks
}

export const make = (brand: Brand): Marks => {
  const name = `${brand.environmentName}_AGENT_RUN`
  const beginningWith = (prefix: string): Marks => {
    let runs = 0
    const next = (): string => {
      runs += 1
      return `${prefix}.${runs}`
    }
    return {
      next: () => [name, next()],
      isMark: (entry) => entry.startsWith(`${name}=${prefix}.`),
      areUsed: () => runs > 0,
      within: () => beginningWith(next())
    }
  }
  return beginningWith(randomUUID())
}
