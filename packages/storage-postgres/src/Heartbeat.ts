import { Clock, type Duration, Effect } from "effect"

/** How a connection that waits for the server is tested. */
export interface Heartbeat {
  readonly every: Duration.DurationInput
  /** How long the answer may take before the connection is given up. */
  readonly within: Duration.DurationInput
}

/** A silent connection is noticed within 9 seconds. TCP's own probes would take minutes. */
export const usualHeartbeat: Heartbeat = { every: "4 seconds", within: "5 seconds" }

/** Lets work go by the machine's time: a host or a test that sets its clock forward gives no reason to test a connection more often. */
export const inRealTime: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.withClock(Clock.make())
