import { SqlClient } from "@effect/sql"
import { ActivityReports } from "@atelier/core/agents"
import { Events, type Uuid } from "@atelier/core/platform"
import { WorkspaceBuildJobs } from "@atelier/core/provisioning"
import { workspaceRoleActions, workspaceEvents } from "@atelier/core/workspaces"
import { Chunk, Duration, Effect, Option, Stream } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aResource, anAgent } from "../../../../../test/records/resources.js"
import { describeServer, type TestServer } from "../../../../../test/http/server.js"
import { anImportedVersion, aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aWorkspace, buildEnded, getWorkspace, requestBuild } from "../../../../../test/http/workspaceCalls.js"
import { WorkspaceBuild } from "../../../src/contract/workspaces/workspaces.js"

const hour = 3_600_000

const execute = (server: TestServer, statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

/** Milliseconds from one instant to another. */
const between = (from: string | null | undefined, to: string | null | undefined): number => Date.parse(to ?? "") - Date.parse(from ?? "")

/** What no operation sets yet. */
const setWorkspace = (server: TestServer, id: string, fields: Readonly<Record<string, string | null>>) =>
  execute(server, (sql) => sql`UPDATE workspaces SET ${sql.update(fields)} WHERE id = ${id}`)

describeServer(
  "the life of a workspace",
  (server) => {
    it("ends a start after the owner's time to live, and tells engines while it runs", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server())
      const begun = Date.now()
      const { id, latest_build } = await aWorkspace(server(), template, member, { ttl_ms: 2 * hour })
      // The time to live begins while the job completes, however long that takes
      const duration = between(latest_build.job.completed_at, latest_build.deadline)
      expect(duration).toBeGreaterThanOrEqual(2 * hour)
      expect(duration).toBeLessThanOrEqual(2 * hour + Date.now() - begun)
      expect(latest_build.max_deadline).toBeNull()
      const allRunning = Effect.flatMap(WorkspaceBuildJobs, (jobs) => Effect.map(Stream.runCollect(jobs.running), Chunk.toReadonlyArray))
      const running = await server().run(allRunning)
      expect(running).toContainEqual({ workspace_id: id, state: Option.some(new TextEncoder().encode("applied")) })
      await aBuild(server(), { id }, member, { transition: "stop" })
      const stopped = await server().run(allRunning)
      expect(stopped.map(({ workspace_id }) => workspace_id)).not.toContain(id)
    })

    it("still starts workspaces of a template that was deprecated later", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, member)
      await execute(server(), (sql) => sql`UPDATE templates SET deprecated = 'old' WHERE id = ${template.id}`)
      expect((await aBuild(server(), workspace, member, { transition: "start" })).status).toBe("running")
    })

    it("is put off by activity", async () => {
      const member = await server().aMember()
      const begun = Date.now()
      const workspace = await aWorkspace(server(), await aTemplate(server()), member, { ttl_ms: 2 * hour })
      const activity = (id: Uuid.Uuid) => server().run(Effect.flatMap(ActivityReports, ({ bump }) => bump(id, { considerAutostart: true })))
      const deadline = async () => (await getWorkspace(server(), workspace.id, member)).latest_build.deadline
      const first = await deadline()
      await activity(workspace.id)
      expect(await deadline()).toBe(first)
      server().advance(Duration.minutes(110))
      await activity(workspace.id)
      // Activity puts the deadline an hour from now: fifty minutes later than it was, and what the test has taken
      const later = between(first, await deadline())
      expect(later).toBeGreaterThanOrEqual(50 * 60_000)
      expect(later).toBeLessThanOrEqual(50 * 60_000 + Date.now() - begun)
      await aBuild(server(), workspace, member, { transition: "stop" })
      const stopped = await deadline()
      await activity(workspace.id)
      expect(await deadline()).toBe(stopped)
    })

    it("is started and stopped by users with the role use, but not changed or deleted", async () => {
      const [ada, grace] = await Promise.all([server().aMember(), server().aMember()])
      const workspace = await aWorkspace(server(), await aTemplate(server()), ada)
      await setWorkspace(server(), workspace.id, { user_acl: JSON.stringify({ [grace.user.id]: workspaceRoleActions.use }) })
      expect((await server().call("GET", `/workspaces/${workspace.id}`, { token: grace.token })).status).toBe(200)
      expect((await aBuild(server(), workspace, grace, { transition: "stop" })).status).toBe("stopped")
      const started = await aBuild(server(), workspace, grace, { transition: "start" })
      expect([started.status, started.initiator_id]).toStrictEqual(["running", grace.user.id])
      expect((await requestBuild(server(), workspace, grace, { transition: "delete" })).status).toBe(403)
      const rename = await server().call("PATCH", `/workspaces/${workspace.id}`, { token: grace.token, body: { name: "mine-now" } })
      expect(rename.status).toBe(403)
      expect((await server().call("PATCH", `/workspacebuilds/${started.id}/cancel`, { token: grace.token })).status).toBe(403)
      await setWorkspace(server(), workspace.id, { dormant_at: "2026-01-01T00:00:00.000Z" })
      expect((await server().call("GET", `/workspaces/${workspace.id}`, { token: grace.token })).status).toBe(404)
    })

    it("is woken by a start with the right to change it, which is audited", async () => {
      const member = await server().aMember()
      const { id } = await aWorkspace(server(), await aTemplate(server()), member)
      const dormant = { dormant_at: "2026-01-01T00:00:00.000Z", deleting_at: "2026-02-01T00:00:00.000Z" }
      await setWorkspace(server(), id, dormant)
      await aBuild(server(), { id }, member, { transition: "stop" })
      expect(await getWorkspace(server(), id, member)).toMatchObject(dormant)
      const before = await getWorkspace(server(), id, member)
      await aBuild(server(), { id }, member, { transition: "start" })
      const after = await getWorkspace(server(), id, member)
      expect(after).toMatchObject({ dormant_at: null, deleting_at: null })
      expect(after.last_used_at > before.last_used_at).toBe(true)
      const [, woken] = await server().run(auditEntries({ resource_id: before.id }))
      expect(woken).toMatchObject({
        action: "write",
        status_code: 200,
        request_id: id,
        user_id: member.user.id,
        diff: { dormant_at: { old: { Time: dormant.dormant_at, Valid: true } }, deleting_at: {} }
      })
    })

    it("tells watchers of its first build and of overdue agents", async () => {
      const member = await server().aMember()
      const template = await aTemplate(server(), { resources: [aResource({ agents: [anAgent({ connection_timeout_seconds: 1 })] })] })
      const kinds = await server().run(
        Effect.gen(function* () {
          const events = yield* Events.subscribe(workspaceEvents(member.user.id))
          yield* Effect.promise(() => aWorkspace(server(), template, member))
          return yield* events.pipe(
            Stream.map((delivery) => (delivery._tag === "Event" ? delivery.event.kind : "lost")),
            Stream.takeUntil((kind) => kind === "agt_timeout"),
            Stream.runCollect
          )
        }).pipe(Effect.scoped)
      )
      expect(Array.from(kinds)).toStrictEqual(["state_change", "state_change", "agt_timeout"])
    })
  },
  { provisioner: testEngines }
)

