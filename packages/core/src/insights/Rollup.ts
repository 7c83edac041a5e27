import { Duration, Effect, Option, Stream } from "effect"
import * as Background from "../platform/background/Background.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { transaction } from "../platform/store/Transactor.js"
import { InsightsRepository } from "./InsightsRepository.js"
import { missedHours } from "./MissedUsage.js"
import { Bucket, bucketMillis, bucketOf } from "./UsageRollup.js"

const hour = 3_600_000

/** The beginnings of the buckets between two instants. */
function* bucketsFrom(first: number, last: number): Generator<number> {
  for (let start = first; start <= last; start += bucketMillis) yield start
}

/**
 * Turns reports into usage, half hour by half hour, from an hour before the last half hour that has usage: reports may come late. What is
 * there is computed again, so a run that ends halfway is caught up with. A half hour that cannot be computed does not keep the others, and is tried again
 * at the end of each run for a week. notifications-audit-insights.md §C2.
 */
const rollUp = Effect.gen(function* () {
  const repository = yield* InsightsRepository
  const newest = Option.map(yield* repository.newestUsage, (start) => Math.floor((Timestamp.toMillis(start) - hour) / hour) * hour)
  const oldest = Option.map(yield* repository.oldestReport, (at) => bucketOf(Timestamp.toMillis(at)))
  const first = Option.getOrUndefined(Option.orElse(newest, () => oldest))
  if (first === undefined) return
  const now = Timestamp.toMillis(yield* Timestamp.now)
  const { before, computed, failed } = yield* missedHours(now)
  const { failure } = yield* Background.tryEach([...bucketsFrom(first, now), ...before(first)], (start) =>
    Effect.gen(function* () {
      const span = { from: Timestamp.fromMillis(start), to: Timestamp.fromMillis(start + bucketMillis) }
      const bucket = new Bucket(start)
      yield* Stream.runForEach(repository.agentUses(span), (use) => Effect.sync(() => bucket.addAgent(use)))
      for (const use of yield* repository.appUses(span)) bucket.addApp(use)
      const rows = bucket.rows()
      if (rows.length > 0) yield* transaction(repository.putUsage(rows))
    }).pipe(
      Effect.tapErrorCause((cause) => failed(start, cause)),
      Effect.zipRight(computed(start))
    )
  )
  yield* failure
})

export const usageRollup = { name: "template_usage_rollup", every: Duration.minutes(5), run: rollUp }
