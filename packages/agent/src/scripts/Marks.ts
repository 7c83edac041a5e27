import { randomUUID } from "node:crypto"
import type { Brand } from "../Brand.js"

/** The variable that marks the processes of an agent's scripts, so that they are found again. */
export interface Marks {
  /** A mark for one run of a script. */
  readonly next: () => readonly [name: string, value: string]
  /** Whether an entry of a process's environment is a mark of this agent. */
  readonly isMark: (entry: string) => boolean
}

export const make = (brand: Brand): Marks => {
  const name = `${brand.environmentName}_AGENT_RUN`
  const agent = randomUUID()
  let runs = 0
  return {
    next: () => {
      runs += 1
      return [name, `${agent}.${runs}`]
    },
    isMark: (entry) => entry.startsWith(`${name}=${agent}.`)
  }
}
