import { isOn, noDay, otherDays, parseSchedule, type Schedule, Timestamp } from "@atelier/core/platform"
import {
  bumped,
  type BumpInput,
  type DeadlineInput,
  deadlines,
  rescheduled,
  type RescheduleInput,
  type TemplateSchedule
} from "@atelier/core/workspaces"
import { Either } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const hour = 3_600_000
const minute = 60_000
const saturday = 1 << 5
const everyDay = otherDays(noDay)

const schedule = (text: string): Schedule => Either.getOrThrowWith(parseSchedule(text), (fault) => new Error(fault))
const at = (text: string): Timestamp.Timestamp => Timestamp.fromMillis(Date.parse(text))
const after = (from: Timestamp.Timestamp, millis: number): Timestamp.Timestamp => Timestamp.fromMillis(Timestamp.toMillis(from) + millis)

const aTemplate = (fields: Partial<TemplateSchedule> = {}): TemplateSchedule => ({
  allow_user_autostop: true,
  default_ttl_ms: 0,
  activity_bump_ms: hour,
  autostart_block_days_of_week: 0,
  autostop_requirement_days_of_week: 0,
  autostop_requirement_weeks: 1,
  ...fields
})

describe("a build's deadline", () => {
  const completed = at("2023-02-08T00:00:00Z")
  const sydney = schedule("CRON_TZ=Australia/Sydney 0 0 * * *")
  const of = (input: Partial<DeadlineInput>) =>
    deadlines({ completed, template: aTemplate(), ttl_ms: null, autostart: null, quietHours: null, ...input })
  const onSaturdays = (weeks: number) => aTemplate({ autostop_requirement_days_of_week: saturday, autostop_requirement_weeks: weeks })

  it("does not exist without a time to live", () => {
    expect(of({})).toStrictEqual({ deadline: null, max_deadline: null })
    expect(of({ ttl_ms: 0 })).toStrictEqual({ deadline: null, max_deadline: null })
  })

  it("is the workspace's time to live after the completion", () => {
    expect(of({ ttl_ms: 8 * hour })).toStrictEqual({ deadline: "2023-02-08T08:00:00.000Z", max_deadline: null })
  })

  it("is the template's default where users may not choose", () => {
    const template = aTemplate({ allow_user_autostop: false, default_ttl_ms: hour })
    expect(of({ template, ttl_ms: 30 * minute }).deadline).toBe("2023-02-08T01:00:00.000Z")
  })

  it.each([
    ["2023-02-08T21:45:00-06:00", "2023-02-09T21:00:00-06:00"],
    ["2023-02-08T20:30:00-06:00", "2023-02-09T08:30:00-06:00"]
  ])("of 12 hours, completed %s with a start at 09:00, is %s", (done, deadline) => {
    const autostart = schedule("CRON_TZ=America/Chicago 0 9 * * *")
    expect(of({ completed: at(done), ttl_ms: 12 * hour, autostart }).deadline).toBe(at(deadline))
  })

  it("ignores a scheduled start on a day the template does not allow", () => {
    const template = aTemplate({ autostart_block_days_of_week: 1 << 3 })
    const autostart = schedule("CRON_TZ=America/Chicago 0 9 * * *")
    expect(of({ completed: at("2023-02-08T21:45:00-06:00"), template, ttl_ms: 12 * hour, autostart }).deadline).toBe(
      at("2023-02-09T09:45:00-06:00")
    )
  })

  it.each([
    ["weekly", 1, "2023-02-08T00:00:00Z", "2023-02-11T00:00:00+11:00"],
    ["every two weeks", 2, "2023-02-08T00:00:00Z", "2023-02-18T00:00:00+11:00"],
    ["weekly, 59 minutes before it", 1, "2023-02-10T23:01:00+11:00", "2023-02-18T00:00:00+11:00"]
  ])("is Saturday's quiet hours where they are required %s", (_, weeks, done, stop) => {
    const found = of({ completed: at(done), template: onSaturdays(weeks), quietHours: sydney })
    expect(found).toStrictEqual({ deadline: at(stop), max_deadline: at(stop) })
  })

  it("is the coming midnight where every day is required and two hours are left", () => {
    const template = aTemplate({ autostop_requirement_days_of_week: everyDay })
    expect(of({ completed: at("2023-02-10T22:00:00+11:00"), template, quietHours: sydney }).max_deadline).toBe(
      at("2023-02-11T00:00:00+11:00")
    )
  })

  it("is the time to live where that ends before the required stop", () => {
    expect(of({ template: onSaturdays(1), ttl_ms: hour, quietHours: sydney })).toStrictEqual({
      deadline: at("2023-02-08T01:00:00Z"),
      max_deadline: at("2023-02-11T00:00:00+11:00")
    })
  })

  it("is bound by no required stop where there are no quiet hours", () => {
    expect(of({ template: onSaturdays(1), quietHours: null }).max_deadline).toBeNull()
  })

  it("is on a required day at least an hour ahead, and never past the required stop", () => {
    const zones = ["UTC", "Australia/Sydney", "America/Chicago", "Asia/Kathmandu"]
    const inputs = fc.record({
      zone: fc.constantFrom(...zones),
      hour: fc.nat(23),
      days: fc.nat(everyDay),
      weeks: fc.integer({ min: 1, max: 16 }),
      millis: fc.integer({ min: Date.parse("2022-06-01"), max: Date.parse("2028-01-01") }),
      ttl: fc.option(fc.integer({ min: minute, max: 30 * 24 * hour }))
    })
    fc.assert(
      fc.property(inputs, ({ zone, hour: begin, days, weeks, millis, ttl }) => {
        const done = Timestamp.fromMillis(millis)
        const { deadline, max_deadline } = deadlines({
          completed: done,
          template: aTemplate({ autostop_requirement_days_of_week: days, autostop_requirement_weeks: weeks }),
          ttl_ms: ttl,
          autostart: null,
          quietHours: schedule(`CRON_TZ=${zone} 0 ${begin} * * *`)
        })
        expect(max_deadline === null).toBe(days === 0)
        expect(deadline === null).toBe(days === 0 && ttl === null)
        if (max_deadline !== null) expect(Timestamp.toMillis(max_deadline) - millis).toBeGreaterThanOrEqual(hour)
        if (deadline !== null && max_deadline !== null) expect(deadline <= max_deadline).toBe(true)
        if (deadline !== null) expect(deadline > done).toBe(true)
      }),
      { numRuns: 150 }
    )
  })
})

