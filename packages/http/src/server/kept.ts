import { Cause, Duration, Effect } from "effect"

/**
 * Returns what makes a value at its first use, and then answers it. A value is made to its end where its client goes, since others may wait for it.
 * One that could not be made is made again by a later use: a process may have been out of file descriptors, for example.
 */
export const kept = <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E>, never, R> =>
  Effect.map(Effect.cachedInvalidateWithTTL(Effect.uninterruptible(make), Duration.infinity), ([value, forget]) =>
    // A client that goes while it waits leaves the others what they wait for
    Effect.onError(value, (cause) => (Cause.isInterruptedOnly(cause) ? Effect.void : forget))
  )
