/**
 * How V8 runs the program while it starts. What a start runs is hardly run afterwards, so optimized code of it is of no use: without, a start with its first command
 * takes a sixth less processor time.
 */
import { setFlagsFromString } from "node:v8"

/** Milliseconds of a start and the first commands, also where many agents of one machine start at once. */
const startTime = 5_000

/** Flags of an operator stay as they are. */
const areGiven = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].some((options) =>
  /--(?:no[-_]?|always[-_])?(?:opt|jitless|lite)/.test(options)
)

/**
 * Call this before the program is loaded: V8 takes compiled code with the flags alone that it was made with. The young generation has the size that an
 * operator gave by now, and keeps it.
 */
export const forgetSizes = (): void => {
  const options = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ")
  for (const [, bound = ""] of options.matchAll(/--(max|min)[-_]semi[-_]space[-_]size=/g))
    setFlagsFromString(`--${bound}-semi-space-size=0`)
}

/** Call this once the program is loaded. */
export const begin = (): void => {
  if (areGiven) return
  setFlagsFromString("--no-opt")
  setTimeout(() => setFlagsFromString("--opt"), startTime).unref()
}
