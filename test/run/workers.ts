import type { Worker } from "@atelier/core/platform"
import { Locks } from "@atelier/core/platform"
import { Effect, Option, Schedule } from "effect"

/**
 * A whole run of a worker that begins now. `Worker.runOnce` does nothing while the server's own run is under way, and that one may
 * have begun before the test stored anything.
 */
export const completed = <R>({ name, run }: Worker.Worker<R>): Effect.Effect<void, never, R | Locks> =>
  Effect.flatMap(Locks, ({ tryWith }) => tryWith(`worker:${name}`, run)).pipe(
    Effect.repeat({ until: Option.isSome, schedule: Schedule.spaced("10 millis") }),
    Effect.asVoid
  )
