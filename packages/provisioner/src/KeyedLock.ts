import { Effect } from "effect"

/** One action at a time per key; actions of other keys run beside it. */
export const makeKeyedLock = <K>() => {
  const locks = new Map<K, { readonly semaphore: Effect.Semaphore; users: number }>()
  return (key: K) =>
    <A, E, R>(action: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const lock = locks.get(key) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
        locks.set(key, lock)
        lock.users++
        return lock.semaphore
          .withPermits(1)(action)
          .pipe(
            Effect.ensuring(
              Effect.sync(() => {
                lock.users--
                if (lock.users === 0) locks.delete(key)
              })
            )
          )
      })
}
