import { Timestamp, Uuid } from "@atelier/core/platform"
import { scheduleViolation } from "@atelier/core/provisioning"
import { type ExistingPrebuild, type PrebuildActions, reconcile, type WantedPrebuilds } from "@atelier/core/workspaces"
import { Duration } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const limits = { backoffInterval: Duration.seconds(2), lookback: Duration.hours(1), hardLimit: 3 }

/** The status and the latest build of a workspace in each state. */
const states = {
  running: ["running", 1, "start"],
  starting: ["starting", 1, "start"],
  pending: ["pending", 1, "start"],
  failed: ["failed", 1, "start"],
  canceled: ["canceled", 1, "start"],
  stopped: ["stopped", 2, "stop"],
  stopping: ["stopping", 2, "stop"],
  deleting: ["deleting", 2, "delete"],
  "delete failed": ["failed", 2, "delete"]
} as const
type State = keyof typeof states

interface Given {
  readonly desired: number
  readonly ttl?: number
  /** Seconds since the preset was invalidated. */
  readonly invalidated?: number
  readonly status?: WantedPrebuilds["status"]
  readonly standing?: WantedPrebuilds["standing"]
  readonly timezone?: string
  readonly schedule?: WantedPrebuilds["policy"]["schedule"]
  readonly at?: string
}

/** The age in seconds of a workspace, and its state. */
type Existing = readonly [age: number, state: State]

interface Expected extends Partial<Pick<PrebuildActions, "create" | "status">> {
  /** Places in the list of workspaces. */
  readonly delete?: ReadonlyArray<number>
  readonly abandon?: ReadonlyArray<number>
}

const idOf = (index: number): Uuid.Uuid => Uuid.Uuid.make(`00000000-0000-7000-8000-${String(index).padStart(12, "0")}`)

const decide = (given: Given, existing: ReadonlyArray<Existing>): PrebuildActions => {
  const now = Timestamp.fromMillis(Date.parse(given.at ?? "2026-03-04T12:00:00.000Z"))
  const ago = (seconds: number) => Timestamp.minus(now, Duration.seconds(seconds))
  const wanted: WantedPrebuilds = {
    desired: given.desired,
    policy: { ttl_seconds: given.ttl ?? 0, timezone: given.timezone ?? "", schedule: given.schedule ?? [] },
    last_invalidated_at: given.invalidated === undefined ? null : ago(given.invalidated),
    status: given.status ?? "healthy",
    standing: given.standing ?? "active"
  }
  const found = existing.map(([age, state], index): ExistingPrebuild => {
    const [status, number, transition] = states[state]
    return { id: idOf(index), created_at: ago(age), status, build: { created_at: ago(age), number, transition } }
  })
  return reconcile(wanted, found, limits, now)
}

