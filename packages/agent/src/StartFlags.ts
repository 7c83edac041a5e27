/**
 * How V8 runs the program while it starts, and while its workspace is handed over. What these run is hardly run afterwards, so optimized code of it is of no use:
 * without, a start with its first command takes a sixth less processor time, and a hand-over with one a quarter.
 */
import { setFlagsFromString } from "node:v8"

/** Milliseconds of a start or a hand-over and the first commands, also where many agents of one machine start at once. */
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

/** What keeps code from being optimized for a while, again with each call, by a function that gives flags to V8. */
export const makeBegin = (setFlags: (flags: string) => void): (() => void) => {
  let ending: NodeJS.Timeout | undefined
  return () => {
    if (areGiven) return
    clearTimeout(ending)
    setFlags("--no-opt")
    ending = setTimeout(() => setFlags("--opt"), startTime).unref()
  }
}

/** Call this once the program is loaded, and when its workspace is about to be handed over. */
export const begin = makeBegin(setFlagsFromString)
