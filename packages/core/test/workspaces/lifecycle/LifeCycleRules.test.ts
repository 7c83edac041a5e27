import { prebuildsUserId } from "@atelier/core/access"
import { Timestamp, Uuid } from "@atelier/core/platform"
import {
  asleep,
  dueAction,
  isDormant,
  type LifeCycleAction,
  type LifeCyclePolicy,
  type LifeCycleSubject,
  type Workspace
} from "@atelier/core/workspaces"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const at = (text: string): Timestamp.Timestamp => Timestamp.fromMillis(Date.parse(text))
const anOwner = Uuid.Uuid.make("00000000-0000-4000-8000-000000000001")
const aTask = Uuid.Uuid.make("00000000-0000-4000-8000-000000000002")

/** Limits without a value. */
const noLimits: LifeCyclePolicy = {
  allow_user_autostart: true,
  autostart_block_days_of_week: 0,
  failure_ttl_ms: 0,
  time_til_dormant_ms: 0,
  time_til_dormant_autodelete_ms: 0
}

interface Fields {
  readonly workspace?: Partial<LifeCycleSubject["workspace"]>
  readonly build?: Partial<Omit<LifeCycleSubject["build"], "job">>
  readonly job?: Partial<LifeCycleSubject["build"]["job"]>
  readonly policy?: Partial<LifeCyclePolicy>
  readonly owner?: LifeCycleSubject["owner"]["status"]
}

const created = at("2031-03-04T08:00:00Z")

/** A running workspace without schedule and limits. */
const aSubject = ({ build = {}, job = {}, owner = "active", policy = {}, workspace = {} }: Fields): LifeCycleSubject => ({
  workspace: {
    owner_id: anOwner,
    deleted: false,
    autostart_schedule: null,
    next_start_at: null,
    last_used_at: created,
    dormant_at: null,
    deleting_at: null,
    task_id: null,
    ...workspace
  },
  build: {
    created_at: created,
    transition: "start",
    deadline: null,
    ...build,
    job: { started_at: created, canceled_at: null, completed_at: created, error: "", ...job }
  },
  policy: { ...noLimits, ...policy },
  owner: { status: owner }
})

/** An action as the tables name it. */
const named = (action: LifeCycleAction | null): string => {
  if (action === null) return "nothing"
  const { build, dormant } = action
  return [...(dormant ? ["dormant"] : []), ...(build === null ? [] : [`${build.transition} ${build.reason}`])].join(", ")
}

type Row = readonly [title: string, tick: string, expected: string, fields: Fields]

const running: Fields = { build: { deadline: at("2031-03-05T10:00:00Z") } }
const nine: Fields = { build: { transition: "stop" }, workspace: { autostart_schedule: "0 9 * * *" } }
const mondays = 0b1111110
const failedAt = (transition: "start" | "stop" | "delete", time = "2031-03-04T08:00:00Z"): Fields => ({
  build: { transition },
  job: { completed_at: at(time), error: "broken" },
  policy: { failure_ttl_ms: hour }
})
const unused: Fields = { policy: { time_til_dormant_ms: day } }
const dormantUntil = (time: string): Fields => ({
  build: { transition: "stop" },
  workspace: { dormant_at: created, deleting_at: at(time) },
  policy: { time_til_dormant_autodelete_ms: 2 * day }
})

