import type { AgentUnreachable } from "@atelier/core/network"
import { Effect } from "effect"

/** Functions that are called each time that something has changed. */
export type Waiters = Set<() => void>

/** Waits until a look has a result. It looks at once, and each time that something has changed. */
export const until = <A>(
  waiters: Waiters,
  look: () => Effect.Effect<A, AgentUnreachable> | undefined
): Effect.Effect<A, AgentUnreachable> =>
  Effect.async((resume) => {
    const attempt = (): void => {
      const result = look()
      if (result === undefined) return
      waiters.delete(attempt)
      resume(result)
    }
    waiters.add(attempt)
    attempt()
    return Effect.sync(() => void waiters.delete(attempt))
  })

export const wake = (waiters: Waiters): void => {
  for (const waiter of waiters) waiter()
}
