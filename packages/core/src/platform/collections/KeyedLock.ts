import { Effect } from "effect"

/** One action at a time per key, in this process; actions of other keys run beside it. */
export const makeKeyedLock = <K>() => {
  /** The locked keys, each with the number of its holders and waiters. */
  const locks = new Map<K, { readonly semaphore: Effect.Semaphore; users: number }>()
  return (key: K) =>
    <A, E, R>(action: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const lock = locks.get(key) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
          locks.set(key, lock)
          lock.users++
          return lock
        }),
        ({ semaphore }) => semaphore.withPermits(1)(action),
        (lock) =>
          Effect.sync(() => {
            if (--lock.users === 0) locks.delete(key)
          })
      )
}
