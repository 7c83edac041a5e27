import { Duration, Effect, Random } from "effect"

const firstMillis = 100

/** How long to wait before attempt `attempt + 1`, counted from 0: twice as long each time, from 100 ms up to `limit` milliseconds. */
export const millis = (attempt: number, limit: number): number => Math.min(limit, firstMillis * 2 ** Math.min(attempt, 20))

/** Waits before another attempt, between half and one and a half times as long as `millis` answers: many agents must not come back at once. */
export const wait = (attempt: number, limit: number): Effect.Effect<void> =>
  Effect.flatMap(Random.nextRange(0.5, 1.5), (factor) => Effect.sleep(Duration.millis(millis(attempt, limit) * factor)))
