import { DeploymentOptions, DeploymentValues, type Options } from "@atelier/core/deployment"
import { Ids, Timestamp, Uuid, Worker } from "@atelier/core/platform"
import { batchSize, retentionWorker } from "@atelier/core/retention"
import { expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { aBuild, aWorkspace } from "../../../../test/records/agentWorkspaces.js"
import { databases } from "../../../../test/store/databases.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"
import { storeRow } from "../../../../test/store/schema.js"
import { agentServices } from "../agents/services.js"
import { Statements } from "../../src/platform/Statements.js"

/** Where the clock of tests begins. Moving it would run all that the services do by the second. */
const now = Timestamp.fromMillis(0)
const ago = (duration: Duration.DurationInput) => Timestamp.minus(now, duration)

/** A run of the worker at an instant. */
const purged = (options: Partial<Options> = {}, at = now) =>
  Effect.gen(function* () {
    const defaults = yield* DeploymentOptions
    const clock = yield* Effect.clock
    const thenClock = Object.assign(Object.create(clock), { currentTimeMillis: Effect.succeed(Timestamp.toMillis(at)) })
    yield* Worker.runOnce(retentionWorker).pipe(
      Effect.provideService(DeploymentOptions, { ...defaults, ...options }),
      Effect.withClock(thenClock)
    )
  })

/** The values of a column, in their order. */
const left = (table: string, column: string) =>
  Effect.flatMap(Statements, (sql) =>
    Effect.map(sql<{ value: unknown }>`SELECT ${sql(column)} AS value FROM ${sql(table)} ORDER BY ${sql(column)}`, (rows) =>
      rows.map(({ value }) => value)
    )
  )

const fresh = Effect.flatMap(Ids, ({ next }) => next)

const auditEntry = (resource_target: string, time: Timestamp.Timestamp, action = "write") =>
  Effect.flatMap(fresh, (id) =>
    storeRow("audit_logs", {
      id,
      time,
      action,
      resource_target,
      user_id: Uuid.nil,
      organization_id: Uuid.nil,
      resource_id: id,
      request_id: id
    })
  )

const agentReport = (at: Timestamp.Timestamp) =>
  Effect.flatMap(fresh, (id) =>
    storeRow("workspace_agent_stats", {
      id,
      created_at: at,
      user_id: id,
      agent_id: id,
      workspace_id: id,
      template_id: id,
      rx_bytes: Timestamp.toMillis(at)
    })
  )

const reportsLeft = Effect.map(left("workspace_agent_stats", "rx_bytes"), (all) =>
  all.map((millis) => Timestamp.fromMillis(Number(millis)))
)

for (const [name, database] of databases) {
  layer(agentServices(database))(`old rows on ${name}`, (it) => {
    it.scoped("of agents' logs go with agents of earlier builds", () =>
      Effect.gen(function* () {
        const workspace = yield* aWorkspace()
        const agentOf = Effect.map(aBuild(workspace, { resources: [aResource({ agents: [anAgent()] })] }), ({ agents }) => agents[0]?.id)
        const ids = [yield* agentOf, yield* agentOf, yield* agentOf]
        const line = (workspace_agent_id: string | undefined, output: string) =>
          storeRow("workspace_agent_logs", { workspace_agent_id, output, level: "info", source_id: Uuid.nil })
        yield* line(ids[0], "earlier")
        yield* line(ids[1], "earlier, but connected lately")
        yield* line(ids[2], "latest")
        const sql = yield* Statements
        yield* sql`UPDATE workspace_agents SET created_at = ${ago("30 days")}`
        yield* sql`UPDATE workspace_agents SET last_connected_at = ${ago("6 days")} WHERE id = ${ids[1] ?? ""}`
        yield* purged({ workspaceAgentLogsRetention: Duration.zero })
        expect(yield* left("workspace_agent_logs", "output")).toHaveLength(3)
        yield* purged()
        expect(yield* left("workspace_agent_logs", "output")).toStrictEqual(["earlier, but connected lately", "latest"])
      })
    )

    it.scoped("of the audit log stay without an option, except those of connections", () =>
      Effect.gen(function* () {
        yield* auditEntry("old", ago("1000 days"))
        yield* auditEntry("new", ago("29 days"))
        yield* auditEntry("old connection", ago("91 days"), "connect")
        yield* auditEntry("new connection", ago("89 days"), "disconnect")
        yield* purged()
        expect(yield* left("audit_logs", "resource_target")).toStrictEqual(["new", "new connection", "old"])
        yield* purged({ auditLogsRetention: Duration.days(30) })
        expect(yield* left("audit_logs", "resource_target")).toStrictEqual(["new", "new connection"])
      })
    )

    it.scoped("go however many they are", () =>
      Effect.gen(function* () {
        yield* auditEntry("many", ago("91 days"), "open")
        const sql = yield* Statements
        const [one] = yield* sql`SELECT * FROM audit_logs WHERE resource_target = ${"many"}`
        const others = Array.from({ length: batchSize }, () => ({ ...one, id: globalThis.crypto.randomUUID() }))
        yield* sql`INSERT INTO audit_logs ${sql.insert(others)}`
        yield* purged()
        expect(yield* left("audit_logs", "resource_target")).not.toContain("many")
      })
    )

    it.scoped("leave sockets and timers their turn between batches", () =>
      Effect.gen(function* () {
        yield* auditEntry("batches", ago("91 days"), "open")
        const sql = yield* Statements
        const [one] = yield* sql`SELECT * FROM audit_logs WHERE resource_target = ${"batches"}`
        for (let batch = 0; batch < 5; batch++) {
          const rows = Array.from({ length: batchSize }, () => ({ ...one, id: globalThis.crypto.randomUUID() }))
          yield* sql`INSERT INTO audit_logs ${sql.insert(rows)}`
        }
        // How many entries are left at each turn of the event loop
        const seen = new Set<number>()
        const look = setInterval(
          () =>
            void Effect.runPromise(left("audit_logs", "id").pipe(Effect.provideService(Statements, sql))).then(({ length }) =>
              seen.add(length)
            ),
          0
        )
        yield* purged().pipe(Effect.withClock(Clock.make()))
        clearInterval(look)
        expect(seen.size).toBeGreaterThan(2)
      })
    )

    it.scoped("of the connection log go as the option says", () =>
      Effect.gen(function* () {
        const { organization, owner, workspace } = yield* aWorkspace()
        for (const days of [9, 11]) {
          yield* storeRow("connection_logs", {
            id: yield* fresh,
            connect_time: ago(Duration.days(days)),
            organization_id: organization.id,
            workspace_owner_id: owner.id,
            workspace_id: workspace.id,
            agent_name: `${days}`,
            type: "ssh"
          })
        }
        yield* purged()
        expect(yield* left("connection_logs", "agent_name")).toStrictEqual(["11", "9"])
        yield* purged({ connectionLogsRetention: Duration.days(10) })
        expect(yield* left("connection_logs", "agent_name")).toStrictEqual(["9"])
      })
    )

    it.scoped("of agents' reports go when they are no longer needed for usage", () =>
      Effect.gen(function* () {
        const ages = ["181 days", "179 days", "50 hours", "46 hours"] as const
        for (const age of ages) yield* agentReport(ago(age))
        yield* purged()
        expect(yield* reportsLeft).toStrictEqual(ages.slice(1).map((age) => ago(age)))
        const id = yield* fresh
        yield* storeRow("template_usage_stats", { start_time: ago("24 hours"), template_id: id, user_id: id })
        yield* purged()
        expect(yield* reportsLeft).toStrictEqual([ago("46 hours")])
        expect(yield* left("template_usage_stats", "usage_mins")).toHaveLength(1)
      })
    )

    it.scoped("of agents' reports stay while the usage of their half hour could not be computed", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        yield* sql`DELETE FROM workspace_agent_stats`
        yield* sql`DELETE FROM template_usage_stats`
        const ages = ["130 hours", "95 hours", "50 hours"] as const
        for (const age of ages) yield* agentReport(ago(age))
        const id = yield* fresh
        yield* storeRow("template_usage_stats", { start_time: ago("2 hours"), template_id: id, user_id: id })
        const values = yield* DeploymentValues
        yield* values.put(
          "template_usage_missed",
          JSON.stringify([Timestamp.toMillis(ago("95 hours")), Timestamp.toMillis(ago("60 hours"))])
        )
        yield* purged()
        expect(yield* reportsLeft).toStrictEqual(ages.slice(1).map((age) => ago(age)))
        yield* values.put("template_usage_missed", "[]")
        yield* purged()
        expect(yield* reportsLeft).toStrictEqual([])
      })
    )

    it.scoped("of spend go as the option says, but never those of this month", () =>
      Effect.gen(function* () {
        const { owner } = yield* aWorkspace()
        const spend = { user_id: owner.id, group_id: Uuid.nil, organization_id: Uuid.nil }
        for (const day of ["1969-11-01", "1969-11-02", "1969-12-31", "1970-01-01"]) yield* storeRow("ai_spend", { ...spend, day })
        yield* purged()
        expect(yield* left("ai_spend", "day")).toStrictEqual(["1969-11-02", "1969-12-31", "1970-01-01"])
        yield* purged({ aiGatewayRetention: Duration.zero })
        expect(yield* left("ai_spend", "day")).toHaveLength(3)
        yield* purged({ aiGatewayRetention: Duration.days(1) }, Timestamp.plus(now, "15 days"))
        expect(yield* left("ai_spend", "day")).toStrictEqual(["1970-01-01"])
      })
    )

    it.scoped("of keys go a week after they expired", () =>
      Effect.gen(function* () {
        const { owner } = yield* aWorkspace()
        const key = (token_name: string, expires_at: Timestamp.Timestamp) =>
          storeRow("api_keys", { id: token_name.replace(" ", ""), user_id: owner.id, login_type: "token", token_name, expires_at })
        yield* key("8 days", ago("8 days"))
        yield* key("6 days", ago("6 days"))
        yield* purged({ apiKeysRetention: Duration.zero })
        expect(yield* left("api_keys", "token_name")).toStrictEqual(["6 days", "8 days"])
        yield* purged()
        expect(yield* left("api_keys", "token_name")).toStrictEqual(["6 days"])
      })
    )

    it.scoped("of one kind that cannot be deleted keep no others", () =>
      Effect.gen(function* () {
        yield* auditEntry("other kind", ago("91 days"), "open")
        const sql = yield* Statements
        yield* sql`ALTER TABLE api_keys RENAME TO api_keys_away`
        yield* purged()
        yield* sql`ALTER TABLE api_keys_away RENAME TO api_keys`
        expect(yield* left("audit_logs", "resource_target")).not.toContain("other kind")
      })
    )
  })
}