describe("a tick", () => {
  it.each<Row>([
    ["a minute before the deadline", "2031-03-05T09:59:59Z", "nothing", running],
    ["at the deadline", "2031-03-05T10:00:00Z", "nothing", running],
    ["in the minute of the deadline", "2031-03-05T10:00:59Z", "nothing", running],
    ["a minute after the deadline", "2031-03-05T10:01:00Z", "stop autostop", running],
    ["in the minute of a deadline with seconds", "2031-03-05T10:00:30Z", "nothing", { build: { deadline: at("2031-03-05T10:00:00.5Z") } }],
    [
      "two minutes after a deadline with seconds",
      "2031-03-05T10:02:00Z",
      "stop autostop",
      { build: { deadline: at("2031-03-05T10:00:00.5Z") } }
    ],
    ["after the deadline of a stop", "2031-03-05T10:05:00Z", "nothing", { build: { ...running.build, transition: "stop" } }],
    ["after the deadline, dormant", "2031-03-05T10:02:00Z", "nothing", { ...running, workspace: { dormant_at: created } }],
    ["after the deadline of a task", "2031-03-05T10:01:00Z", "stop task_auto_pause", { ...running, workspace: { task_id: aTask } }],
    ["after the deadline of a failed start", "2031-03-05T10:01:00Z", "nothing", { ...running, job: { error: "broken" } }],
    ["after the deadline, deleted", "2031-03-05T10:01:00Z", "nothing", { ...running, workspace: { deleted: true } }],
    [
      "after the deadline, unclaimed",
      "2031-03-05T10:01:00Z",
      "nothing",
      { ...running, workspace: { owner_id: Uuid.Uuid.make(prebuildsUserId) } }
    ],
    ["without a deadline", "2039-01-01T00:00:00Z", "nothing", {}],
    ["without a deadline, suspended owner", "2031-03-04T08:01:00Z", "stop autostop", { owner: "suspended" }],
    ["on a canceled start", "2039-01-01T00:00:00Z", "nothing", { job: { canceled_at: created } }]
  ])("%s (%s): %s", (_, tick, expected, fields) => {
    expect(named(dueAction(aSubject(fields), at(tick)))).toBe(expected)
  })
})

describe("a scheduled start", () => {
  it.each<Row>([
    ["before nine", "2031-03-04T08:59:59Z", "nothing", nine],
    ["at nine", "2031-03-04T09:00:00Z", "start autostart", nine],
    ["late in the minute of nine", "2031-03-04T09:00:59Z", "start autostart", nine],
    ["missed while no server ran", "2031-03-04T17:00:00Z", "start autostart", nine],
    [
      "stored for tomorrow",
      "2031-03-04T09:00:00Z",
      "nothing",
      { ...nine, workspace: { ...nine.workspace, next_start_at: at("2031-03-05T09:00:00Z") } }
    ],
    [
      "of a stop made after nine",
      "2031-03-04T09:05:00Z",
      "nothing",
      { ...nine, build: { transition: "stop", created_at: at("2031-03-04T09:01:00Z") } }
    ],
    ["of a running workspace", "2031-03-04T09:00:00Z", "nothing", { workspace: nine.workspace ?? {} }],
    ["of a canceled stop", "2031-03-04T09:00:00Z", "start autostart", { ...nine, job: { canceled_at: created } }],
    ["of a failed stop", "2031-03-04T09:00:00Z", "nothing", { ...nine, job: { error: "broken" } }],
    ["of a dormant workspace", "2031-03-04T09:00:00Z", "nothing", { ...nine, workspace: { ...nine.workspace, dormant_at: created } }],
    ["of a suspended owner", "2031-03-04T10:00:00Z", "nothing", { ...nine, owner: "suspended" }],
    ["of a dormant owner", "2031-03-04T10:00:00Z", "nothing", { ...nine, owner: "dormant" }],
    ["forbidden by the template", "2031-03-04T09:00:00Z", "nothing", { ...nine, policy: { allow_user_autostart: false } }],
    ["on a Tuesday, allowed on Mondays", "2031-03-04T09:00:00Z", "nothing", { ...nine, policy: { autostart_block_days_of_week: mondays } }],
    ["before nine on Monday", "2031-03-10T08:59:00Z", "nothing", { ...nine, policy: { autostart_block_days_of_week: mondays } }],
    ["at nine on Monday", "2031-03-10T09:00:00Z", "start autostart", { ...nine, policy: { autostart_block_days_of_week: mondays } }],
    ["on no allowed day", "2031-03-10T09:00:00Z", "nothing", { ...nine, policy: { autostart_block_days_of_week: 0b1111111 } }],
    ["without a schedule", "2031-03-10T09:00:00Z", "nothing", { build: { transition: "stop" } }]
  ])("%s (%s): %s", (_, tick, expected, fields) => {
    expect(named(dueAction(aSubject(fields), at(tick)))).toBe(expected)
  })
})

