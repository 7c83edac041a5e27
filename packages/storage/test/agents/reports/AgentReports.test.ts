import { AgentReports, AppReports, UsageReports } from "@atelier/core/agents"
import { Events, Timestamp } from "@atelier/core/platform"
import { WorkspaceBuildRepository, workspaceEvents, WorkspaceRepository } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Effect, HashMap, Logger, Metric, Option, Stream, TestClock } from "effect"
import { databases } from "../../../../../test/store/databases.js"
import { anApp } from "../../../../../test/records/resources.js"
import { aRunningAgent, until } from "../runningAgent.js"
import { agentServices } from "../services.js"
import { Statements } from "../../../src/platform/Statements.js"

const stats = {
  connections_by_proto: new Map([["TCP", 2]]),
  connection_count: 2,
  connection_median_latency_ms: 1.5,
  rx_packets: 1,
  rx_bytes: 2,
  tx_packets: 3,
  tx_bytes: 4,
  session_counts: new Map([["SSH", 2]])
}

/** What was observed of the durations of a template's builds. */
const durationsOf = (template: string) =>
  Effect.map(Metric.snapshot, (pairs) =>
    pairs.flatMap(({ metricKey, metricState }) =>
      metricKey.name === "template_workspace_build_duration_seconds" && metricKey.tags.some(({ value }) => value === template)
        ? [{ status: metricKey.tags.find(({ key }) => key === "status")?.value, metricState }]
        : []
    )
  )

