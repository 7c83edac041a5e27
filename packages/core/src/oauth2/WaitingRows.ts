/** What the authorization server keeps for clients until an instant. */
import { Effect } from "effect"
import { untilNotFull } from "../platform/background/Batches.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"

/** Rows that are of no use after an instant. */
export interface ExpiringRows {
  /** Deletes at most `limit` rows that expired before an instant, the oldest first. Returns how many. */
  readonly deleteExpired: (before: Timestamp, limit: number) => Effect.Effect<number>
}

/** Rows of applications that callers can add before a user has consented to anything. */
export interface WaitingRows extends ExpiringRows {
  /** Returns how many rows of an application, or of all without one, have not expired; counted no further than `limit`. */
  readonly countWaiting: (now: Timestamp, limit: number, appId?: Uuid) => Effect.Effect<number>
}

/**
 * Rows that wait at a time. Any caller can be a public client, so that the rate limit of an address bounds what it adds: 120 rows a minute, each for 10
 * minutes, are 1,200 of one address and replica. One caller reaches neither bound, and callers that fill an application's share block no other.
 */
const maximumWaiting = { ofApp: 10_000, ofAll: 100_000 } as const

/** Whether an application may add a row. Calls at once may pass the bound by their number. */
export const hasRoom = (rows: WaitingRows, appId: Uuid, now: Timestamp): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    if ((yield* rows.countWaiting(now, maximumWaiting.ofApp, appId)) >= maximumWaiting.ofApp) return false
    return (yield* rows.countWaiting(now, maximumWaiting.ofAll)) < maximumWaiting.ofAll
  })

/** Rows of one statement. */
const purgeBatch = 1000

/** Deletes all rows that expired before an instant, batch by batch. */
export const purgeExpired = (rows: ExpiringRows, before: Timestamp): Effect.Effect<void> =>
  Effect.asVoid(untilNotFull(purgeBatch, (limit) => rows.deleteExpired(before, limit)))
