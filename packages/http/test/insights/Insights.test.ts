import { AgentStatRepository } from "@atelier/core/agents"
import { InsightsRepository, usageRollup } from "@atelier/core/insights"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { Effect, Option, Schema } from "effect"
import { expect, it } from "vitest"
import { type Answer, describeServer, type Person } from "../../../../test/http/server.js"
import { completed } from "../../../../test/run/workers.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"
import { Response } from "../../src/wire/errors.js"

const Users = Schema.Struct({
  report: Schema.Struct({
    template_ids: Schema.Array(Uuid.Uuid),
    users: Schema.Array(
      Schema.Struct({
        user_id: Uuid.Uuid,
        seconds: Schema.optional(Schema.Number),
        latency_ms: Schema.optional(Schema.Struct({ p50: Schema.Number, p95: Schema.Number }))
      })
    )
  })
})
const Templates = Schema.Struct({
  interval_reports: Schema.Array(Schema.Struct({ active_users: Schema.Number, template_ids: Schema.Array(Uuid.Uuid) })),
  report: Schema.Struct({
    active_users: Schema.Number,
    apps_usage: Schema.Array(Schema.Struct({ slug: Schema.String, seconds: Schema.Number }))
  })
})
const Daus = Schema.Struct({
  entries: Schema.Array(Schema.Struct({ date: Schema.String, amount: Schema.Number })),
  tz_hour_offset: Schema.Number
})
const Statuses = Schema.Struct({
  status_counts: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.Struct({ date: Schema.String, count: Schema.Number })) })
})

const refusal = (answer: Answer) => [answer.status, answer.as(Response).validations?.map(({ field }) => field)]

