/** Reading files of HCL while other requests have their turn. */
import { nextTurn } from "@atelier/core/platform"
import { Clock, Effect } from "effect"
import { type Body, bodyInSteps, HclError } from "./Hcl.js"

/** Milliseconds for which files are read before others have their turn. */
const turn = 10

/** Attributes and blocks that are read between two looks at the clock. */
const stepsOfLook = 200

/** Reads a file. Fails at the first place that is not HCL. */
export const readBody = (text: string): Effect.Effect<Body, HclError> =>
  Effect.gen(function* () {
    const steps = bodyInSteps(text)
    let begunAt = yield* Clock.currentTimeMillis
    for (;;) {
      const read = yield* Effect.try({
        try: () => {
          for (let count = 0; count < stepsOfLook; count++) {
            const step = steps.next()
            if (step.done === true) return step.value
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
      if ((yield* Clock.currentTimeMillis) - begunAt > turn) {
        yield* nextTurn
        begunAt = yield* Clock.currentTimeMillis
      }
    }
  })
