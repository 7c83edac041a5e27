import { Effect } from "effect"

/** Milliseconds that closing may take; statements still running after it are lost with their connection. */
const within = 1000

/** Closes connections as their scope ends. A server that does not answer is not waited for. */
export const closing = (end: () => Promise<unknown>): Effect.Effect<void> =>
  Effect.promise(() => end().catch(() => undefined)).pipe(Effect.interruptible, Effect.timeoutOption(within), Effect.asVoid)
