import { Effect, type Scope } from "effect"
import * as Sender from "./Sender.js"

/** Reports that are delivered one after the other, in the order they were made. */
export interface Outbox<A> {
  /** Adds a report, without waiting. */
  readonly add: (report: A) => void
  /** Completes when all are delivered. */
  readonly drain: Effect.Effect<void>
}

/** At most `capacity` reports wait; the oldest is given up for one more. */
export const make = <A>(options: {
  readonly capacity: number
  readonly deliver: (report: A) => Effect.Effect<void>
}): Effect.Effect<Outbox<A>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const waiting: Array<A> = []

    const send = Effect.suspend(() => {
      const report = waiting.shift()
      return report === undefined ? Effect.void : options.deliver(report)
    })

    const sender = yield* Sender.make({ hasWork: () => waiting.length > 0, gather: Effect.void, send })

    return {
      add: (report) => {
        if (waiting.length === options.capacity) waiting.shift()
        waiting.push(report)
        sender.wake()
      },
      drain: sender.drain
    }
  })
