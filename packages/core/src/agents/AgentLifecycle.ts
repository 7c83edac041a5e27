/**
 * The lifecycle of an agent, as it reports it itself. Any state may follow any other: an agent that restarts begins anew.
 * agents-and-apps.md §4.
 */
import { Schema } from "effect"
import type { Timestamp } from "../platform/time/Timestamp.js"

export const AgentLifecycle = Schema.Literal(
  "created",
  "starting",
  "start_timeout",
  "start_error",
  "ready",
  "shutting_down",
  "shutdown_timeout",
  "shutdown_error",
  "off"
)
export type AgentLifecycle = typeof AgentLifecycle.Type

/** When the agent's start scripts began and ended; null when they have not. */
export interface StartTimes {
  readonly started_at: Timestamp | null
  readonly ready_at: Timestamp | null
}

type Effect = (times: StartTimes, changedAt: Timestamp) => StartTimes

const begins: Effect = (_, changedAt) => ({ started_at: changedAt, ready_at: null })
const ends: Effect = ({ started_at }, changedAt) => ({ started_at: started_at ?? changedAt, ready_at: changedAt })
const keeps: Effect = ({ ready_at, started_at }) => ({ started_at, ready_at })

/** The effect of a report of each state on the times. */
const effects: Readonly<Record<AgentLifecycle, Effect>> = {
  created: keeps,
  starting: begins,
  start_timeout: ends,
  start_error: ends,
  ready: ends,
  shutting_down: keeps,
  shutdown_timeout: keeps,
  shutdown_error: keeps,
  off: keeps
}

/** The times after the agent reported a state it changed to at `changedAt`. */
export const timesAfter = (reported: AgentLifecycle, times: StartTimes, changedAt: Timestamp): StartTimes =>
  effects[reported](times, changedAt)

/** Its start scripts have ended, well or badly, and it is not shutting down. */
export const hasStarted = (state: AgentLifecycle): boolean => state === "ready" || state === "start_timeout" || state === "start_error"

/** It is stopping or has stopped. */
export const isShuttingDown = (state: AgentLifecycle): boolean =>
  state === "shutting_down" || state === "shutdown_timeout" || state === "shutdown_error" || state === "off"