describeServer(
  "a template's policies",
  (server) => {
    const owner = () => server().owner()
    const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    it("let members start the active version alone, and stop any", async () => {
      const template = await aTemplate(server(), {}, { require_active_version: true })
      const member = await server().aMember()
      const admin = await server().aMember({ rbac_roles: ["template-admin"] })
      const workspace = await aWorkspace(server(), template, member)
      const { id } = await anImportedVersion(server(), {}, { template_id: template.id })
      await server().call("PATCH", `/templates/${template.id}/versions`, { token: owner().token, body: { id } })
      expect((await getWorkspace(server(), workspace.id, member)).template_require_active_version).toBe(true)
      expect((await requestBuild(server(), workspace, member, { transition: "start" })).status).toBe(403)
      const stop = await requestBuild(server(), workspace, member, { transition: "stop" })
      expect(stop.status).toBe(201)
      await buildEnded(server(), stop.as(WorkspaceBuild))
      await setWorkspace(server(), workspace.id, { user_acl: JSON.stringify({ [admin.user.id]: workspaceRoleActions.use }) })
      const byAdmin = await requestBuild(server(), workspace, admin, { transition: "start" })
      expect(byAdmin.status).toBe(201)
      await buildEnded(server(), byAdmin.as(WorkspaceBuild))
      const active = await aBuild(server(), workspace, member, { transition: "start", template_version_id: id })
      expect(active.template_version_id).toBe(id)
    })

    it("set the time to live over the workspace's own where users may not set it", async () => {
      const template = await aTemplate(server(), {}, { allow_user_autostop: false, default_ttl_ms: hour })
      const member = await server().aMember()
      const { id, ttl_ms } = await aWorkspace(server(), template, member)
      expect(ttl_ms).toBe(hour)
      await execute(server(), (sql) => sql`UPDATE workspaces SET ttl_ms = ${hour / 2} WHERE id = ${id}`)
      const build = await aBuild(server(), { id }, member, { transition: "start" })
      expect(between(build.job.completed_at, build.deadline)).toBeGreaterThanOrEqual(hour)
      expect((await getWorkspace(server(), id, member)).ttl_ms).toBe(hour)
    })

    it("leave the required stop as the deadline when the owner clears the time to live", async () => {
      const template = await aTemplate(server(), {}, { autostop_requirement: { days_of_week: days, weeks: 1 } })
      const member = await server().aMember({ quiet_hours_schedule: "CRON_TZ=Asia/Tokyo 30 3 * * *" })
      const { id, latest_build } = await aWorkspace(server(), template, member, { ttl_ms: hour / 60 })
      const build = async () => (await getWorkspace(server(), id, member)).latest_build
      const setTtl = (ttl_ms: number | null) => server().call("PUT", `/workspaces/${id}/ttl`, { token: member.token, body: { ttl_ms } })
      expect(between(latest_build.deadline, latest_build.max_deadline)).toBeGreaterThan(0)
      expect((await setTtl(100 * hour)).status).toBe(204)
      expect((await build()).deadline).toBe(latest_build.deadline)
      expect((await setTtl(null)).status).toBe(204)
      const cleared = await build()
      expect([cleared.deadline, cleared.max_deadline]).toStrictEqual([latest_build.max_deadline, latest_build.max_deadline])
    })

    it("require stops in the owner's quiet hours", async () => {
      const template = await aTemplate(server(), {}, { autostop_requirement: { days_of_week: days, weeks: 1 } })
      const member = await server().aMember({ quiet_hours_schedule: "CRON_TZ=Asia/Tokyo 30 3 * * *" })
      const { latest_build } = await aWorkspace(server(), template, member)
      expect(latest_build.deadline).toBe(latest_build.max_deadline)
      expect(latest_build.max_deadline).toMatch(/T18:30:00\.000Z$/)
      expect(between(latest_build.job.completed_at, latest_build.max_deadline)).toBeGreaterThan(hour)
    })

    it("move the deadlines of running builds and the next starts when they change", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember({ quiet_hours_schedule: "CRON_TZ=Asia/Tokyo 30 3 * * *" })
      const running = await aWorkspace(server(), template, member, { ttl_ms: 100 * hour, autostart_schedule: "0 9 * * *" })
      const endless = await aWorkspace(server(), template, member)
      const stopped = await aWorkspace(server(), template, member, { ttl_ms: 100 * hour })
      const { deadline: stoppedDeadline } = await aBuild(server(), stopped, member, { transition: "stop" })
      const change = (body: object) => server().call("PATCH", `/templates/${template.id}`, { token: owner().token, body })
      const build = async (workspace: { readonly id: Uuid.Uuid }) => (await getWorkspace(server(), workspace.id, member)).latest_build
      const first = running.next_start_at
      expect((await change({ autostop_requirement: { days_of_week: days, weeks: 1 } })).status).toBe(200)
      for (const workspace of [running, endless]) {
        const { deadline, max_deadline } = await build(workspace)
        expect(deadline).toMatch(/T18:30:00\.000Z$/)
        expect(max_deadline).toBe(deadline)
      }
      expect(await build(stopped)).toMatchObject({ deadline: stoppedDeadline, max_deadline: null })
      expect((await change({ autostop_requirement: { days_of_week: [], weeks: 1 } })).status).toBe(200)
      expect((await build(running)).max_deadline).toBeNull()
      expect((await build(running)).deadline).toMatch(/T18:30:00\.000Z$/)
      expect(await build(endless)).toMatchObject({ deadline: null, max_deadline: null })
      const startDay = new Date(first ?? "").getUTCDay()
      const allowed = days.filter((_, index) => (index + 1) % 7 !== startDay)
      expect((await change({ autostart_requirement: { days_of_week: allowed } })).status).toBe(200)
      const next = (await getWorkspace(server(), running.id, member)).next_start_at
      expect(between(first, next)).toBe(24 * hour)
    })
  },
  {
    provisioner: testEngines,
    entitlements: { has: (feature) => feature === "access_control" || feature === "advanced_template_scheduling" }
  }
)
