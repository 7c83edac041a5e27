/** How long the evaluation of a form may take. */
import { Duration, Effect, Option } from "effect"

/** Of the evaluation itself. */
export const evaluationTime = Duration.seconds(5)

/** Until an evaluation has a place and its source is open: for the first one, a busy machine loads the engine and reads the archive. */
export const openingTime = Duration.seconds(30)

/**
 * Runs an evaluation, which tells by its argument that its source is open. One that takes too long is answered with the reason, and is interrupted without
 * a wait for its end.
 */
export const boundedEvaluation = <A, E, R>(
  evaluation: (opened: Effect.Effect<void>) => Effect.Effect<A, E, R>,
  tooLong: (reason: string) => A
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const isOpen = yield* Effect.makeLatch()
    const late = Effect.flatMap(
      Effect.timeoutOption(isOpen.await, openingTime),
      Option.match({
        onNone: () => Effect.succeed(tooLong(`The template's source was not open within ${Duration.toSeconds(openingTime)} seconds.`)),
        onSome: () =>
          Effect.as(Effect.sleep(evaluationTime), tooLong(`The evaluation took more than ${Duration.toSeconds(evaluationTime)} seconds.`))
      })
    )
    return yield* Effect.raceFirst(Effect.disconnect(evaluation(Effect.asVoid(isOpen.open))), late)
  })
