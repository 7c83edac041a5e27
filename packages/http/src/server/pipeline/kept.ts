import { keptFor } from "@atelier/core/platform"
import { Duration, Effect } from "effect"

/**
 * Returns what makes a value at its first use, and then answers it. A value is made to its end where its client goes, since others may wait for it.
 * One that could not be made is made again by a later use: a process may have been out of file descriptors, for example.
 */
export const kept = <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<Effect.Effect<A, E>, never, R> =>
  keptFor(Duration.infinity)(Effect.uninterruptible(make))
