import { describe, expect, it } from "vitest"
import { isZone, offsetHours, rangeOf } from "../src/screens/insights/range.js"

const now = Date.UTC(2026, 10, 3, 9, 20)

describe("the span of insights", () => {
  it("begins at a midnight of the zone, and ends at the next full hour", () => {
    expect(rangeOf("today", now, "UTC")).toStrictEqual({
      start_time: "2026-11-03T00:00:00+00:00",
      end_time: "2026-11-03T10:00:00+00:00",
      interval: "day"
    })
    expect(rangeOf("week", now, "Asia/Kolkata")).toMatchObject({
      start_time: "2026-10-28T00:00:00+05:30",
      end_time: "2026-11-03T15:00:00+05:30"
    })
  })

  it("has the offset that each of its ends has", () => {
    // The clocks of Paris go back on 25 October 2026, those of New York on 1 November
    expect(rangeOf("month", now, "Europe/Paris")).toMatchObject({
      start_time: "2026-10-05T00:00:00+02:00",
      end_time: "2026-11-03T11:00:00+01:00"
    })
    expect(rangeOf("week", now, "America/New_York")).toMatchObject({ start_time: "2026-10-28T00:00:00-04:00" })
  })

  it("ends at midnight in the last hour of a day, and keeps a full hour", () => {
    expect(rangeOf("today", Date.UTC(2026, 10, 3, 23, 5), "UTC").end_time).toBe("2026-11-04T00:00:00+00:00")
    expect(rangeOf("today", Date.UTC(2026, 10, 3, 9), "UTC").end_time).toBe("2026-11-03T09:00:00+00:00")
  })

  it("is of whole weeks where its values are weeks", () => {
    const { end_time, interval, start_time } = rangeOf("quarter", now, "UTC")
    const days = (Date.parse(end_time) - Date.parse(start_time)) / 86_400_000
    expect([interval, days % 7 >= 6]).toStrictEqual(["week", true])
  })

  it("knows zones and their whole hours", () => {
    expect([offsetHours(now, "Asia/Kolkata"), offsetHours(now, "America/New_York")]).toStrictEqual([5, -5])
    expect([isZone("Europe/Paris"), isZone("Nowhere/None")]).toStrictEqual([true, false])
  })
})
