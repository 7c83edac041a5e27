import { SqlClient } from "@effect/sql"
import { notificationEvents } from "@atelier/core/notifications"
import { Timestamp } from "@atelier/core/platform"
import { ProvisionerJobs } from "@atelier/core/provisioning"
import { WorkspaceLifeCycle } from "@atelier/core/workspaces"
import { Postgres } from "@atelier/storage-postgres"
import { Duration, Effect, Exit, Fiber, HashMap, Layer, Logger, LogLevel, Option, Scope, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { databaseUrl } from "../../../../../test/store/databases.js"
import { statementsOf } from "../../../../../test/store/statements.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { type Person, startServer, type TestServer } from "../../../../../test/http/server.js"
import { anImportedVersion, aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aWorkspace, getWorkspace } from "../../../../../test/http/workspaceCalls.js"
import { describeAgents, withToken } from "../../agents/AgentServer.js"

const hour = 3_600_000
const day = 24 * hour

const licensed = {
  provisioner: testEngines,
  entitlements: { has: (feature: string) => feature === "access_control" || feature === "advanced_template_scheduling" }
}

const execute = (server: TestServer, statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

/** A clock that was moved has left the daemons' last signs of life behind. */
const daemonsAreSeen = (server: TestServer) =>
  server.run(
    Effect.gen(function* () {
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      yield* sql`UPDATE provisioner_daemons SET last_seen_at = ${yield* Timestamp.now}`
    })
  )

/** Moves the clock; sessions go on. */
const later = async (server: TestServer, duration: Duration.DurationInput) => {
  server.advance(duration)
  await execute(server, (sql) => sql`UPDATE api_keys SET expires_at = '2999-01-01T00:00:00.000Z'`)
}

/** One tick; answers for which workspaces it has warned. */
const tick = async (server: TestServer): Promise<ReadonlyArray<unknown>> => {
  await daemonsAreSeen(server)
  const warned: Array<unknown> = []
  const warnings = Logger.make(({ annotations, logLevel }) => {
    if (logLevel === LogLevel.Warning) warned.push(Option.getOrUndefined(HashMap.get(annotations, "workspace")))
  })
  await server.run(
    Effect.flatMap(WorkspaceLifeCycle, ({ worker }) => worker.run).pipe(
      Logger.withMinimumLogLevel(LogLevel.Warning),
      Effect.provide(Logger.add(warnings))
    )
  )
  return warned
}

/** The workspace once its latest build has ended. */
const rested = async (server: TestServer, id: string, person: Person) => {
  const { latest_build } = await getWorkspace(server, id, person)
  await server.run(Effect.flatMap(ProvisionerJobs, ({ follow }) => Stream.runDrain(follow(latest_build.job.id, 0))))
  return getWorkspace(server, id, person)
}

const buildOf = ({ latest_build: { build_number, initiator_id, reason, status } }: Awaited<ReturnType<typeof getWorkspace>>) => ({
  build_number,
  initiator_id,
  reason,
  status
})

describeAgents(
  "a workspace that is left to itself",
  (server) => {
    const change = async (path: string, body: object, { token }: Person) => server().call("PUT", path, { token, body })

    it("starts, is used, is extended, stops, becomes dormant and is deleted", async () => {
      const member = await server().aMember()
      const agentToken = crypto.randomUUID()
      const template = await aTemplate(server(), { resources: withToken(agentToken) }, { dormant_ttl_ms: 7 * day, delete_ttl_ms: 2 * day })
      const now = () => server().run(Effect.map(Timestamp.now, Timestamp.toMillis))
      const inAnHour = new Date((await now()) + hour)
      const autostart_schedule = `${inAnHour.getUTCMinutes()} ${inAnHour.getUTCHours()} * * *`
      const { id } = await aWorkspace(server(), template, member, { ttl_ms: 2 * hour, autostart_schedule })
      const initiator_id = member.user.id
      const state = async () => buildOf(await rested(server(), id, member))
      await aBuild(server(), { id }, member, { transition: "stop" })

      await later(server(), Duration.minutes(50))
      await tick(server())
      expect((await state()).build_number).toBe(2)
      await later(server(), Duration.minutes(11))
      await tick(server())
      expect(await state()).toStrictEqual({ build_number: 3, reason: "autostart", status: "running", initiator_id })
      expect((await change(`/workspaces/${id}/autostart`, { schedule: "" }, member)).status).toBe(204)

      await later(server(), Duration.minutes(115))
      const before = await getWorkspace(server(), id, member)
      const { agent, close } = await server().connect(agentToken)
      await Effect.runPromise(agent.UpdateLifecycle({ lifecycle: { state: "READY" } }))
      await Effect.runPromise(agent.UpdateStats({ stats: { connection_count: 1, rx_bytes: 10 } }))
      await expect.poll(async () => (await getWorkspace(server(), id, member)).latest_build.deadline).not.toBe(before.latest_build.deadline)
      const bumped = (await getWorkspace(server(), id, member)).latest_build.deadline
      expect(Math.abs(Date.parse(bumped ?? "") - (await now()) - hour)).toBeLessThan(60_000)
      await close()
      await later(server(), Duration.minutes(10))
      await tick(server())
      expect((await state()).build_number).toBe(3)

      const deadline = new Date((await now()) + 3 * hour).toISOString()
      expect((await change(`/workspaces/${id}/extend`, { deadline }, member)).status).toBe(200)
      await later(server(), Duration.minutes(178))
      await tick(server())
      expect((await state()).build_number).toBe(3)
      await later(server(), Duration.minutes(4))
      await tick(server())
      expect(await state()).toStrictEqual({ build_number: 4, reason: "autostop", status: "stopped", initiator_id })

      await later(server(), Duration.days(8))
      await tick(server())
      const dormant = await rested(server(), id, member)
      expect(dormant.dormant_at).not.toBeNull()
      expect(Date.parse(dormant.deleting_at ?? "") - Date.parse(dormant.dormant_at ?? "")).toBe(2 * day)
      expect(dormant.latest_build.build_number).toBe(4)
      const entries = await server().run(auditEntries({ resource_id: before.id }))
      expect(entries.at(-1)).toMatchObject({
        action: "write",
        status_code: 200,
        user_id: initiator_id,
        request_id: "00000000-0000-0000-0000-000000000000",
        diff: { dormant_at: {} }
      })

      await later(server(), Duration.hours(49))
      await tick(server())
      expect(await state()).toStrictEqual({ build_number: 5, reason: "autodelete", status: "deleted", initiator_id })
      await tick(server())
      expect((await state()).build_number).toBe(5)
    })

    it("reminds its owner of a stop once for each deadline", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server(), {}, { time_til_autostop_notify_ms: hour })
      const { id } = await aWorkspace(server(), template, member, { ttl_ms: 2 * hour })
      const { user } = member
      const reminders = async () => {
        await tick(server())
        return server().store(
          Effect.flatMap(SqlClient.SqlClient, (sql) =>
            Effect.map(
              sql`SELECT id FROM notification_messages WHERE user_id = ${user.id} AND method = 'inbox'
                AND template_id = ${notificationEvents.workspaceAutostopReminder.id}`,
              (rows) => rows.length
            )
          )
        )
      }
      const used = async (minutesAgo: number) => {
        const at = Timestamp.minus(await server().run(Timestamp.now), minutesAgo * 60_000)
        await execute(server(), (sql) => sql`UPDATE workspaces SET last_used_at = ${at} WHERE id = ${id}`)
      }
      await later(server(), Duration.minutes(55))
      expect(await reminders()).toBe(0)
      await later(server(), Duration.minutes(10))
      await used(10)
      expect(await reminders()).toBe(0)
      await used(20)
      expect(await reminders()).toBe(1)
      expect(await reminders()).toBe(1)
      const deadline = (await getWorkspace(server(), id, member)).latest_build.deadline ?? ""
      const extended = new Date(Date.parse(deadline) + 2 * hour).toISOString()
      expect((await change(`/workspaces/${id}/extend`, { deadline: extended }, member)).status).toBe(200)
      expect(await reminders()).toBe(1)
      await later(server(), Duration.hours(2))
      expect(await reminders()).toBe(2)
    })

    it("becomes dormant and stops when it runs unused", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server(), {}, { dormant_ttl_ms: day })
      const { id } = await aWorkspace(server(), template, member)
      await later(server(), Duration.hours(25))
      await tick(server())
      const dormant = await rested(server(), id, member)
      expect(dormant.dormant_at).not.toBeNull()
      expect(buildOf(dormant)).toMatchObject({ reason: "dormancy", status: "stopped" })
      await tick(server())
      expect((await getWorkspace(server(), id, member)).latest_build.build_number).toBe(2)
    })

    it("stops when its owner is suspended, and does not start then", async () => {
      const member = await server().aMember()
      const { id } = await aWorkspace(server(), await aTemplate(server()), member, { autostart_schedule: "* * * * *" })
      const admin = server().owner()
      expect((await change(`/users/${member.user.id}/status/suspend`, {}, admin)).status).toBe(200)
      await tick(server())
      expect(buildOf(await rested(server(), id, admin))).toMatchObject({ reason: "autostop", status: "stopped", build_number: 2 })
      await later(server(), Duration.hours(2))
      await tick(server())
      expect((await getWorkspace(server(), id, admin)).latest_build.build_number).toBe(2)
      expect((await change(`/users/${member.user.id}/status/activate`, {}, admin)).status).toBe(200)
      await tick(server())
      expect(buildOf(await rested(server(), id, admin))).toMatchObject({ reason: "autostart", status: "running" })
    })

    it("is stopped when its build failed long ago", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server(), {}, { failure_ttl_ms: hour })
      const { id, latest_build } = await aWorkspace(server(), template, member)
      await execute(server(), (sql) => sql`UPDATE provisioner_jobs SET error = 'broken' WHERE id = ${latest_build.job.id}`)
      await later(server(), Duration.minutes(59))
      await tick(server())
      expect((await getWorkspace(server(), id, member)).latest_build.build_number).toBe(1)
      await later(server(), Duration.minutes(3))
      await tick(server())
      expect(buildOf(await rested(server(), id, member))).toMatchObject({ reason: "autostop", status: "stopped", build_number: 2 })
    })

    it("waits while no daemon was seen that could build it", async () => {
      const member = await server().aMember()
      const { id } = await aWorkspace(server(), await aTemplate(server()), member, { ttl_ms: hour })
      await later(server(), Duration.minutes(65))
      await execute(server(), (sql) => sql`UPDATE provisioner_daemons SET last_seen_at = '2026-01-01T00:00:00.000Z'`)
      await server().run(Effect.flatMap(WorkspaceLifeCycle, ({ worker }) => worker.run))
      expect((await getWorkspace(server(), id, member)).latest_build.build_number).toBe(1)
      await tick(server())
      expect(buildOf(await rested(server(), id, member))).toMatchObject({ reason: "autostop", build_number: 2 })
    })

    it("stops once, however often a tick was interrupted before", async () => {
      const member = await server().aMember()
      const { id } = await aWorkspace(server(), await aTemplate(server()), member, { ttl_ms: hour })
      await later(server(), Duration.minutes(65))
      await daemonsAreSeen(server())
      for (const turns of [0, 1, 3, 10, 20, 40, 80]) {
        await server().run(
          Effect.gen(function* () {
            const { worker } = yield* WorkspaceLifeCycle
            const ticking = yield* Effect.fork(worker.run)
            yield* Effect.repeatN(Effect.yieldNow(), turns)
            yield* Fiber.interrupt(ticking)
          })
        )
      }
      await tick(server())
      expect(buildOf(await rested(server(), id, member))).toMatchObject({ reason: "autostop", status: "stopped", build_number: 2 })
    })

    it("stops together with others, and alone if one of them cannot be stopped", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server())
      const ids: Array<string> = []
      for (let index = 0; index < 4; index++) ids.push((await aWorkspace(server(), template, member, { ttl_ms: hour })).id)
      const [refused = "", queued = ""] = ids
      await later(server(), Duration.minutes(65))
      await daemonsAreSeen(server())
      const refuse = (name: string, id: string, message: string) =>
        execute(
          server(),
          (sql) => sql`CREATE TRIGGER ${sql(name)} BEFORE INSERT ON workspace_builds WHEN NEW.workspace_id = ${sql.literal(`'${id}'`)}
            BEGIN SELECT RAISE(ABORT, ${sql.literal(`'${message}'`)}); END`
        )
      await refuse("refuse", refused, "no room")
      // As if another replica had queued the same build between the read and the write
      await refuse("queue", queued, "UNIQUE constraint failed: workspace_builds.workspace_id, workspace_builds.build_number")
      expect(await tick(server())).toStrictEqual([refused])
      for (const id of ids) {
        const isStopped = id !== refused && id !== queued
        expect((await rested(server(), id, member)).latest_build.build_number).toBe(isStopped ? 2 : 1)
      }
      await execute(server(), (sql) => sql`DROP TRIGGER refuse`)
      await execute(server(), (sql) => sql`DROP TRIGGER queue`)
      const { statements } = await server().run(statementsOf(Effect.flatMap(WorkspaceLifeCycle, ({ worker }) => worker.run)))
      expect(statements.filter(({ text }) => /^INSERT INTO "?workspace_builds"? /.test(text))).toHaveLength(1)
      for (const id of [refused, queued]) {
        expect(buildOf(await rested(server(), id, member))).toMatchObject({
          reason: "autostop",
          initiator_id: member.user.id,
          build_number: 2
        })
      }
    })

    it("stops alone if the states of several are large", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server())
      const ids: Array<string> = []
      for (let index = 0; index < 3; index++) ids.push((await aWorkspace(server(), template, member, { ttl_ms: hour })).id)
      for (const [index, id] of ids.entries()) {
        const bytes = index === 0 ? 100_000 : 600_000
        await execute(
          server(),
          (sql) =>
            sql`UPDATE workspace_builds SET provisioner_state = randomblob(${bytes}), sealed_state_key_id = '' WHERE workspace_id = ${id}`
        )
      }
      await later(server(), Duration.minutes(65))
      await daemonsAreSeen(server())
      const { statements } = await server().run(statementsOf(Effect.flatMap(WorkspaceLifeCycle, ({ worker }) => worker.run)))
      expect(statements.filter(({ text }) => /^INSERT INTO "?workspace_builds"? /.test(text))).toHaveLength(2)
      for (const id of ids) expect((await rested(server(), id, member)).latest_build.build_number).toBe(2)
    })

    it("starts with the active version if its owner wants that", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server())
      const { id } = await aWorkspace(server(), template, member, { autostart_schedule: "* * * * *", automatic_updates: "always" })
      const activate = async (source: object) => {
        const version = await anImportedVersion(server(), source, { template_id: template.id })
        await server().call("PATCH", `/templates/${template.id}/versions`, { token: server().owner().token, body: { id: version.id } })
        return version.id
      }
      await aBuild(server(), { id }, member, { transition: "stop" })
      await activate({ parameters: [{ name: "size", mutable: true, required: true }] })
      await later(server(), Duration.minutes(2))
      // Each tick tries again, and the first one logs it
      expect(await tick(server())).toContain(id)
      expect(await tick(server())).not.toContain(id)
      expect((await getWorkspace(server(), id, member)).latest_build.build_number).toBe(2)
      const compatible = await activate({})
      await tick(server())
      const started = await rested(server(), id, member)
      expect(buildOf(started)).toMatchObject({ reason: "autostart", build_number: 3 })
      expect(started.latest_build.template_version_id).toBe(compatible)
    })
  },
  licensed
)

