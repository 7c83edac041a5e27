import { DeploymentValues } from "@atelier/core/deployment"
import { keptFor, StoreUnavailable, storeUnavailable } from "@atelier/core/platform"
import { Effect, Exit, Option } from "effect"
import { StoreFaults } from "./StoreFaults.js"

/** How long the store may take to answer. */
const patience = "2 seconds"

/** How long an answer of the store is believed. Callers of the same moment share one question. */
const validity = "1 second"

/** A value that no deployment has: any answer is good. */
const nothing = "readiness"

/** The reason why requests cannot be served now; undefined if they can. */
export const make = Effect.gen(function* () {
  const values = yield* DeploymentValues
  const faults = yield* StoreFaults
  const check = Effect.gen(function* () {
    const answer = yield* values.get(nothing).pipe(
      // A statement that has been sent is not taken back
      Effect.disconnect,
      // Else the limit would wait for the statement all the same
      Effect.interruptible,
      Effect.timeoutFail({
        duration: patience,
        onTimeout: () => new StoreUnavailable({ reason: "away", cause: `no answer within ${patience}` })
      }),
      Effect.exit
    )
    if (Exit.isSuccess(answer)) return undefined
    const unavailable = Option.getOrElse(
      storeUnavailable(answer.cause),
      () => new StoreUnavailable({ reason: "away", cause: answer.cause })
    )
    yield* faults.note(unavailable)
    return unavailable
  })
  return yield* keptFor(validity)(Effect.uninterruptible(check))
})