for (const [name, database] of databases) {
  layer(agentServices(database))(`reports on ${name}`, (it) => {
    const statsOf = (agentId: string) =>
      Effect.flatMap(
        Statements,
        (sql) =>
          sql`SELECT connection_count, connection_median_latency_ms, rx_bytes, session_counts FROM workspace_agent_stats WHERE agent_id = ${agentId}`
      )
    const deadlineOf = (buildId: Parameters<WorkspaceBuildRepository["Type"]["byId"]>[0]) =>
      Effect.map(
        Effect.flatMap(WorkspaceBuildRepository, (builds) => builds.byId(buildId)),
        (build) => Option.getOrThrow(build).deadline
      )

    it.scoped("of use are stored within a second, and keep the workspace running", () =>
      Effect.gen(function* () {
        const now = yield* Timestamp.now
        const agent = yield* aRunningAgent({}, { deadline: Timestamp.plus(now, "10 minutes") })
        const events = yield* Events.subscribe(workspaceEvents(agent.owner.id))
        yield* TestClock.adjust("1 second")
        const used = yield* Timestamp.now
        const reports = yield* UsageReports
        yield* agent.act((self) => reports.of(self).stats(stats))
        expect(yield* Stream.runHead(events)).toMatchObject(Option.some({ event: { kind: "stats_update", agent_id: agent.id } }))
        expect(yield* deadlineOf(agent.first.build.id)).toBe(Timestamp.plus(used, "1 hour"))
        yield* TestClock.adjust("1 second")
        const [row] = yield* until(statsOf(agent.id), (rows) => rows.length > 0)
        expect(row).toStrictEqual({
          connection_count: 2,
          connection_median_latency_ms: 1.5,
          rx_bytes: 2,
          session_counts: expect.stringMatching(/"ssh": ?2/)
        })
        yield* TestClock.adjust("60 seconds")
        const lastUse = Effect.map(
          Effect.flatMap(WorkspaceRepository, (workspaces) => workspaces.byId(agent.workspace.id)),
          (workspace) => Option.getOrThrow(workspace).last_used_at
        )
        expect((yield* until(lastUse, (at) => at > used)) > used).toBe(true)
      })
    )

    it.scoped("of no connection leave the deadline alone", () =>
      Effect.gen(function* () {
        const deadline = Timestamp.plus(yield* Timestamp.now, "10 minutes")
        const agent = yield* aRunningAgent({}, { deadline })
        const reports = yield* UsageReports
        yield* agent.act((self) => reports.of(self).stats({ ...stats, connection_count: 0 }))
        yield* agent.act((self) => reports.of(self).stats(undefined))
        expect(yield* deadlineOf(agent.first.build.id)).toBe(deadline)
      })
    )

    it.scoped("of requests are in the service's log with the beginnings of their texts", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent()
        const reports = yield* UsageReports
        const lengths: Array<ReadonlyArray<unknown>> = []
        const lengthOf = (text: Option.Option<unknown>) => Option.map(text, (given) => String(given).length)
        const logger = Logger.make<unknown, void>(({ annotations }) => {
          const of = (field: string) => Option.getOrUndefined(lengthOf(HashMap.get(annotations, field)))
          lengths.push([of("method"), of("url"), of("matched_rule")])
        })
        const long = "x".repeat(10_000)
        const log = { allowed: true, time: yield* Timestamp.now, method: long, url: long, matched_rule: long }
        yield* agent
          .act((self) => reports.of(self).boundaryLogs("01020304-0506-7708-890a-0b0c0d0e0f10", [log]))
          .pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
        expect(lengths).toStrictEqual([[32, 2_048, 1_024]])
      })
    )

    it.scoped("that an app works, or no longer does, keep the workspace running", () =>
      Effect.gen(function* () {
        const deadline = Timestamp.plus(yield* Timestamp.now, "30 seconds")
        const agent = yield* aRunningAgent({ apps: [anApp()] }, { deadline, template: { activity_bump_ms: 60_000 } })
        const reports = yield* AppReports
        const report = (state: "working" | "idle") =>
          Effect.gen(function* () {
            yield* TestClock.adjust("5 seconds")
            const before = yield* deadlineOf(agent.first.build.id)
            yield* agent.act((self) => reports.of(self).status({ app_slug: "code", state, message: "", uri: "" }))
            return before !== (yield* deadlineOf(agent.first.build.id))
          })
        expect(yield* report("idle")).toBe(false)
        expect(yield* report("working")).toBe(true)
        expect(yield* report("idle")).toBe(true)
        expect(yield* report("idle")).toBe(false)
      })
    )

    it.scoped("that change something are published to the workspace's watchers", () =>
      Effect.gen(function* () {
        const healthcheck = { url: "http://localhost", interval: 5, threshold: 3 }
        const agent = yield* aRunningAgent({ apps: [anApp({ healthcheck })] })
        const [app] = agent.first.agents[0]?.apps ?? []
        const events = yield* Events.subscribe(workspaceEvents(agent.owner.id))
        const reports = yield* AgentReports
        const appReports = yield* AppReports
        yield* agent.act((self) =>
          Effect.gen(function* () {
            const mine = reports.of(self)
            const apps = appReports.of(self)
            yield* mine.lifecycle({ state: "starting", changed_at: undefined })
            const update = { id: app?.id ?? agent.id, health: "healthy" as const }
            yield* apps.healths([update])
            yield* apps.healths([update])
            yield* apps.healths([])
            yield* apps.status({ app_slug: "code", state: "working", message: "", uri: "" })
          })
        )
        const seen = yield* Stream.runCollect(Stream.take(events, 3))
        expect(Array.from(seen, (delivery) => (delivery._tag === "Event" ? delivery.event.kind : "lost"))).toStrictEqual([
          "agt_lifecycle_update",
          "app_health",
          "agt_app_status_update"
        ])
      })
    )

    it.scoped("are observed once, when all agents of the build have started", () =>
      Effect.gen(function* () {
        const agent = yield* aRunningAgent({}, { template: { name: `observed-${name.toLowerCase()}` } })
        const reports = yield* AgentReports
        yield* TestClock.adjust("20 seconds")
        yield* agent.act((self) =>
          Effect.gen(function* () {
            const mine = reports.of(self)
            yield* mine.lifecycle({ state: "starting", changed_at: undefined })
            yield* mine.lifecycle({ state: "start_timeout", changed_at: undefined })
            yield* mine.lifecycle({ state: "ready", changed_at: undefined })
          })
        )
        const observed = yield* durationsOf(`observed-${name.toLowerCase()}`)
        expect(observed).toMatchObject([{ status: "timeout", metricState: { count: 1, sum: 20 } }])
      })
    )

    it.scoped("are observed with the next report if the store could not be read", () =>
      Effect.gen(function* () {
        const template = `observed-late-${name.toLowerCase()}`
        const agent = yield* aRunningAgent({}, { template: { name: template } })
        const reports = yield* AgentReports
        const sql = yield* Statements
        yield* agent.act((self) =>
          Effect.gen(function* () {
            const mine = reports.of(self)
            yield* sql`ALTER TABLE workspace_resources RENAME TO away`
            const failed = yield* Effect.exit(mine.lifecycle({ state: "ready", changed_at: undefined }))
            yield* sql`ALTER TABLE away RENAME TO workspace_resources`
            expect(failed._tag).toBe("Failure")
            yield* mine.lifecycle({ state: "ready", changed_at: undefined })
          })
        )
        expect(yield* durationsOf(template)).toMatchObject([{ status: "success", metricState: { count: 1 } }])
      })
    )
  })
}
