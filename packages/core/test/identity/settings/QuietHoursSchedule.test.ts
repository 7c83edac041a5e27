import { formatQuietHours, nextStart, parseQuietHours, timeOfDay } from "@atelier/core/identity"
import { Timestamp } from "@atelier/core/platform"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

describe("quiet hours", () => {
  it("are normalised to one form that parses to the same value", () => {
    const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York")
    fc.assert(
      fc.property(zone, fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }), (zone, hour, minute) => {
        const text = `CRON_TZ=${zone} ${minute} ${hour} * * *`
        const schedule = Either.getOrThrow(parseQuietHours(` ${text.replace(" * * *", "  *  * *")} `))
        expect(formatQuietHours(schedule)).toBe(text)
        expect(timeOfDay(schedule)).toBe(`${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`)
      })
    )
  })

  it("begin at the same local time every day, of UTC where no zone is named", () => {
    const at = Timestamp.fromMillis(Date.parse("2026-03-28T12:00:00Z"))
    const next = (text: string) => Timestamp.toMillis(nextStart(Either.getOrThrow(parseQuietHours(text)), at))
    expect(next("30 2 * * *")).toBe(Date.parse("2026-03-29T02:30:00Z"))
    expect(next("CRON_TZ=Europe/Berlin 0 4 * * *")).toBe(Date.parse("2026-03-29T02:00:00Z"))
  })

  it("are a single time of every day in a zone that is known", () => {
    const wrong = ["0 0,12 * * *", "0 0-4 * * *", "*/5 0 * * *", "0 * * * *", "0 0 1 * *", "0 0 * 1 *", "0 0 * * 1", "0 0 * *"]
    const zones = ["CRON_TZ=Local 0 0 * * *", "CRON_TZ=Mars/Olympus 0 0 * * *", "60 0 * * *", "0 24 * * *", "nonsense"]
    for (const text of [...wrong, ...zones]) expect(Either.isLeft(parseQuietHours(text)), text).toBe(true)
  })
})