describe("a failed build", () => {
  it.each<Row>([
    ["of exactly the limit", "2031-03-04T09:00:00Z", "nothing", failedAt("start")],
    ["older than the limit", "2031-03-04T09:01:00Z", "stop autostop", failedAt("start")],
    ["that was a stop", "2031-03-04T09:01:00Z", "stop autostop", failedAt("stop")],
    ["that was a deletion", "2031-03-04T09:01:00Z", "nothing", failedAt("delete")],
    ["of a task", "2031-03-04T09:01:00Z", "stop task_auto_pause", { ...failedAt("start"), workspace: { task_id: aTask } }],
    ["without a limit", "2031-03-05T09:01:00Z", "nothing", { ...failedAt("start"), policy: {} }],
    ["that was only canceled", "2031-03-05T09:01:00Z", "nothing", { job: { canceled_at: created }, policy: { failure_ttl_ms: hour } }]
  ])("%s (%s): %s", (_, tick, expected, fields) => {
    expect(named(dueAction(aSubject(fields), at(tick)))).toBe(expected)
  })
})

describe("an unused workspace", () => {
  it.each<Row>([
    ["for exactly the limit", "2031-03-05T08:00:00Z", "nothing", unused],
    ["running, for longer", "2031-03-05T08:01:00Z", "dormant, stop dormancy", unused],
    ["stopped, for longer", "2031-03-05T08:01:00Z", "dormant", { ...unused, build: { transition: "stop" } }],
    ["used since", "2031-03-05T08:01:00Z", "nothing", { ...unused, workspace: { last_used_at: at("2031-03-05T07:00:00Z") } }],
    ["without a limit", "2039-03-05T08:01:00Z", "nothing", {}],
    ["dormant already", "2031-03-05T08:02:00Z", "nothing", { ...unused, workspace: { dormant_at: created } }],
    ["at its deletion", "2031-03-07T08:00:00Z", "nothing", dormantUntil("2031-03-07T08:00:00Z")],
    ["after its deletion", "2031-03-07T08:01:00Z", "delete autodelete", dormantUntil("2031-03-07T08:00:00Z")],
    ["whose template deletes no more", "2031-04-07T08:00:00Z", "nothing", { ...dormantUntil("2031-03-07T08:00:00Z"), policy: {} }],
    [
      "a day after its deletion failed",
      "2031-03-08T08:00:00Z",
      "nothing",
      {
        ...dormantUntil("2031-03-07T07:00:00Z"),
        build: { transition: "delete" },
        job: { completed_at: at("2031-03-07T08:00:00Z"), error: "broken" }
      }
    ],
    [
      "more than a day after its deletion failed",
      "2031-03-08T08:01:00Z",
      "delete autodelete",
      {
        ...dormantUntil("2031-03-07T07:00:00Z"),
        build: { transition: "delete" },
        job: { completed_at: at("2031-03-07T08:00:00Z"), error: "broken" }
      }
    ]
  ])("%s (%s): %s", (_, tick, expected, fields) => {
    expect(named(dueAction(aSubject(fields), at(tick)))).toBe(expected)
  })
})

const instants = fc.integer({ min: Date.parse("2030-01-01"), max: Date.parse("2030-03-01") }).map(Timestamp.fromMillis)
const optional = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: null })
const limits = fc.constantFrom(0, hour, day, 7 * day)

