import { Clock, Duration, Effect, type Scope } from "effect"
import * as Sender from "./Sender.js"

/** Values whose latest version per key is reported. */
export interface LatestByKey<K, V> {
  /** Sets the value to report, without waiting. */
  readonly set: (key: K, value: V) => void
  /** Completes when all are reported. */
  readonly drain: Effect.Effect<void>
}

/** Reports batches of changed values, with at least `spacing` between the beginnings of two. A value set while it is being reported is reported again. */
export const make = <K, V>(options: {
  readonly spacing: Duration.Duration
  /** How long values gather before a batch. */
  readonly gather: Duration.Duration
  /** Keys that fit into one batch, from the first on: at least one. */
  readonly fitting: (keys: ReadonlyArray<K>) => ReadonlyArray<K>
  readonly report: (batch: ReadonlyArray<readonly [K, V]>) => Effect.Effect<void>
}): Effect.Effect<LatestByKey<K, V>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const changed = new Map<K, V>()
    let reportedAt = Number.NEGATIVE_INFINITY

    const gather = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.sleep(Duration.millis(Math.max(Duration.toMillis(options.gather), reportedAt + Duration.toMillis(options.spacing) - now)))
    )

    const send = Effect.gen(function* () {
      reportedAt = yield* Clock.currentTimeMillis
      const batch = options.fitting([...changed.keys()]).flatMap((key) => {
        const value = changed.get(key)
        return value === undefined ? [] : [[key, value] as const]
      })
      yield* options.report(batch)
      for (const [key, value] of batch) if (changed.get(key) === value) changed.delete(key)
    })

    const sender = yield* Sender.make({ hasWork: () => changed.size > 0, gather, send })

    return {
      set: (key, value) => {
        changed.set(key, value)
        sender.wake()
      },
      drain: sender.drain
    }
  })
