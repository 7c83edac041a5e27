import { Effect } from "effect"

/** Completes at the end of the present turn of the event loop, when the process has handled what else has arrived. */
export const endOfTurn: Effect.Effect<void> = Effect.async<void>((resume) => {
  const waiting = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(waiting))
})
