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
const minute = 60_000

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
    ["*/0 9 * * *", "not a schedule"],
    ["*/-5 9 * * *", "not a schedule"],
    ["*/1.5 9 * * *", "not a schedule"],
    ["*/x 9 * * *", "not a schedule"],
    ["*/ 9 * * *", "not a schedule"],
    ["0 9-8 * * *", "not a schedule"],
    ["0 */25 * * *", "not a schedule"],
    ["*/61 9 * * *", "not a schedule"],
    ["0 9 * * */8", "not a schedule"],
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

  it("has its next allowed start on the first allowed occurrence", () => {
    const zones = ["UTC", "Australia/Sydney", "America/Chicago", "Asia/Kathmandu", "Pacific/Apia"]
    const instants = fc.integer({ min: Date.parse("2022-01-01"), max: Date.parse("2028-01-01") })
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.nat(23), fc.integer({ min: 1, max: everyDay }), instants, (zone, hour, days, millis) => {
        const daily = schedule(`CRON_TZ=${zone} 15 ${hour} * * *`)
        const from = Timestamp.fromMillis(millis)
        const expected = occurrences(daily, from, 8).find((occurrence) => ((days >> weekday(daily.zone, occurrence)) & 1) === 1)
        expect(nextAllowedStart(daily, from, days)).toBe(expected)
      }),
      { numRuns: 60 }
    )
  })
})

/** Changes of the clock: the zone and the instant. */
const changes = [
  ["America/New_York", "2031-03-09T07:00:00Z"],
  ["America/New_York", "2031-11-02T06:00:00Z"],
  ["Europe/Berlin", "2031-03-30T01:00:00Z"],
  ["Europe/Berlin", "2031-10-26T01:00:00Z"],
  ["Australia/Lord_Howe", "2031-10-04T15:30:00Z"],
  ["Australia/Lord_Howe", "2031-04-05T15:00:00Z"],
  ["America/Santiago", "2031-09-07T04:00:00Z"],
  ["America/Santiago", "2031-04-06T03:00:00Z"]
] as const

describe("a schedule over a change of the clock", () => {
  it.each([
    ["America/New_York", "30 2 * * *", "2031-03-09T00:00:00-05:00", "2031-03-09T03:30:00-04:00"],
    ["Europe/Berlin", "30 2 * * *", "2031-03-30T00:00:00+01:00", "2031-03-30T03:30:00+02:00"],
    ["Australia/Lord_Howe", "15 2 * * *", "2031-10-05T00:00:00+10:30", "2031-10-05T02:45:00+11:00"],
    ["America/Santiago", "0 0 * * 0", "2031-09-06T12:00:00-04:00", "2031-09-07T01:00:00-03:00"]
  ])("in %s, %s occurs later by as much as the clock is put forward", (zone, text, from, next) => {
    expect(nextOccurrence(schedule(`CRON_TZ=${zone} ${text}`), at(from))).toBe(at(next))
  })

  it.each([
    ["America/New_York", "30 1 * * *", "2031-11-02T01:30:00-04:00", "2031-11-02T01:10:00-05:00", "2031-11-03T01:30:00-05:00"],
    ["Europe/Berlin", "30 2 * * *", "2031-10-26T02:30:00+02:00", "2031-10-26T02:10:00+01:00", "2031-10-27T02:30:00+01:00"],
    ["Australia/Lord_Howe", "45 1 * * *", "2031-04-06T01:45:00+11:00", "2031-04-06T01:40:00+10:30", "2031-04-07T01:45:00+10:30"],
    ["America/Santiago", "30 23 * * *", "2031-04-05T23:30:00-03:00", "2031-04-05T23:10:00-04:00", "2031-04-06T23:30:00-04:00"]
  ])("in %s, %s occurs once where the clock is put back", (zone, text, first, repeated, second) => {
    const daily = schedule(`CRON_TZ=${zone} ${text}`)
    expect(nextOccurrence(daily, Timestamp.minus(at(first), minute))).toBe(at(first))
    expect(nextOccurrence(daily, at(first))).toBe(at(second))
    // The clock shows this time twice, and it is the second time
    expect(nextOccurrence(daily, at(repeated))).toBe(at(second))
    expect(nextAllowedStart(daily, at(repeated), everyDay)).toBe(at(second))
  })

  it.each([
    ["America/New_York", "0 9 * * 0", "2031-10-26T09:00:00-04:00", "2031-11-02T09:00:00-05:00"],
    ["Europe/Berlin", "0 9 * * SUN", "2031-10-19T09:20:00+02:00", "2031-10-26T09:00:00+01:00"],
    ["Australia/Lord_Howe", "45 23 * * 0", "2031-03-30T23:50:00+11:00", "2031-04-06T23:45:00+10:30"],
    ["America/Santiago", "0 1 * * 0", "2031-03-30T01:00:00-03:00", "2031-04-06T01:00:00-04:00"]
  ])("in %s, %s has its next allowed start a week later, which the clock makes longer", (zone, text, from, next) => {
    const weekly = schedule(`CRON_TZ=${zone} ${text}`)
    expect(nextAllowedStart(weekly, at(from), everyDay)).toBe(at(next))
    const daily = schedule(`CRON_TZ=${zone} ${text.replace(/\w+$/, "*")}`)
    expect(nextAllowedStart(daily, at(from), sunday)).toBe(at(next))
    expect(nextAllowedStart(weekly, at(from), monday)).toBeNull()
  })

  it("occurs at the end of the repeated time, without a gap behind it", () => {
    const often = schedule("CRON_TZ=America/New_York */30 * * * *")
    expect(nextOccurrence(often, at("2031-11-02T01:10:30-05:00"))).toBe("2031-11-02T07:00:00.000Z")
  })

  it("always occurs after the instant it is asked for, and within a day and an hour", () => {
    const around = fc.integer({ min: -3 * 24 * 60, max: 3 * 24 * 60 })
    fc.assert(
      fc.property(
        fc.constantFrom(...changes),
        fc.nat(23),
        fc.constantFrom(0, 15, 30, 45),
        around,
        ([zone, change], hour, past, minutes) => {
          const from = Timestamp.plus(at(change), minutes * minute)
          const next = nextOccurrence(schedule(`CRON_TZ=${zone} ${past} ${hour} * * *`), from)
          expect(next > from).toBe(true)
          expect(Timestamp.toMillis(next) - Timestamp.toMillis(from)).toBeLessThanOrEqual(25 * 60 * minute)
        }
      ),
      { numRuns: 500 }
    )
  })
})

const occurrences = (of: Schedule, after: Timestamp.Timestamp, count: number): ReadonlyArray<Timestamp.Timestamp> => {
  const found: Array<Timestamp.Timestamp> = []
  for (let from = after; found.length < count; from = found[found.length - 1] ?? after) found.push(nextOccurrence(of, from))
  return found
}
