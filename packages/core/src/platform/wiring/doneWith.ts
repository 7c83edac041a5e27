import { type Effect, Exit } from "effect"

/** The result of an effect that is a success already, such as one of `Effect.succeed`; undefined for one that has to be run. */
export const doneWith = <A, E, R>(effect: Effect.Effect<A, E, R>): A | undefined =>
  // The library's guard forgets the type of the result
  Exit.isExit(effect) && Exit.isSuccess(effect) ? (effect.value as A) : undefined
