import { AgentLifecycle, hasStarted, type StartTimes, timesAfter } from "@atelier/core/agents"
import { Timestamp } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"

const at = (seconds: number): Timestamp.Timestamp => Timestamp.fromMillis(Date.parse("2026-01-01T00:00:00.000Z") + seconds * 1000)

/** The times after each report, one second after the other. */
const replay = (states: ReadonlyArray<AgentLifecycle>): StartTimes =>
  states.reduce<StartTimes>((times, state, index) => timesAfter(state, times, at(index + 1)), { started_at: null, ready_at: null })

describe("lifecycle reports", () => {
  it("begin anew with each start", () => {
    expect(replay(["starting", "ready", "starting"])).toStrictEqual({ started_at: at(3), ready_at: null })
    expect(replay(["starting", "ready", "starting", "start_error"])).toStrictEqual({ started_at: at(3), ready_at: at(4) })
  })

  it("count as started even where the start was not reported", () => {
    expect(replay(["ready"])).toStrictEqual({ started_at: at(1), ready_at: at(1) })
    expect(replay(["starting", "start_timeout"])).toStrictEqual({ started_at: at(1), ready_at: at(2) })
  })

  it("leave the times alone once the start is over", () => {
    expect(replay(["starting", "ready", "shutting_down", "off"])).toStrictEqual({ started_at: at(1), ready_at: at(2) })
    expect(replay(["created"])).toStrictEqual({ started_at: null, ready_at: null })
  })

  it("never end a start before it began, in any order", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...AgentLifecycle.literals)), (states) => {
        const { ready_at, started_at } = replay(states)
        if (ready_at !== null) expect(started_at !== null && started_at <= ready_at).toBe(true)
        const last = states.findLast((state) => state === "starting" || hasStarted(state))
        expect(ready_at !== null).toBe(last !== undefined && hasStarted(last))
      })
    )
  })

  it("are starting until the start is over", () => {
    expect(AgentLifecycle.literals.filter(hasStarted)).toStrictEqual(["start_timeout", "start_error", "ready"])
  })
})
