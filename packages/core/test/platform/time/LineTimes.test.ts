import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { makeLineTimes, timesFrom } from "../../../src/platform/time/LineTimes.js"
import { Timestamp } from "../../../src/platform/index.js"

describe("the times of lines that arrive together", () => {
  it("are a microsecond apart, across a second too", () => {
    const timeOf = timesFrom(Timestamp.Timestamp.make("2026-12-31T23:59:59.999998Z"))
    expect([0, 1, 2, 1002].map(timeOf)).toStrictEqual([
      "2026-12-31T23:59:59.999998Z",
      "2026-12-31T23:59:59.999999Z",
      "2027-01-01T00:00:00.000000Z",
      "2027-01-01T00:00:00.001000Z"
    ])
  })

  it("are counted from a time with few digits or none", () => {
    expect(timesFrom(Timestamp.Timestamp.make("2026-01-31T10:00:00.25Z"))(1)).toBe("2026-01-31T10:00:00.250001Z")
    expect(timesFrom(Timestamp.Timestamp.make("2026-01-31T10:00:00Z"))(1)).toBe("2026-01-31T10:00:00.000001Z")
  })

  it("leave none to those that arrive later", () => {
    const next = Effect.runSync(makeLineTimes())
    const first = next(3)
    expect(next()).toBe(timesFrom(first)(3))
  })
})
