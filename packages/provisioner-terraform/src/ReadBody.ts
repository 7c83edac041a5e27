/** Reading files of HCL while other requests have their turn. */
import { Effect } from "effect"
import { type Body, bodyInSteps, HclError } from "./Hcl.js"
import type { Pace } from "./Pace.js"

/** Steps that are taken, and characters that are read, between two looks at the pace. A step may read more characters. */
const stepsOfLook = 200
const charactersOfLook = 16 * 1024

/** Reads a file. Fails at the first place that is not HCL. */
export const readBody = (text: string, pace: Pace): Effect.Effect<Body, HclError> =>
  Effect.gen(function* () {
    const steps = bodyInSteps(text)
    let position = 0
    for (;;) {
      const read = yield* Effect.try({
        try: () => {
          const from = position
          for (let count = 0; count < stepsOfLook && position - from < charactersOfLook; count++) {
            const step = steps.next()
            if (step.done === true) return step.value
            position = step.value
          }
          return undefined
        },
        catch: (error) => {
          // The steps throw nothing else
          if (error instanceof HclError) return error
          throw error
        }
      })
      if (read !== undefined) return read
      yield* pace
    }
  })
