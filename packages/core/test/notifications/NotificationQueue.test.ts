import { isDue, messageAfter, type MessageState } from "@atelier/core/notifications"
import { Timestamp } from "@atelier/core/platform"
import { Duration } from "effect"
import { describe, expect, it } from "vitest"

const limits = { maxSendAttempts: 5, retryInterval: Duration.minutes(5), leasePeriod: Duration.minutes(2) }
const start = Timestamp.fromMillis(0)
const pending: MessageState = { status: "pending", status_reason: "", attempt_count: 0, due_at: start }

const after = (state: MessageState, event: Parameters<typeof messageAfter>[1], at = start): MessageState => {
  const next = messageAfter(state, event, at, limits)
  if (next === undefined) throw new Error(`${state.status} refuses ${event._tag}`)
  return next
}

describe("a message", () => {
  it("is tried again after each failure, until the last attempt", () => {
    let state = pending
    const statuses: Array<string> = []
    for (let attempt = 0; attempt < limits.maxSendAttempts; attempt++) {
      const now = state.due_at ?? start
      state = after(after(state, { _tag: "Lease" }, now), { _tag: "Failed", reason: "away", retryable: true }, now)
      statuses.push(state.status)
      expect(state.due_at).toBe(attempt < 4 ? Timestamp.plus(now, limits.retryInterval) : null)
    }
    expect([...statuses, state.attempt_count, state.status_reason]).toStrictEqual([
      ...Array.from({ length: 4 }, () => "temporary_failure"),
      "permanent_failure",
      5,
      "away"
    ])
  })

  it("is not tried again after a failure that no attempt can mend", () => {
    const failed = after(after(pending, { _tag: "Lease" }), { _tag: "Failed", reason: "no such method", retryable: false })
    expect(failed).toStrictEqual({ status: "permanent_failure", status_reason: "no such method", attempt_count: 1, due_at: null })
  })

  it("is leased again once its lease has ended, and not before", () => {
    const leased = after(pending, { _tag: "Lease" })
    expect(isDue(leased, Timestamp.plus(start, "119 seconds"), limits)).toBe(false)
    const again = Timestamp.plus(start, limits.leasePeriod)
    expect(after(leased, { _tag: "Lease" }, again).due_at).toBe(Timestamp.plus(again, limits.leasePeriod))
  })

  it("that has an end refuses every event", () => {
    const leased = after(pending, { _tag: "Lease" })
    for (const end of [{ _tag: "Delivered" }, { _tag: "Inhibited", reason: "unwanted" }] as const) {
      const ended = after(leased, end)
      for (const event of [{ _tag: "Lease" }, { _tag: "Delivered" }, end] as const) {
        expect(messageAfter(ended, event, Timestamp.plus(start, "1 day"), limits)).toBeUndefined()
      }
    }
  })

  it("is delivered only under a lease", () => {
    expect(messageAfter(pending, { _tag: "Delivered" }, start, limits)).toBeUndefined()
  })
})
