import { Clock, Context, Effect } from "effect"

/**
 * Runs what is made of the present time of the `Clock`, in milliseconds since 1970-01-01T00:00:00Z. One step of the fiber, where `Clock.currentTimeMillis` and what follows it are
 * five: for what every request does.
 */
export const atMillis = <A, E, R>(use: (now: number) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiberRuntime(({ currentDefaultServices }) => use(Context.get(currentDefaultServices, Clock.Clock).unsafeCurrentTimeMillis()))