/** Recorded cases: the presets, the workspaces, and the actions. A claimed workspace belongs to a user. */
const cases: ReadonlyArray<readonly [title: string, given: Given, existing: ReadonlyArray<Existing>, expected: Expected]> = [
  [
    "deletes nothing while it backs off",
    { desired: 1, ttl: 3600 },
    [
      [3700, "running"],
      [0, "failed"]
    ],
    {}
  ],
  ["replaces a canceled workspace", { desired: 1 }, [[10, "canceled"]], { create: 1 }],
  ["replaces a claimed workspace", { desired: 1 }, [], { create: 1 }],
  ["leaves and replaces a workspace whose delete failed", { desired: 1 }, [[300, "delete failed"]], { create: 1 }],
  ["deletes running workspaces of a deleted template", { desired: 1, standing: "superseded" }, [[60, "running"]], { delete: [0] }],
  ["replaces a workspace that is being deleted", { desired: 1 }, [[60, "deleting"]], { create: 1 }],
  ["lets the builds of a deprecated template wait", { desired: 1, standing: "deprecated" }, [[60, "pending"]], {}],
  ["deletes running workspaces of a deprecated template", { desired: 1, standing: "deprecated" }, [[60, "running"]], { delete: [0] }],
  [
    "deletes all where none is desired",
    { desired: 0 },
    [
      [60, "running"],
      [60, "running"]
    ],
    { delete: [0, 1] }
  ],
  ["counts a dormant workspace", { desired: 1 }, [[60, "running"]], {}],
  [
    "does nothing where there are enough",
    { desired: 2 },
    [
      [60, "running"],
      [60, "running"]
    ],
    {}
  ],
  [
    "deletes expired workspaces before those that are too many",
    { desired: 1, ttl: 3600 },
    [
      [3700, "running"],
      [3000, "running"],
      [2000, "running"]
    ],
    { delete: [0, 1] }
  ],
  ["leaves an expired workspace that failed", { desired: 1, ttl: 3600 }, [[3700, "failed"]], { create: 1 }],
  [
    "replaces expired workspaces",
    { desired: 2, ttl: 3600 },
    [
      [3700, "running"],
      [3500, "running"]
    ],
    { create: 1, delete: [0] }
  ],
  ["backs off after a failure", { desired: 1 }, [[0, "failed"]], {}],
  ["backs off until the failure is as old as the interval", { desired: 1 }, [[1, "failed"]], {}],
  ["tries again when the failure is as old as the interval", { desired: 1 }, [[2, "failed"]], { create: 1 }],
  ["tries again after the backoff", { desired: 1 }, [[300, "failed"]], { create: 1 }],
  [
    "forgets failures before the lookback",
    { desired: 1 },
    [
      [3700, "failed"],
      [3650, "failed"]
    ],
    { create: 1 }
  ],
  [
    "deletes expired workspaces behind the hard limit",
    { desired: 1, ttl: 3600 },
    [
      [3700, "running"],
      [300, "failed"],
      [200, "failed"],
      [100, "failed"]
    ],
    { delete: [0], status: "hard_limited" }
  ],
  [
    "replaces workspaces made before an invalidation",
    { desired: 2, invalidated: 600 },
    [
      [900, "running"],
      [300, "running"]
    ],
    { create: 1, delete: [0] }
  ],
  ["creates all that are desired", { desired: 2 }, [], { create: 2 }],
  [
    "deletes failed and stopped workspaces of a superseded version",
    { desired: 2, standing: "superseded" },
    [
      [300, "failed"],
      [60, "stopped"]
    ],
    { delete: [0, 1] }
  ],
  [
    "abandons waiting builds of a superseded version",
    { desired: 2, standing: "superseded" },
    [
      [60, "pending"],
      [60, "running"]
    ],
    { delete: [1], abandon: [0] }
  ],
  [
    "deletes running workspaces of a superseded version",
    { desired: 2, standing: "superseded" },
    [
      [60, "running"],
      [60, "running"]
    ],
    { delete: [0, 1] }
  ],
  ["lets a started build of a superseded version end", { desired: 1, standing: "superseded" }, [[60, "starting"]], {}],
  [
    "creates what is missing",
    { desired: 3 },
    [
      [60, "running"],
      [60, "running"]
    ],
    { create: 1 }
  ],
  ["counts a waiting workspace", { desired: 2 }, [[60, "pending"]], { create: 1 }],
  [
    "takes a day of the month or a weekday",
    { desired: 1, schedule: [{ cron: "* * 23 * 0", instances: 2 }], timezone: "UTC", at: "2026-11-22T16:35:26.076Z" },
    [],
    { create: 2 }
  ],
  [
    "keeps the base number outside of the schedule",
    { desired: 1, schedule: [{ cron: "* 21 * * *", instances: 3 }], timezone: "UTC", at: "2026-11-22T16:35:02.675Z" },
    [[60, "running"]],
    {}
  ],
  [
    "follows the schedule that holds",
    { desired: 1, schedule: [{ cron: "* 16-16 * * *", instances: 3 }], timezone: "UTC", at: "2026-11-22T16:34:54.964Z" },
    [[60, "running"]],
    { create: 2 }
  ],
  [
    "reads the schedule in its time zone",
    { desired: 1, schedule: [{ cron: "* 1 * * *", instances: 2 }], timezone: "Asia/Tokyo", at: "2026-11-22T16:35:07.310Z" },
    [],
    { create: 2 }
  ],
  [
    "keeps the base number without a time zone",
    { desired: 1, schedule: [{ cron: "* * * * *", instances: 3 }], timezone: "", at: "2026-11-22T16:35:35.951Z" },
    [],
    { create: 1 }
  ],
  [
    "deletes all where the schedule says 0",
    { desired: 1, schedule: [{ cron: "* * * * 0", instances: 0 }], timezone: "UTC", at: "2026-11-22T16:35:17.704Z" },
    [[60, "running"]],
    { delete: [0] }
  ],
  ["counts a starting workspace", { desired: 2 }, [[60, "starting"]], { create: 1 }],
  [
    "creates where the stored status has no failures behind it",
    { desired: 1, status: "hard_limited" },
    [],
    { create: 1, status: "hard_limited" }
  ],
  ["replaces a stopped workspace", { desired: 1 }, [[60, "stopped"]], { create: 1 }],
  ["replaces a stopping workspace", { desired: 1 }, [[60, "stopping"]], { create: 1 }],
  [
    "gives up after three failures in a row",
    { desired: 1 },
    [
      [300, "failed"],
      [200, "failed"],
      [100, "failed"]
    ],
    { status: "hard_limited" }
  ],
  [
    "deletes the oldest of too many",
    { desired: 1 },
    [
      [600, "running"],
      [1800, "running"],
      [1200, "running"]
    ],
    { delete: [1, 2] }
  ],
  [
    "deletes no running workspace for a starting one",
    { desired: 1 },
    [
      [60, "running"],
      [60, "starting"]
    ],
    {}
  ],
  ["keeps workspaces for ever without a time to live", { desired: 1 }, [[86400, "running"]], {}],
  [
    "goes on after a success",
    { desired: 2 },
    [
      [300, "failed"],
      [200, "failed"],
      [100, "running"]
    ],
    { create: 1 }
  ],
  [
    "deletes too many of a preset that was refused",
    { desired: 1, status: "validation_failed" },
    [
      [100, "running"],
      [50, "running"]
    ],
    { delete: [0], status: "validation_failed" }
  ],
  ["creates nothing of a preset that was refused", { desired: 1, status: "validation_failed" }, [], { status: "validation_failed" }]
]

