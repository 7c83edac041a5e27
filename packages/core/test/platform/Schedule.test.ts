import {
  nextAllowedStart,
  nextOccurrence,
  noDay,
  otherDays,
  parseSchedule,
  type Schedule,
  Timestamp,
  weekday
} from "@atelier/core/platform"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const schedule = (text: string): Schedule => Either.getOrThrowWith(parseSchedule(text), (fault) => new Error(fault))
const at = (text: string): Timestamp.Timestamp => Timestamp.fromMillis(Date.parse(text))
const monday = 1
const sunday = 1 << 6
const everyDay = otherDays(noDay)

describe("an autostart schedule", () => {
  it.each([
    "30 9 * * *",
    "30 9 * * 1-5",
    "0,30 9-17/2 * * MON,WED,FRI",
    "*/15 * * * 0",
    "CRON_TZ=America/Chicago 30 9 * * 1-5",
    "CRON_TZ=UTC 0 0 * * *",
    "CRON_TZ= 30 9 * * *",
    "CRON_TZ=America/Port-au-Prince 30 9 * * *",
    "CRON_TZ=Etc/GMT+10 30 9 * * *"
  ])("may be written %j", (text) => {
    expect(Either.isRight(parseSchedule(text))).toBe(true)
  })

  it.each([
    ["", "fields"],
    ["9 * * *", "fields"],
    ["0 30 9 * * 1-5", "fields"],
    ["30 9 1 * *", "day of month"],
    ["30 9 * 2 *", "day of month"],
    ["30 9 ? * *", "day of month"],
    ["60 9 * * *", "not a schedule"],
    ["30 24 * * *", "not a schedule"],
    ["30 9 * * 8", "not a schedule"],
    ["30 9 * * FUN", "not a schedule"],
    ["CRON_TZ=Mars/Olympus 30 9 * * *", "time zone"],
    ["CRON_TZ=Local 30 9 * * *", "time zone"],
    ["CRON_TZ=+01:00 30 9 * * *", "time zone"],
    ["CRON_TZ=europe/dublin 30 9 * * *", "time zone"],
    ["30 9 * * 7", "weekdays"],
    ["30 9 * * 1-7", "weekdays"],
    ["TZ=UTC 30 9 * * *", "fields"]
  ])("may not be written %j", (text, fault) => {
    expect(Either.getLeft(parseSchedule(text))).toMatchObject({ value: expect.stringContaining(fault) })
  })

  it("counts in its own zone, and in UTC without one", () => {
    const from = at("2023-02-08T12:00:00Z")
    expect(nextOccurrence(schedule("30 9 * * *"), from)).toBe("2023-02-09T09:30:00.000Z")
    expect(nextOccurrence(schedule("CRON_TZ=America/Chicago 30 9 * * *"), from)).toBe("2023-02-08T15:30:00.000Z")
  })

  it("occurs strictly after the instant it is asked for, to the minute", () => {
    const daily = schedule("30 9 * * *")
    expect(nextOccurrence(daily, at("2023-02-08T09:29:59.999Z"))).toBe("2023-02-08T09:30:00.000Z")
    expect(nextOccurrence(daily, at("2023-02-08T09:30:00.000Z"))).toBe("2023-02-09T09:30:00.000Z")
    expect(nextOccurrence(daily, at("2023-02-08T09:30:00.001Z"))).toBe("2023-02-09T09:30:00.000Z")
  })

  it("is allowed on the template's days only, as its own zone counts them", () => {
    // 23:30 on Sunday in Honolulu is 09:30 on Monday in UTC
    const late = schedule("CRON_TZ=Pacific/Honolulu 30 23 * * *")
    const wednesday = at("2023-02-08T12:00:00Z")
    expect(nextAllowedStart(late, wednesday, sunday)).toBe("2023-02-13T09:30:00.000Z")
    expect(nextAllowedStart(late, wednesday, monday)).toBe("2023-02-14T09:30:00.000Z")
  })

  it("has no allowed start where its days and the template's never meet", () => {
    expect(nextAllowedStart(schedule("30 9 * * 6,0"), at("2023-02-08T12:00:00Z"), monday)).toBeNull()
    expect(nextAllowedStart(schedule("* * * * *"), at("2023-02-08T12:00:00Z"), 0)).toBeNull()
  })

  it("reaches the allowed day directly, past any occurrences before", () => {
    expect(nextAllowedStart(schedule("* * * * *"), at("2023-02-08T12:00:00Z"), monday)).toBe("2023-02-13T00:00:00.000Z")
  })

  it("has its next allowed start within a week, on the first allowed occurrence", () => {
    const zones = ["UTC", "Australia/Sydney", "America/Chicago", "Asia/Kathmandu", "Pacific/Apia"]
    const instants = fc.integer({ min: Date.parse("2022-01-01"), max: Date.parse("2028-01-01") })
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.nat(23), fc.integer({ min: 1, max: everyDay }), instants, (zone, hour, days, millis) => {
        const daily = schedule(`CRON_TZ=${zone} 15 ${hour} * * *`)
        const from = Timestamp.fromMillis(millis)
        const next = nextAllowedStart(daily, from, days)
        const expected = occurrences(daily, from, 8).find((occurrence) => ((days >> weekday(daily.zone, occurrence)) & 1) === 1)
        expect(next).toBe(expected !== undefined && Timestamp.toMillis(expected) - millis <= 7 * 86_400_000 ? expected : null)
      }),
      { numRuns: 60 }
    )
  })
})

const occurrences = (of: Schedule, after: Timestamp.Timestamp, count: number): ReadonlyArray<Timestamp.Timestamp> => {
  const found: Array<Timestamp.Timestamp> = []
  for (let from = after; found.length < count; from = found[found.length - 1] ?? after) found.push(nextOccurrence(of, from))
  return found
}
