/** What runs beside the requests of a service. */
import { startBackground as startCore } from "@atelier/core"
import { warnOfMissingKeys } from "@atelier/core/deployment"
import { Clock, type Duration, Effect } from "effect"
import { hostname } from "node:os"
import { Settings } from "../server/request/Settings.js"

/** How long background work waits at most for the requests that have waited for the service. */
const firstRequests = "50 millis"

/** Completes when background work may begin: after `delay`, or once no request runs. The time is that of the machine's clock and not of the host's. */
export const firstRequestsEnd = (delay: Duration.DurationInput | undefined, quiet: Effect.Effect<void>): Effect.Effect<void> => {
  const pause = Effect.withClock(Effect.sleep(delay ?? firstRequests), Clock.make())
  return delay === undefined ? Effect.raceFirst(quiet, pause) : pause
}

/** Prepares what the first request needs, and runs the background work as long as the scope is open. */
export const startBackground = Effect.gen(function* () {
  const { version: reported } = yield* Settings
  yield* startCore({ hostname: hostname(), version: reported })
  yield* warnOfMissingKeys
})