describe("a running build whose template's schedule changed", () => {
  const completed = at("2023-02-08T00:00:00Z")
  const now = at("2023-02-09T12:00:00Z")
  const utc = schedule("0 0 * * *")
  const daily = aTemplate({ autostop_requirement_days_of_week: everyDay })
  const of = (input: Partial<RescheduleInput>) =>
    rescheduled({
      now,
      completed,
      template: aTemplate(),
      ttl_ms: null,
      autostart: null,
      quietHours: utc,
      deadline: null,
      max_deadline: null,
      ...input
    })

  it("keeps its present deadline while a time to live applies", () => {
    const deadline = after(now, hour)
    expect(of({ ttl_ms: 8 * hour, deadline })).toStrictEqual({ deadline, max_deadline: null })
  })

  it("loses its deadlines when neither a time to live nor a required stop applies", () => {
    expect(of({ deadline: after(now, hour), max_deadline: after(now, 3 * hour) })).toStrictEqual({ deadline: null, max_deadline: null })
  })

  it("stops at a required stop that counts from its completion", () => {
    const weekly = aTemplate({ autostop_requirement_days_of_week: saturday })
    const stop = at("2023-02-11T00:00:00Z")
    expect(of({ template: weekly })).toStrictEqual({ deadline: stop, max_deadline: stop })
    expect(of({ template: weekly, ttl_ms: 8 * hour, deadline: after(now, hour) })).toStrictEqual({
      deadline: after(now, hour),
      max_deadline: stop
    })
  })

  it("has two hours until a required stop that has already passed", () => {
    expect(of({ template: daily, ttl_ms: 24 * hour, deadline: after(now, 20 * hour) })).toStrictEqual({
      deadline: after(now, 2 * hour),
      max_deadline: after(now, 2 * hour)
    })
  })

  it("has no deadline after its required stop, and no required stop within two hours", () => {
    const offset = fc.integer({ min: -48 * hour, max: 48 * hour })
    const inputs = fc.record({
      days: fc.nat(everyDay),
      weeks: fc.integer({ min: 1, max: 16 }),
      ran: fc.nat(30 * 24 * hour),
      ttl: fc.option(fc.integer({ min: minute, max: 30 * 24 * hour })),
      own: fc.option(offset)
    })
    fc.assert(
      fc.property(inputs, ({ days, own, ran, ttl, weeks }) => {
        const { deadline, max_deadline } = of({
          completed: after(now, -ran),
          template: aTemplate({ autostop_requirement_days_of_week: days, autostop_requirement_weeks: weeks }),
          ttl_ms: ttl,
          deadline: own === null ? null : after(now, own)
        })
        expect(max_deadline === null).toBe(days === 0)
        if (max_deadline === null) return
        expect(deadline !== null && deadline <= max_deadline).toBe(true)
        expect(max_deadline >= after(now, 2 * hour)).toBe(true)
      })
    )
  })
})

