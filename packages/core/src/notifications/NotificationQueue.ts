/** The states of a message on its way to a user. notifications-audit-insights.md §A4. */
import type { Duration } from "effect"
import * as Timestamp from "../platform/time/Timestamp.js"

export type MessageStatus = "pending" | "leased" | "sent" | "temporary_failure" | "permanent_failure" | "inhibited"

export type MessageEvent =
  | { readonly _tag: "Lease" }
  | { readonly _tag: "Delivered" }
  | { readonly _tag: "Failed"; readonly reason: string; readonly retryable: boolean }
  | { readonly _tag: "Inhibited"; readonly reason: string }

/** The part of a message that its state is. */
export interface MessageState {
  readonly status: MessageStatus
  readonly status_reason: string
  readonly attempt_count: number
  /** When the message may be leased next: at its creation, after a failure, or when its lease ends; null once it has an end. */
  readonly due_at: Timestamp.Timestamp | null
}

export interface QueueLimits {
  readonly maxSendAttempts: number
  readonly retryInterval: Duration.Duration
  readonly leasePeriod: Duration.Duration
}

/** Characters of a reason that are kept. */
const maximumReason = 1_000

/** Whether a message may be leased at an instant: a lease that has ended belongs to a process that has died or hangs. */
export const isDue = (
  { attempt_count, due_at, status }: MessageState,
  now: Timestamp.Timestamp,
  { maxSendAttempts }: QueueLimits
): boolean =>
  due_at !== null &&
  Timestamp.toMillis(due_at) <= Timestamp.toMillis(now) &&
  (status === "leased" || ((status === "pending" || status === "temporary_failure") && attempt_count < maxSendAttempts))

/** The state after an event; undefined if the event cannot happen in this state. */
export const messageAfter = (
  state: MessageState,
  event: MessageEvent,
  now: Timestamp.Timestamp,
  limits: QueueLimits
): MessageState | undefined => {
  if (event._tag === "Lease") {
    if (!isDue(state, now, limits)) return undefined
    return { ...state, status: "leased", due_at: Timestamp.plus(now, limits.leasePeriod) }
  }
  if (state.status !== "leased") return undefined
  const attempt_count = state.attempt_count + 1
  switch (event._tag) {
    case "Delivered":
      return { status: "sent", status_reason: "", attempt_count, due_at: null }
    case "Inhibited":
      return { status: "inhibited", status_reason: event.reason.slice(0, maximumReason), attempt_count, due_at: null }
    case "Failed": {
      const isLast = !event.retryable || attempt_count >= limits.maxSendAttempts
      return {
        status: isLast ? "permanent_failure" : "temporary_failure",
        status_reason: event.reason.slice(0, maximumReason),
        attempt_count,
        due_at: isLast ? null : Timestamp.plus(now, limits.retryInterval)
      }
    }
  }
}