describeServer("insights", (server) => {
  const get = (path: string, { token }: Person = server().owner()) => server().call("GET", path, { token })
  const day = 864e5
  const yesterday = Math.floor(Date.now() / day) * day - day
  const span = `start_time=${new Date(yesterday).toISOString()}&end_time=${new Date(yesterday + day).toISOString()}`

  /** A workspace whose agent reported each half minute of ten minutes, with latencies of 10 to 29 ms. */
  const used = () =>
    server().run(
      Effect.gen(function* () {
        const organization = yield* Effect.flatMap(OrganizationRepository, ({ default: found }) => Effect.map(found, Option.getOrThrow))
        const owner = server().owner().user.id
        const template = yield* storedTemplate({ organization_id: organization.id, created_by: owner })
        const { workspace } = yield* storedWorkspace(template, owner)
        const { insert } = yield* AgentStatRepository
        yield* insert(
          Array.from({ length: 20 }, (_, n) => ({
            id: Uuid.Uuid.make(crypto.randomUUID()),
            created_at: Timestamp.fromMillis(yesterday + 3_600_000 + n * 30_000),
            user_id: owner,
            agent_id: Uuid.nil,
            workspace_id: workspace.id,
            template_id: template.id,
            connections_by_proto: {},
            connection_count: 1,
            connection_median_latency_ms: 10 + n,
            rx_packets: 0,
            rx_bytes: 0,
            tx_packets: 0,
            tx_bytes: 0,
            session_counts: { ssh: 1 }
          }))
        )
        yield* completed(usageRollup)
        yield* completed(usageRollup)
        return { template: template.id, workspace: workspace.id, owner }
      })
    )

  it("tell the same after one rollup and after two", async () => {
    const { owner, template } = await used()
    const of = `${span}&template_ids=${template}`
    expect((await get(`/insights/user-activity?${of}`)).as(Users).report).toMatchObject({
      template_ids: [template],
      users: [{ user_id: owner, seconds: 600 }]
    })
    expect((await get(`/insights/user-latency?${of}`)).as(Users).report.users).toMatchObject([{ latency_ms: { p50: 19.5, p95: 19.5 } }])
    const templates = (await get(`/insights/templates?${of}&interval=day`)).as(Templates)
    expect(templates.interval_reports).toStrictEqual([{ active_users: 1, template_ids: [template] }])
    expect(templates.report.active_users).toBe(1)
    expect(templates.report.apps_usage.find(({ slug }) => slug === "ssh")?.seconds).toBe(600)
    const daus = (await get(`/templates/${template}/daus`)).as(Daus)
    expect(daus.entries.filter(({ amount }) => amount > 0)).toStrictEqual([
      { date: new Date(yesterday).toISOString().slice(0, 10), amount: 1 }
    ])
    expect((await get("/insights/daus?tz_offset=2")).as(Daus)).toMatchObject({ tz_hour_offset: 2 })
  })

  it("count the minutes of an application for its visitor, growing with its session", async () => {
    const { template, workspace } = await used()
    const visitor = await server().aMember()
    const at = (minute: number) => Timestamp.fromMillis(yesterday + 7_200_000 + minute * 60_000)
    await server().run(
      Effect.gen(function* () {
        const { putSessions } = yield* InsightsRepository
        const session = {
          user_id: visitor.user.id,
          workspace_id: workspace,
          agent_id: Uuid.nil,
          access_method: "path",
          slug_or_port: "web",
          session_id: Uuid.Uuid.make(crypto.randomUUID()),
          session_started_at: at(0),
          requests: 1
        } as const
        yield* putSessions([{ ...session, session_ended_at: at(5) }])
        yield* putSessions([{ ...session, session_ended_at: at(3) }])
        yield* completed(usageRollup)
      })
    )
    const { users } = (await get(`/insights/user-activity?${span}&template_ids=${template}`)).as(Users).report
    expect(users.find(({ user_id }) => user_id === visitor.user.id)?.seconds).toBe(300)
  })

  it("are hidden from members", async () => {
    const { template } = await used()
    const member = await server().aMember()
    const paths = [`/insights/templates?${span}`, `/insights/user-activity?${span}&template_ids=${template}`, `/templates/${template}/daus`]
    for (const path of paths) expect((await get(path, member)).status).toBe(404)
    for (const path of ["/insights/daus?tz_offset=x", "/insights/user-status-counts", "/deployment/stats"]) {
      expect((await get(path, member)).status).toBe(403)
    }
  })

  it.each([
    ["/insights/user-activity", ["start_time", "end_time"]],
    ["/insights/daus?tz_offset=100", ["tz_offset"]],
    ["/insights/user-status-counts?timezone=Europe/Berlin&tz_offset=-2", ["tz_offset"]],
    ["/insights/user-status-counts?timezone=Local", ["timezone"]],
    ["/insights/user-status-counts?foo=1", ["foo"]],
    [`/insights/templates?${span}&interval=month`, ["interval"]],
    ["/insights/templates?start_time=0001-01-02T00:00:00Z&end_time=2026-01-01T00:00:00Z&interval=day", ["start_time"]],
    ["/insights/templates?start_time=2000-01-01T00:00:00Z&end_time=2026-01-01T00:00:00Z&interval=day", ["start_time"]],
    ["/insights/daus?foo=1", ["foo"]],
    ["/insights/user-status-counts?interval=x", ["interval"]],
    [`/insights/templates?${span}&sections=bogus`, ["sections"]]
  ])("refuse %s, naming %j", async (path, fields) => {
    expect(refusal(await get(path))).toStrictEqual([400, fields])
  })

  it("count users by status at 61 midnights of a zone", async () => {
    const { status_counts } = (await get("/insights/user-status-counts?timezone=Europe/Berlin")).as(Statuses)
    expect(status_counts["active"]).toBeDefined()
    for (const points of Object.values(status_counts)) {
      expect(points).toHaveLength(61)
      expect(points[0]?.count).toBe(0)
    }
    expect((await get("/insights/user-status-counts?tz_offset=-3")).status).toBe(200)
  })

  it("tell what goes on in the deployment", async () => {
    expect((await get("/deployment/stats")).body).toMatchObject({
      workspaces: { connection_latency_ms: { P50: -1, P95: -1 }, rx_bytes: 0, pending: 0 },
      session_count: { ssh: 0 }
    })
  })
})