describe("activity", () => {
  const now = at("2023-02-08T12:00:00Z")
  const bump = (input: Partial<BumpInput>) =>
    bumped({ now, template: aTemplate(), ttl_ms: 8 * hour, autostart: null, deadline: null, max_deadline: null, ...input })

  it("puts off a deadline that has passed while the workspace still runs", () => {
    expect(bump({ deadline: after(now, -30 * minute) })).toBe(after(now, hour))
  })

  it("extends the deadline by the time to live if the next start is near", () => {
    const autostart = schedule("30 12 * * *")
    expect(bump({ deadline: after(now, -30 * minute), autostart })).toBe(after(now, 8 * hour + 30 * minute))
  })

  it("takes the template's time to live where users may not choose", () => {
    const template = aTemplate({ allow_user_autostop: false, default_ttl_ms: 2 * hour })
    expect(bump({ template, deadline: after(now, minute), autostart: schedule("30 12 * * *") })).toBe(after(now, 150 * minute))
  })

  it("ignores a start on a day the template does not allow", () => {
    const template = aTemplate({ autostart_block_days_of_week: everyDay })
    expect(bump({ template, deadline: after(now, minute), autostart: schedule("30 12 * * *") })).toBe(after(now, hour))
  })

  it("leaves a deadline alone that is far enough ahead", () => {
    expect(bump({ deadline: after(now, 7.5 * hour) })).toBeNull()
    expect(bump({ deadline: after(now, 0.95 * hour) })).toBeNull()
    expect(bump({ deadline: after(now, 0.94 * hour) })).toBe(after(now, hour))
  })

  it("never passes the latest deadline", () => {
    const max_deadline = after(now, 30 * minute)
    expect(bump({ deadline: after(now, minute), max_deadline })).toBe(max_deadline)
    expect(bump({ deadline: max_deadline, max_deadline })).toBeNull()
  })

  it("changes nothing without a deadline or without a bump", () => {
    expect(bump({ deadline: null })).toBeNull()
    expect(bump({ template: aTemplate({ activity_bump_ms: 0 }), deadline: after(now, minute) })).toBeNull()
  })

  it("never lowers a deadline", () => {
    const offsets = fc.integer({ min: -48 * hour, max: 48 * hour })
    fc.assert(
      fc.property(offsets, fc.option(offsets), fc.nat(10 * hour), (offset, max, activity_bump_ms) => {
        const deadline = after(now, offset)
        const max_deadline = max === null ? null : after(deadline, Math.abs(max))
        const later = bump({ deadline, max_deadline, template: aTemplate({ activity_bump_ms }) })
        if (later === null) return
        expect(later > deadline).toBe(true)
        expect(max_deadline === null || later <= max_deadline).toBe(true)
      })
    )
  })
})

/** Changes of the clock in 2031: the zone and the instant. */
const changes = [
  ["America/New_York", "2031-03-09T07:00:00Z"],
  ["America/New_York", "2031-11-02T06:00:00Z"],
  ["Europe/Berlin", "2031-03-30T01:00:00Z"],
  ["Europe/Berlin", "2031-10-26T01:00:00Z"],
  ["Australia/Lord_Howe", "2031-10-04T15:30:00Z"],
  ["Australia/Lord_Howe", "2031-04-05T15:00:00Z"],
  ["America/Santiago", "2031-09-07T04:00:00Z"],
  ["America/Santiago", "2031-04-06T03:00:00Z"],
  ["America/Havana", "2031-11-02T05:00:00Z"]
] as const
const sunday = 1 << 6

