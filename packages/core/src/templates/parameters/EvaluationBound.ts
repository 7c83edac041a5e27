/** How long the evaluation of a form may take. */
import { Duration, Effect, Option } from "effect"
import { TimedOut } from "../../platform/Errors.js"

/** Of the evaluation itself. */
export const evaluationTime = Duration.seconds(5)

/** Until an evaluation has a place and its source is open: for the first one, a busy machine loads the engine and reads the archive. */
export const openingTime = Duration.seconds(30)

const tooLong = (detail: string) => new TimedOut({ message: "The parameters of the template could not be evaluated in time.", detail })

/**
 * Runs an evaluation, which tells by its argument that its source is open. One that takes too long fails, and is interrupted without a wait for its end:
 * it says nothing of the template, and may succeed later.
 */
export const boundedEvaluation = <A, E, R>(
  evaluation: (opened: Effect.Effect<void>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | TimedOut, R> =>
  Effect.gen(function* () {
    const isOpen = yield* Effect.makeLatch()
    const late = Effect.flatMap(
      Effect.timeoutOption(isOpen.await, openingTime),
      Option.match({
        onNone: () => tooLong(`The template's source was not open within ${Duration.toSeconds(openingTime)} seconds.`),
        onSome: () => Effect.delay(tooLong(`The evaluation took more than ${Duration.toSeconds(evaluationTime)} seconds.`), evaluationTime)
      })
    )
    return yield* Effect.raceFirst(Effect.disconnect(evaluation(Effect.asVoid(isOpen.open))), late)
  })
