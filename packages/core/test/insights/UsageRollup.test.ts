import { Bucket, bucketMillis, percentile, type TemplateUsage, UsersReport } from "@atelier/core/insights"
import { AppsReport, intervals, parseRange, StatusCounts } from "@atelier/core/insights"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Either } from "effect"
import { describe, expect, it } from "vitest"

const id = (n: number) => Uuid.Uuid.make(`018f0000-0000-7000-8000-${String(n).padStart(12, "0")}`)
const [template, second, user] = [id(1), id(2), id(3)]
const start = Date.parse("2023-05-02T00:00:00Z")
const at = (clock: string) => Timestamp.fromMillis(Date.parse(`2023-05-02T${clock}Z`))

const report = (clock: string, sessions: Readonly<Record<string, number>>, more: object = {}) => ({
  created_at: at(clock),
  user_id: user,
  template_id: template,
  connection_count: 1,
  connection_median_latency_ms: 0,
  session_counts: sessions,
  ...more
})
const session = (from: string, to: string, slug_or_port = "web") => ({
  user_id: user,
  template_id: template,
  access_method: "path" as const,
  slug_or_port,
  session_started_at: at(from),
  session_ended_at: at(to)
})
const bucketWith = (fill: (bucket: Bucket) => void): ReadonlyArray<TemplateUsage> => {
  const bucket = new Bucket(start)
  fill(bucket)
  return bucket.rows()
}

describe("a half hour of use", () => {
  it("counts a minute of a tool once", () => {
    const rows = bucketWith((bucket) => {
      for (const clock of ["00:00:00", "00:01:00", "00:01:30", "00:05:59.999"]) bucket.addAgent(report(clock, { ssh: 1 }))
    })
    expect(rows).toMatchObject([{ ssh_mins: 3, vscode_mins: 0, usage_mins: 3 }])
  })

  it("counts the minutes of several tools together once", () => {
    const rows = bucketWith((bucket) => {
      for (const minute of ["00", "01", "02", "03"]) bucket.addAgent(report(`00:${minute}:10`, { vscode: 1, ssh: 1 }))
      for (const minute of ["02", "03", "04", "05"]) bucket.addAgent(report(`00:${minute}:40`, { jetbrains: 1 }))
      for (const minute of ["10", "11"]) bucket.addAgent(report(`00:${minute}:40`, { reconnecting_pty: 1 }))
    })
    expect(rows).toMatchObject([{ vscode_mins: 4, ssh_mins: 4, jetbrains_mins: 4, reconnecting_pty_mins: 2, usage_mins: 8 }])
  })

  it("leaves out sessions without any connection", () => {
    const without = report("00:00:10", { ssh: 1 }, { connection_count: 0 })
    expect(bucketWith((bucket) => bucket.addAgent(without))).toStrictEqual([])
    const rows = bucketWith((bucket) => {
      bucket.addAgent(without)
      bucket.addAgent(report("00:01:10", { ssh: 1 }))
    })
    expect(rows).toMatchObject([{ ssh_mins: 2 }])
  })

  it.each([
    ["00:10:00", "00:10:40", 1],
    ["00:20:30", "00:21:30", 2],
    ["00:15:00", "00:16:00", 1],
    ["00:25:00", "00:34:30", 5],
    ["00:29:59.999", "00:29:59.999", 1]
  ])("counts the minutes that a session from %s to %s touches: %i", (from, to, minutes) => {
    expect(bucketWith((bucket) => bucket.addApp(session(from, to)))).toMatchObject([
      { app_usage_mins: { web: minutes }, usage_mins: minutes }
    ])
  })

  it("leaves out sessions of other half hours", () => {
    expect(bucketWith((bucket) => bucket.addApp(session("00:30:00", "00:31:00")))).toStrictEqual([])
  })

  it("has the median of known latencies", () => {
    const rows = bucketWith((bucket) => {
      for (const connection_median_latency_ms of [10, 20, 40, 0])
        bucket.addAgent(report("00:00:10", { ssh: 1 }, { connection_median_latency_ms }))
    })
    expect(rows).toMatchObject([{ median_latency_ms: 20 }])
  })
})

it("percentiles lie between two values", () => {
  expect([percentile([40, 10, 20], 0.5), percentile([40, 10, 20], 0.95), percentile([], 0.5)]).toStrictEqual([20, 38, null])
})

const usage = (n: number, fields: Partial<TemplateUsage> = {}): TemplateUsage => ({
  start_time: Timestamp.fromMillis(start + n * bucketMillis),
  end_time: Timestamp.fromMillis(start + (n + 1) * bucketMillis),
  template_id: template,
  user_id: user,
  median_latency_ms: null,
  usage_mins: 30,
  ssh_mins: 0,
  sftp_mins: 0,
  reconnecting_pty_mins: 0,
  vscode_mins: 30,
  jetbrains_mins: 0,
  app_usage_mins: {},
  ...fields
})