describe("two replicas on one PostgreSQL", () => {
  let replicas: ReadonlyArray<TestServer> = []
  const scope = Effect.runSync(Scope.make())
  beforeAll(async () => {
    const url = await Effect.runPromise(Scope.extend(databaseUrl, scope))
    const one = await startServer(Layer.orDie(Postgres.layer({ url, maxConnections: 5 })), licensed)
    const other = await startServer(Layer.orDie(Postgres.layer({ url, maxConnections: 5 })), { ...licensed, empty: true })
    replicas = [one, other]
  })
  afterAll(async () => {
    await Promise.all(replicas.map((server) => server.close()))
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("make one build of each workspace that is due", async () => {
    const [one, other] = replicas
    if (one === undefined || other === undefined) throw new Error("the replicas have not started")
    const member = await one.aMember()
    const template = await aTemplate(one)
    const workspaces = await Promise.all([1, 2, 3].map(() => aWorkspace(one, template, member, { ttl_ms: hour })))
    for (const server of replicas) server.advance(Duration.minutes(65))
    await daemonsAreSeen(one)
    const run = (server: TestServer) => server.run(Effect.flatMap(WorkspaceLifeCycle, ({ worker }) => worker.run))
    await Promise.all([run(one), run(other), run(one), run(other)])
    for (const { id } of workspaces) {
      expect(buildOf(await rested(one, id, member))).toMatchObject({ reason: "autostop", status: "stopped", build_number: 2 })
    }
  })

  it("act on other workspaces while one is locked and another cannot be read", async () => {
    const [one] = replicas
    if (one === undefined) throw new Error("the replica has not started")
    const member = await one.aMember()
    const template = await aTemplate(one)
    const workspaces = await Promise.all([1, 2, 3].map(() => aWorkspace(one, template, member, { ttl_ms: hour })))
    const [locked = "", unreadable = "", other = ""] = workspaces.map(({ id }) => id)
    one.advance(Duration.minutes(65))
    await execute(one, (sql) => sql`UPDATE workspaces SET user_acl = '"neither"' WHERE id = ${unreadable}`)
    await execute(one, (sql) =>
      sql.withTransaction(
        Effect.zipRight(
          sql`SELECT id FROM workspaces WHERE id = ${locked} FOR UPDATE`,
          Effect.promise(async () => {
            expect(new Set(await tick(one))).toStrictEqual(new Set([locked, unreadable]))
            expect(buildOf(await rested(one, other, member))).toMatchObject({ reason: "autostop", build_number: 2 })
          })
        )
      )
    )
    await tick(one)
    expect(buildOf(await rested(one, locked, member))).toMatchObject({ reason: "autostop", build_number: 2 })
  })
})
