import { Cause, type Duration, Effect } from "effect"

/**
 * Returns what makes a value at its first use, and then answers it for a time. Callers at once share the value. A failure is answered to those that wait
 * for it, and not kept: `Effect.cachedWithTTL` would answer it for as long as a value.
 */
export const keptFor =
  (time: Duration.DurationInput) =>
  <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E>, never, R> =>
    Effect.map(Effect.cachedInvalidateWithTTL(make, time), ([value, forget]) =>
      // A caller that goes while it waits leaves the others what they wait for
      Effect.onError(value, (cause) => (Cause.isInterruptedOnly(cause) ? Effect.void : forget))
    )
