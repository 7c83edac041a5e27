import { Cause, type Duration, Effect } from "effect"
import * as Monotonic from "../time/Monotonic.js"

/**
 * Returns what makes a value at its first use, and then answers it for a time. Callers at once share the value. A failure is answered to those that wait
 * for it, and not kept: `Effect.cachedWithTTL` would answer it for as long as a value, and a value for longer after the clock was set back.
 */
export const keptFor =
  (time: Duration.DurationInput) =>
  <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E>, never, R> =>
    Effect.flatMap(Effect.clock, (clock) =>
      Effect.map(Effect.cachedInvalidateWithTTL(Effect.withClock(make, clock), time), ([value, forget]) =>
        // A caller that goes while it waits leaves the others what they wait for
        Effect.onError(Effect.withClock(value, Monotonic.clock(clock)), (cause) => (Cause.isInterruptedOnly(cause) ? Effect.void : forget))
      )
    )