describe("a report", () => {
  const definitions = [{ template_id: template, slug: "web", display_name: "Web", icon: "" }]

  it("gives one half hour of two templates 30 minutes", () => {
    const apps = new AppsReport([])
    const users = new UsersReport()
    for (const row of [usage(0), usage(0, { template_id: second }), usage(1, { vscode_mins: 10, usage_mins: 10 })]) {
      apps.add(row)
      users.add(row)
    }
    expect(apps.apps_usage[0]).toMatchObject({ slug: "vscode", seconds: 2400, times_used: 0, template_ids: [template, second] })
    expect(users.report).toMatchObject([{ seconds: 2400, latency_ms: { p50: -1, p95: -1 } }])
  })

  it("counts the runs of half hours in which an application was used", () => {
    const apps = new AppsReport(definitions)
    for (const n of [0, 1, 4, 8]) apps.add(usage(n, { app_usage_mins: { web: 5, 8080: 3 } }))
    expect(apps.apps_usage.slice(5)).toMatchObject([{ type: "app", slug: "web", seconds: 1200, times_used: 3 }])
  })

  it("has five tools without any use", () => {
    expect(new AppsReport(definitions).apps_usage.map(({ seconds, slug }) => [slug, seconds])).toStrictEqual(
      ["vscode", "jetbrains", "reconnecting-pty", "ssh", "sftp"].map((slug) => [slug, 0])
    )
  })
})

describe("the span of a report", () => {
  const now = Date.parse("2023-05-10T10:20:00Z")
  const fields = (from: string, to: string) =>
    Either.match(parseRange(from, to, now), {
      onLeft: ({ validations = [] }) => validations.map(({ field }) => field),
      onRight: ({ end, start }) => `${start.text} ${end.text}`
    })

  it.each([
    ["", "", ["start_time", "end_time"]],
    ["x", "y", ["start_time"]],
    ["2023-05-01T01:00:00Z", "2023-05-02T00:00:00Z", ["start_time"]],
    ["2023-05-01T00:00:00Z", "2023-05-09T01:00:00Z", ["end_time"]],
    ["2023-05-01T00:00:00Z", "2023-05-10T10:01:00Z", ["end_time"]],
    ["2023-05-01T00:00:00Z", "2023-05-10T12:00:00Z", ["end_time"]],
    ["2023-05-03T00:00:00Z", "2023-05-02T00:00:00Z", ["end_time"]],
    ["0001-01-01T00:00:00Z", "2023-05-02T00:00:00Z", ["start_time"]],
    ["2023-05-01T24:00:00Z", "2023-05-09T00:00:00Z", ["start_time"]],
    ["2023-05-01T00:00:00.500Z", "2023-05-10T11:00:00Z", "2023-05-01T00:00:00.5Z 2023-05-10T11:00:00Z"],
    ["2023-05-01T00:00:00+02:00", "2023-05-02T00:00:00-05:00", "2023-05-01T00:00:00+02:00 2023-05-02T00:00:00-05:00"]
  ])("from %s to %s: %j", (from, to, expected) => {
    expect(fields(from, to)).toStrictEqual(expected)
  })

  it.each([
    [5, undefined],
    [6, 1],
    [7, 1],
    [9, undefined],
    [12, undefined],
    [13, 2],
    [14, 2]
  ])("of %i days has %j weeks", (days, weeks) => {
    const range = Either.getOrThrow(
      parseRange("2023-04-01T00:00:00Z", Timestamp.fromMillis(Date.parse("2023-04-01T00:00:00Z") + days * 864e5), now)
    )
    expect(intervals(range, "week")?.length).toBe(weeks)
  })
})

it("users count by their last status at an instant, until they are deleted", () => {
  const counts = new StatusCounts([at("01:00:00"), at("02:00:00"), at("03:00:00")])
  counts.add({ user_id: user, status: "dormant", changed_at: at("00:30:00") })
  counts.add({ user_id: second, status: "active", changed_at: at("00:40:00") })
  counts.add({ user_id: user, status: "active", changed_at: at("02:00:00") })
  counts.add({ user_id: second, status: null, changed_at: at("02:30:00") })
  const series = Object.entries(counts.counts).map(([status, points]) => [status, points.map(({ count }) => count)])
  expect(series).toStrictEqual([
    ["active", [1, 2, 1]],
    ["dormant", [1, 0, 0]]
  ])
})