const subjects: fc.Arbitrary<LifeCycleSubject> = fc.record({
  workspace: fc.record({
    owner_id: fc.constant(anOwner),
    deleted: fc.boolean(),
    autostart_schedule: fc.constantFrom(null, "0 9 * * *", "* * * * *", "CRON_TZ=America/New_York 30 2 * * 0"),
    next_start_at: optional(instants),
    last_used_at: instants,
    dormant_at: optional(instants),
    deleting_at: optional(instants),
    task_id: fc.constantFrom(null, aTask)
  }),
  build: fc.record({
    created_at: instants,
    transition: fc.constantFrom("start", "stop", "delete"),
    deadline: optional(instants),
    job: fc.record({
      started_at: optional(instants),
      canceled_at: optional(instants),
      completed_at: optional(instants),
      error: fc.constantFrom("", "broken")
    })
  }),
  policy: fc.record({
    allow_user_autostart: fc.boolean(),
    autostart_block_days_of_week: fc.integer({ min: 0, max: 127 }),
    failure_ttl_ms: limits,
    time_til_dormant_ms: limits,
    time_til_dormant_autodelete_ms: limits
  }),
  owner: fc.record({ status: fc.constantFrom("active", "dormant", "suspended") })
})

/** Ends of the job of an automatic build, by the job's fields. */
const ends = fc.constantFrom<"pending" | "succeeded" | "failed" | "canceled">("pending", "succeeded", "failed", "canceled")

/** The subject as an action leaves it, its build having come to an end. */
const applied = (
  subject: LifeCycleSubject,
  { build, dormant }: LifeCycleAction,
  now: Timestamp.Timestamp,
  end: "pending" | "succeeded" | "failed" | "canceled"
): LifeCycleSubject => {
  const workspace = dormant
    ? // The rest of the row does not matter
      asleep(subject.workspace as Workspace, subject.policy, now)
    : subject.workspace
  if (build === null) return { ...subject, workspace }
  const ended = end === "pending" ? null : now
  return {
    ...subject,
    workspace: { ...workspace, deleted: build.transition === "delete" && end === "succeeded" },
    build: {
      created_at: now,
      transition: build.transition,
      deadline: null,
      job: { started_at: ended, canceled_at: end === "canceled" ? now : null, completed_at: ended, error: end === "failed" ? "broken" : "" }
    }
  }
}

describe("the rules", () => {
  it("do not repeat an action in one tick, unless its deletion was canceled", () => {
    fc.assert(
      fc.property(subjects, instants, ends, (subject, now, end) => {
        const action = dueAction(subject, now)
        if (action === null || (action.build?.transition === "delete" && end === "canceled")) return
        expect(named(dueAction(applied(subject, action, now, end), now))).not.toBe(named(action))
      }),
      { numRuns: 2000 }
    )
  })

  it("do nothing while a build is unfinished", () => {
    fc.assert(
      fc.property(subjects, instants, (subject, now) => {
        const action = dueAction(subject, now)
        if (action !== null)
          expect(dueAction(applied(subject, action, now, "pending"), Timestamp.plus(now, "400 days"))).toSatisfy(
            (later: LifeCycleAction | null) => action.build === null || later === null
          )
      })
    )
  })

  it("decide the same in every second of a minute", () => {
    fc.assert(
      fc.property(subjects, instants, (subject, now) => {
        const begun = Timestamp.fromMillis(Math.floor(Timestamp.toMillis(now) / minute) * minute)
        expect(dueAction(subject, now)).toStrictEqual(dueAction(subject, begun))
      })
    )
  })

  it("never start a dormant workspace, and leave a deleted one alone", () => {
    fc.assert(
      fc.property(subjects, instants, (subject, now) => {
        const action = dueAction(subject, now)
        if (isDormant(subject.workspace))
          expect(named(action)).toBeOneOf(["nothing", "stop autostop", "stop task_auto_pause", "delete autodelete"])
        if (subject.workspace.deleted) expect(action).toBeNull()
      })
    )
  })
})
