import { Duration, Effect, Option } from "effect"

/** How long no change may come. */
const quiet = Duration.millis(500)

/** How long changes that keep coming are waited for. */
const atMost = Duration.seconds(2)

/**
 * Completes once changes have come and then none for 500 milliseconds, and at most 2 seconds after the first one. `changed` is opened by each change. It
 * is closed at the end: what follows sees all changes until then, and a later one completes this effect again.
 */
export const quietAfter = (changed: Effect.Latch): Effect.Effect<void> => {
  const next = Effect.zipRight(changed.close, Effect.timeoutOption(changed.await, quiet))
  const settled = Effect.repeat(next, { while: Option.isSome })
  return changed.await.pipe(Effect.zipRight(Effect.timeoutOption(settled, atMost)), Effect.zipRight(changed.close), Effect.asVoid)
}
