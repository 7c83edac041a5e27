/** The half hours whose usage could not be computed, which is tried again as long as their reports are kept. */
import { type Cause, Clock, Duration, Effect, Option, Schema } from "effect"
import { DeploymentValues } from "../deployment/DeploymentValues.js"
import { storeUnavailable } from "../platform/store/StoreUnavailable.js"
import * as Timestamp from "../platform/time/Timestamp.js"

/** Where the beginnings of the half hours are kept that could not be computed, in milliseconds since 1970. */
const missedKey = "template_usage_missed"

/** Milliseconds after which a half hour that could not be computed is given up. */
const givenUpAfter = Duration.toMillis("7 days")

const Missed = Schema.parseJson(Schema.Array(Schema.Int))

/** The half hours that runs could not compute, as they are stored, and are not given up. */
const storedAt = (now: number) =>
  Effect.map(
    Effect.flatMap(DeploymentValues, (values) => values.get(missedKey)),
    (stored) =>
      Option.getOrElse(Option.flatMap(stored, Schema.decodeOption(Missed)), (): ReadonlyArray<number> => []).filter(
        (start) => start > now - givenUpAfter
      )
  )

/** The beginning of the oldest half hour that is still to be computed from its reports. */
export const oldestMissed = Effect.map(Effect.flatMap(Clock.currentTimeMillis, storedAt), (missed) =>
  missed.length === 0 ? Option.none() : Option.some(Timestamp.fromMillis(Math.min(...missed)))
)

/** The half hours that runs could not compute. One run at a time reads and writes them, under the worker's lock. */
export const missedHours = Effect.fn(function* (now: number) {
  const values = yield* DeploymentValues
  const missed = new Set(yield* storedAt(now))
  const store = Effect.suspend(() => values.put(missedKey, Schema.encodeSync(Missed)([...missed])))
  return {
    before: (first: number) => [...missed].filter((start) => start < first),
    computed: (start: number) => (missed.delete(start) ? store : Effect.void),
    /** Before a later half hour is stored, from which the next run would begin. A store that is away ends the run. */
    failed: (start: number, cause: Cause.Cause<unknown>) =>
      Option.isSome(storeUnavailable(cause)) || missed.has(start) || start <= now - givenUpAfter
        ? Effect.void
        : Effect.zipRight(
            Effect.sync(() => missed.add(start)),
            store
          )
  }
})