describe("the reconciliation of prebuilt workspaces", () => {
  it.each(cases)("%s", (_, given, existing, expected) => {
    const actions = decide(given, existing)
    expect({ ...actions, delete: [...actions.delete].toSorted() }).toStrictEqual({
      create: expected.create ?? 0,
      delete: (expected.delete ?? []).map(idOf).toSorted(),
      abandon: (expected.abandon ?? []).map(idOf),
      status: expected.status ?? "healthy"
    })
  })

  const anyState = fc.constantFrom<State>(
    "running",
    "starting",
    "pending",
    "failed",
    "canceled",
    "stopped",
    "stopping",
    "deleting",
    "delete failed"
  )
  const anyExisting = fc.array(fc.tuple(fc.integer({ min: 0, max: 10_000 }), anyState), { maxLength: 12 })
  const anyGiven = fc.record({
    desired: fc.integer({ min: 0, max: 6 }),
    ttl: fc.constantFrom(0, 3600),
    standing: fc.constantFrom<WantedPrebuilds["standing"]>("active", "deprecated", "superseded")
  })

  it("never has more than is desired, and deletes only what there is, once", () => {
    fc.assert(
      fc.property(anyGiven, anyExisting, (given, existing) => {
        const actions = decide(given, existing)
        const touched = [...actions.delete, ...actions.abandon]
        expect(new Set(touched).size).toBe(touched.length)
        expect(touched.every((id) => existing.some((_, index) => idOf(index) === id))).toBe(true)
        const counted = existing.filter(([, state], index) => {
          return ["running", "starting", "pending"].includes(state) && !touched.includes(idOf(index))
        }).length
        if (actions.create > 0) expect(counted + actions.create).toBe(given.desired)
        if (given.standing !== "active") expect(actions.create).toBe(0)
      })
    )
  })

  it("has nothing left to do once its actions are carried out", () => {
    fc.assert(
      fc.property(anyGiven, anyExisting, (given, existing) => {
        const { abandon, create, delete: deleted } = decide(given, existing)
        const left = existing.map(([age, state], index): Existing => [
          age,
          deleted.includes(idOf(index)) || abandon.includes(idOf(index)) ? "deleting" : state
        ])
        const made = Array.from({ length: create }, (): Existing => [1, "pending"])
        const after = decide(given, [...left, ...made])
        expect([after.create, after.delete, after.abandon]).toStrictEqual([0, [], []])
      })
    )
  })
})

describe("the schedules of a preset", () => {
  const violation = (timezone: string, ...crons: ReadonlyArray<string>) =>
    scheduleViolation({ ttl_seconds: 0, timezone, schedule: crons.map((cron) => ({ cron, instances: 1 })) })

  it.each([
    ["other hours", ["* 8-12 * * *", "* 13-18 * * *"]],
    ["other weekdays", ["* 8-12 * * 1-5", "* 8-12 * * 6,0"]],
    ["other months", ["* * * 1-6 *", "* * * 7-12 *"]]
  ])("may differ in %s", (_, crons) => {
    expect(violation("Europe/Berlin", ...crons)).toBeUndefined()
  })

  it.each([
    ["overlap", "UTC", ["* 8-12 * * 1-5", "* 12-14 * * 5"]],
    ["overlap where one names a day and the other a weekday", "UTC", ["* * 1 * *", "* * * * 1"]],
    ["name minutes", "UTC", ["5 * * * *"]],
    ["have an unknown zone", "Mars/Base", ["* * * * *"]],
    ["have no zone", "", ["* * * * *"]]
  ])("are refused that %s", (_, zone, crons) => {
    expect(violation(zone, ...crons)).toEqual(expect.stringMatching(/^has /))
  })
})
