import { Timestamp } from "@atelier/core/platform"
import { isActive, type JobEvent, type JobProgress, jobStatus, jobTransitions, progress } from "@atelier/core/provisioning"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const at = Timestamp.fromMillis(1_000)
const later = Timestamp.fromMillis(2_000)

const waiting: JobProgress = { started_at: null, canceled_at: null, completed_at: null, error: "" }

const instants = fc.constantFrom(null, at)
const columns: fc.Arbitrary<JobProgress> = fc.record({
  started_at: instants,
  canceled_at: instants,
  completed_at: instants,
  error: fc.constantFrom("", "broken")
})
const events = fc.constantFrom<JobEvent>("acquire", "requeue", "cancel", "complete", "fail", "acknowledge_cancel", "reap")

describe("the status of a job", () => {
  it.each([
    [waiting, "pending"],
    [{ ...waiting, started_at: at }, "running"],
    [{ ...waiting, started_at: at, canceled_at: at }, "canceling"],
    [{ ...waiting, canceled_at: at }, "canceling"],
    [{ ...waiting, started_at: at, completed_at: at }, "succeeded"],
    [{ ...waiting, started_at: at, canceled_at: at, completed_at: at }, "canceled"],
    [{ ...waiting, canceled_at: at, completed_at: at }, "canceled"],
    [{ ...waiting, started_at: at, completed_at: at, error: "broken" }, "failed"],
    [{ ...waiting, started_at: at, canceled_at: at, completed_at: at, error: "broken" }, "failed"],
    [{ ...waiting, started_at: at, error: "broken" }, "failed"]
  ])("of %o is %s", (job, status) => {
    expect(jobStatus(job)).toBe(status)
  })

  it("is active as long as it can change, for all columns", () => {
    fc.assert(
      fc.property(columns, (job) => {
        const status = jobStatus(job)
        expect(isActive(status)).toBe(Object.keys(jobTransitions[status]).length > 0)
      })
    )
  })
})

describe("an event", () => {
  it("leads to the status in the table, or is refused", () => {
    fc.assert(
      fc.property(columns, events, (job, event) => {
        const before = jobStatus(job)
        const allowed: Partial<Record<JobEvent, string>> = jobTransitions[before]
        const changed = progress(job, event, later, "why")
        expect(changed === undefined ? undefined : jobStatus(changed)).toBe(
          // A waiting job that was marked as canceled has never been completed: no event makes such columns
          before === "canceling" && job.started_at === null && event === "cancel" ? undefined : allowed[event]
        )
      })
    )
  })

  it("never moves a job that has ended", () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 12 }), (sequence) => {
        let job = waiting
        let end: JobProgress | undefined
        for (const event of sequence) {
          job = progress(job, event, later) ?? job
          if (!isActive(jobStatus(job))) end ??= job
          if (end !== undefined) expect(job).toStrictEqual(end)
        }
      })
    )
  })

  it("describes every failure by a text, with a default", () => {
    expect(progress({ ...waiting, started_at: at }, "fail", later)?.error).not.toBe("")
  })

  it("gives a reaped job that never started a start", () => {
    expect(progress(waiting, "reap", later, "forgotten")).toStrictEqual({
      started_at: later,
      canceled_at: null,
      completed_at: later,
      error: "forgotten"
    })
  })
})
