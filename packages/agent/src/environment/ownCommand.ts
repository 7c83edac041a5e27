import { readFileSync } from "node:fs"

/** The command line of this process; undefined where the system does not show it. */
const commandLine = (): ReadonlyArray<string> | undefined => {
  try {
    return readFileSync("/proc/self/cmdline", "utf8").split("\0")
  } catch {
    return undefined
  }
}

/**
 * Returns the command that starts the agent's program again, without arguments of its own. In a container, a loader has started Node: `process.execPath` is
 * then the loader, which needs what came before the program.
 */
export const ownCommand = (): ReadonlyArray<string> | undefined => {
  const [, program] = process.argv
  if (program === undefined) return undefined
  const words = commandLine() ?? []
  const index = words.indexOf(program)
  return index > 1 && words[0] !== process.argv0 ? words.slice(0, index + 1) : [process.execPath, program]
}
