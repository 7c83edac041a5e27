import { describe, expect, it } from "vitest"
import { axisTime, fullTime } from "../src/ui/charts/chartTime.js"

const day = 86_400_000
const midnight = Date.UTC(2026, 10, 1)

describe("the times of a chart", () => {
  it("are days in the zone that they are of", () => {
    expect(fullTime("day", "UTC")(midnight)).toBe("Nov 1, 2026")
    expect(fullTime("day", "America/New_York")(midnight)).toBe("Oct 31, 2026")
    expect(axisTime("day", 30 * day, "UTC")(midnight)).toBe("Nov 1")
  })

  it("name the last day of a week, also of one in which the clock changes", () => {
    expect(fullTime("week", "UTC")(midnight)).toBe("Nov 1, 2026 – Nov 7, 2026")
    // The clocks of Paris go back on 25 October 2026
    expect(fullTime("week", "Europe/Paris")(Date.UTC(2026, 9, 18, 22))).toBe("Oct 19, 2026 – Oct 25, 2026")
  })

  it("name the day at midnight, and in long spans only days", () => {
    const hours = axisTime("hour", day, "UTC")
    expect([hours(midnight), hours(midnight + 3_600_000)]).toStrictEqual(["Nov 1", "01:00"])
    expect(axisTime("moment", 30 * day, "UTC")(midnight + 3_600_000)).toBe("Nov 1")
    expect(axisTime("moment", day, "UTC")(midnight + 3_600_000)).toBe("01:00")
  })
})
