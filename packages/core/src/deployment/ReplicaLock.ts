/** The lock that each process holds for as long as it lives: a store gives it back as soon as the process is gone. deployment.md §8. */
import { Clock, Duration, Effect, Option } from "effect"
import type { Locks } from "../platform/store/Locks.js"
import type { Uuid } from "../platform/texts/Uuid.js"

const lockOf = (id: Uuid): string => `replica:${id}`

interface Needs {
  /** This process. */
  readonly id: Uuid
  readonly locks: Locks["Type"]
  /** How long other processes take at most to come back after the store was away. */
  readonly comesBackWithin: Duration.Duration
}

/** Returns the lock of this process, and what the locks of others tell of them. */
export const replicaLock = ({ comesBackWithin, id, locks }: Needs) => {
  /**
   * When a free lock tells again that its process is dead, in milliseconds since 1970: after the store has lost the lock of this process, it may have lost
   * those of others that live, which first have to come back.
   */
  let locksTellFrom = Number.NEGATIVE_INFINITY

  const locked = Effect.map(Clock.currentTimeMillis, (now) => {
    if (locksTellFrom === Number.POSITIVE_INFINITY) locksTellFrom = now + Duration.toMillis(comesBackWithin)
  })
  const unlocked = Effect.sync(() => {
    locksTellFrom = Number.POSITIVE_INFINITY
  })
  /** Holds the lock of this process until it is lost. */
  const keep = Effect.ensuring(locks.tryWith(lockOf(id), Effect.zipRight(locked, Effect.never)), unlocked)

  /** Returns whether a process that is silent is dead: it holds its lock no more. */
  const isDead = (other: Uuid): Effect.Effect<boolean> =>
    Effect.gen(function* () {
      if (Option.isNone(yield* locks.tryWith(lockOf(other), Effect.void))) return false
      return (yield* Clock.currentTimeMillis) >= locksTellFrom
    })

  return { keep, isDead }
}