describe("over a change of the clock", () => {
  it.each([
    // The clock is put forward: the start of the day comes earlier, or later by as much as its time is left out
    ["America/New_York", "0 9 * * *", "2031-03-08T21:30:00-05:00", "2031-03-09T21:00:00-04:00"],
    ["Europe/Berlin", "30 2 * * *", "2031-03-29T16:30:00+01:00", "2031-03-30T15:30:00+02:00"],
    ["Australia/Lord_Howe", "15 2 * * *", "2031-10-04T15:00:00+10:30", "2031-10-05T14:45:00+11:00"],
    ["America/Santiago", "0 0 * * *", "2031-09-06T13:00:00-04:00", "2031-09-07T13:00:00-03:00"],
    // The clock is put back: the time to live counts from the first of the two times
    ["America/New_York", "30 1 * * *", "2031-11-01T14:00:00-04:00", "2031-11-02T12:30:00-05:00"],
    ["Europe/Berlin", "30 2 * * *", "2031-10-25T15:00:00+02:00", "2031-10-26T13:30:00+01:00"],
    ["Australia/Lord_Howe", "45 1 * * *", "2031-04-05T14:00:00+11:00", "2031-04-06T13:15:00+10:30"],
    ["America/Santiago", "30 23 * * *", "2031-04-05T12:00:00-03:00", "2031-04-06T10:30:00-04:00"],
    // A build that completes while the clock shows the time again starts next a day later
    ["America/New_York", "30 1 * * *", "2031-11-02T01:10:00-05:00", "2031-11-02T13:10:00-05:00"],
    ["Australia/Lord_Howe", "45 1 * * *", "2031-04-06T01:40:00+10:30", "2031-04-06T13:40:00+10:30"]
  ])("in %s with starts at %s, 12 hours from %s end at %s", (zone, text, completed, deadline) => {
    const autostart = schedule(`CRON_TZ=${zone} ${text}`)
    const found = deadlines({ completed: at(completed), template: aTemplate(), ttl_ms: 12 * hour, autostart, quietHours: null })
    expect(found).toStrictEqual({ deadline: at(deadline), max_deadline: null })
  })

  it.each([
    ["America/New_York", "30 2 * * *", 1, "2031-03-07T12:00:00-05:00", "2031-03-09T03:30:00-04:00"],
    ["Europe/Berlin", "30 2 * * *", 1, "2031-03-28T12:00:00+01:00", "2031-03-30T03:30:00+02:00"],
    ["Australia/Lord_Howe", "15 2 * * *", 1, "2031-10-03T12:00:00+10:30", "2031-10-05T02:45:00+11:00"],
    ["America/Santiago", "0 0 * * *", 1, "2031-09-05T12:00:00-04:00", "2031-09-07T01:00:00-03:00"],
    ["America/New_York", "30 1 * * *", 1, "2031-10-31T12:00:00-04:00", "2031-11-02T01:30:00-04:00"],
    ["Europe/Berlin", "30 2 * * *", 1, "2031-10-24T12:00:00+02:00", "2031-10-26T02:30:00+02:00"],
    ["Australia/Lord_Howe", "45 1 * * *", 1, "2031-04-04T12:00:00+11:00", "2031-04-06T01:45:00+11:00"],
    ["America/Santiago", "30 22 * * *", 1, "2031-04-04T12:00:00-03:00", "2031-04-06T22:30:00-04:00"],
    ["America/Havana", "0 0 * * *", 1, "2031-10-31T12:00:00-04:00", "2031-11-02T00:00:00-04:00"],
    // Weeks are counted over the change
    ["America/New_York", "0 3 * * *", 2, "2031-02-24T12:00:00-05:00", "2031-03-09T03:00:00-04:00"],
    ["Europe/Berlin", "0 3 * * *", 2, "2031-10-20T12:00:00+02:00", "2031-11-02T03:00:00+01:00"],
    ["Australia/Lord_Howe", "0 3 * * *", 2, "2031-09-22T12:00:00+10:30", "2031-10-05T03:00:00+11:00"],
    ["America/Santiago", "0 3 * * *", 2, "2031-03-31T12:00:00-03:00", "2031-04-06T03:00:00-04:00"],
    // The time that is shown again is no second chance: what has begun in it lasts until the next week
    ["America/New_York", "30 1 * * *", 1, "2031-11-02T01:10:00-05:00", "2031-11-09T01:30:00-05:00"],
    ["Australia/Lord_Howe", "45 1 * * *", 1, "2031-04-06T01:40:00+10:30", "2031-04-13T01:45:00+10:30"]
  ])(
    "in %s with quiet hours at %s, a stop on Sunday of every week or %i weeks, from %s, is at %s",
    (zone, text, weeks, completed, stop) => {
      const template = aTemplate({ autostop_requirement_days_of_week: sunday, autostop_requirement_weeks: weeks })
      const quietHours = schedule(`CRON_TZ=${zone} ${text}`)
      const input = { completed: at(completed), template, ttl_ms: null, autostart: null, quietHours }
      expect(deadlines(input)).toStrictEqual({ deadline: at(stop), max_deadline: at(stop) })
      const now = after(at(completed), minute)
      expect(rescheduled({ ...input, now, deadline: null, max_deadline: null })).toStrictEqual({
        deadline: at(stop),
        max_deadline: at(stop)
      })
    }
  )

  it("a required stop is on a required day within the required weeks", () => {
    const inputs = fc.record({
      change: fc.constantFrom(...changes),
      minutes: fc.integer({ min: -9 * 24 * 60, max: 2 * 24 * 60 }),
      begin: fc.nat(22),
      past: fc.constantFrom(0, 15, 30, 45),
      days: fc.integer({ min: 1, max: everyDay }),
      weeks: fc.integer({ min: 1, max: 3 })
    })
    fc.assert(
      fc.property(inputs, ({ begin, change: [zone, instant], days, minutes, past, weeks }) => {
        const completed = after(at(instant), minutes * minute)
        const quietHours = schedule(`CRON_TZ=${zone} ${past} ${begin} * * *`)
        const template = aTemplate({ autostop_requirement_days_of_week: days, autostop_requirement_weeks: weeks })
        const { max_deadline } = deadlines({ completed, template, ttl_ms: null, autostart: null, quietHours })
        const stop = max_deadline ?? completed
        expect(isOn(days, quietHours.zone, stop)).toBe(true)
        expect(stop >= after(completed, hour)).toBe(true)
        expect(stop <= after(completed, (weeks + 1) * 7 * 24 * hour + 2 * hour)).toBe(true)
      }),
      { numRuns: 500 }
    )
  })

  it.each([
    // The start's time is left out, so it comes later by as much
    ["America/New_York", "30 2 * * *", "2031-03-09T01:45:00-05:00", "2031-03-09T11:30:00-04:00"],
    ["Europe/Berlin", "30 2 * * *", "2031-03-30T01:45:00+01:00", "2031-03-30T11:30:00+02:00"],
    ["Australia/Lord_Howe", "15 2 * * *", "2031-10-05T01:45:00+10:30", "2031-10-05T10:45:00+11:00"],
    ["America/Santiago", "0 0 * * *", "2031-09-06T23:30:00-04:00", "2031-09-07T09:00:00-03:00"],
    // The first of two times is the start's
    ["America/New_York", "30 1 * * *", "2031-11-02T01:10:00-04:00", "2031-11-02T08:30:00-05:00"],
    ["Europe/Berlin", "30 2 * * *", "2031-10-26T02:10:00+02:00", "2031-10-26T09:30:00+01:00"],
    ["Australia/Lord_Howe", "45 1 * * *", "2031-04-06T01:40:00+11:00", "2031-04-06T09:15:00+10:30"],
    ["America/Santiago", "30 23 * * *", "2031-04-05T23:10:00-03:00", "2031-04-06T06:30:00-04:00"],
    // The second is no such day, so an hour is added
    ["America/New_York", "30 1 * * *", "2031-11-02T01:10:00-05:00", "2031-11-02T02:10:00-05:00"],
    ["Europe/Berlin", "30 2 * * *", "2031-10-26T02:10:00+01:00", "2031-10-26T03:10:00+01:00"],
    ["Australia/Lord_Howe", "45 1 * * *", "2031-04-06T01:40:00+10:30", "2031-04-06T02:40:00+10:30"],
    ["America/Santiago", "30 23 * * *", "2031-04-05T23:10:00-04:00", "2031-04-06T00:10:00-04:00"]
  ])("in %s with starts at %s, activity at %s puts a deadline off to %s", (zone, text, now, deadline) => {
    const autostart = schedule(`CRON_TZ=${zone} ${text}`)
    const input = { now: at(now), template: aTemplate(), ttl_ms: 8 * hour, deadline: after(at(now), -minute), max_deadline: null }
    expect(bumped({ ...input, autostart })).toBe(at(deadline))
  })
})
