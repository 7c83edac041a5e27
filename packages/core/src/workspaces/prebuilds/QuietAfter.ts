import { Duration, Effect, Option } from "effect"

/** How long no change may come. */
const quiet = Duration.millis(500)

/** How long changes that keep coming are waited for. */
const atMost = Duration.seconds(2)

/** Changes that come close together, and are seen as one. */
export interface Changes {
  /** Tells that something has changed. */
  readonly change: () => void

  /**
   * Completes once changes have come and then none for 500 milliseconds, and at most 2 seconds after the first one. What follows sees all changes
   * until then, and a later one completes this effect again.
   */
  readonly settled: Effect.Effect<void>

  /** Whether changes have come that have not settled. */
  readonly isSettling: () => boolean
}

/** Waits for the end of changes that come close together. */
export const quietAfter: Effect.Effect<Changes> = Effect.map(Effect.makeLatch(false), (changed) => {
  let isSettling = false
  const next = Effect.zipRight(changed.close, Effect.timeoutOption(changed.await, quiet))
  const noMore = Effect.repeat(next, { while: Option.isSome })
  const settled = Effect.sync(() => {
    changed.unsafeClose()
    isSettling = false
  })
  return {
    change: () => {
      isSettling = true
      changed.unsafeOpen()
    },
    settled: changed.await.pipe(Effect.zipRight(Effect.timeoutOption(noMore, atMost)), Effect.zipRight(settled)),
    isSettling: () => isSettling
  }
})
