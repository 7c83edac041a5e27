import { SqlClient } from "@effect/sql"
import type { Uuid } from "@atelier/core/platform"
import { buildStatus } from "@atelier/core/workspaces"
import { Effect, Schema, Struct } from "effect"
import { expect, it } from "vitest"
import WebSocket from "ws"
import { auditEntries } from "../../../../../test/http/audit.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aResource } from "../../../../../test/records/resources.js"
import { type Answer, describeServerOnEach, type TestServer } from "../../../../../test/http/server.js"
import { aTemplate, anImportedVersion, aVersion, ended } from "../../../../../test/http/templates.js"
import { aBuild, aWorkspace, buildEnded, getBuild, getWorkspace, requestBuild } from "../../../../../test/http/workspaceCalls.js"
import { WorkspaceBuild } from "../../../src/contract/workspaces/workspaces.js"
import { Response } from "../../../src/wire/errors.js"
import { BuildTransition } from "@atelier/core/provisioning"

const fields = (answer: Answer) => answer.as(Response).validations?.map(({ field }) => field)
const refusal = (answer: Answer) => [answer.status, fields(answer)]

/** Runs a statement on the server's database. */
const execute = (server: TestServer, statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

/** Waits for something that another fiber of the server does. */
const until = async (condition: () => Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve))
}

/** From now on, no daemon takes builds of the version. */
const withoutDaemons = (server: TestServer, versionId: string): Promise<unknown> => {
  const tags = JSON.stringify({ scope: "organization", owner: "", planet: "mars" })
  return execute(
    server,
    (sql) => sql`UPDATE provisioner_jobs SET tags = ${tags} WHERE id = (SELECT job_id FROM template_versions WHERE id = ${versionId})`
  )
}

/** The state has the content type of JSON, whatever it is. */
const stateOf = (server: TestServer, { id }: { readonly id: string }, token: string): Promise<globalThis.Response> =>
  fetch(`${server.url}/api/v2/workspacebuilds/${id}/state`, { headers: { "Service-Session-Token": token } })

const running = async (server: TestServer, build: typeof WorkspaceBuild.Type, token: string): Promise<void> =>
  until(async () => (await getBuild(server, build.id, { token })).job.status === "running")

describeServerOnEach(
  "builds",
  (server, once) => {
    const owner = () => server().owner()
    const request = (workspace: { readonly id: string }, fields: Readonly<Record<string, unknown>>, person = owner()) =>
      requestBuild(server(), workspace, person, fields)

    once("stop, start and delete a workspace, each with its number, reason and audit entry", async () => {
      const template = await aTemplate(server(), { resources: [aResource()] })
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      const agents = (build: typeof WorkspaceBuild.Type) => build.resources.flatMap((resource) => resource.agents.map(({ name }) => name))
      expect(agents(workspace.latest_build)).toStrictEqual(["main"])

      const stop = await aBuild(server(), workspace, member, { transition: "stop", reason: "cli" })
      expect(stop).toMatchObject({ build_number: 2, transition: "stop", status: "stopped", reason: "cli" })
      expect(agents(stop)).toStrictEqual([])
      expect(stop.resources.map(({ name, workspace_transition }) => [name, workspace_transition])).toStrictEqual([["dev", "stop"]])
      expect(agents(await getBuild(server(), workspace.latest_build.id, member))).toStrictEqual([])
      expect((await getWorkspace(server(), workspace.id, member)).health).toStrictEqual({ healthy: true, failing_agents: [] })

      const start = await aBuild(server(), workspace, member, { transition: "start", reason: "dashboard" })
      expect(start).toMatchObject({ build_number: 3, status: "running", reason: "dashboard" })
      const gone = await aBuild(server(), workspace, member, { transition: "delete", reason: "cli" })
      expect(gone).toMatchObject({ build_number: 4, status: "deleted", reason: "initiator" })
      expect((await server().call("GET", `/workspaces/${workspace.id}`, { token: member.token })).status).toBe(410)

      const builds = await server().call("GET", `/workspaces/${workspace.id}/builds`, { token: member.token })
      expect(builds.as(Schema.Array(WorkspaceBuild)).map(({ build_number }) => build_number)).toStrictEqual([4, 3, 2, 1])
      const audited = async ({ id }: { readonly id: Uuid.Uuid }) =>
        (await server().run(auditEntries({ resource_id: id }))).map(({ action, status_code }) => [action, status_code])
      expect(await audited(stop)).toStrictEqual([["stop", 200]])
      expect(await audited(gone)).toStrictEqual([["delete", 200]])
      expect((await request(workspace, { transition: "start" }, member)).status).toBe(409)
      expect((await request(workspace, { transition: "delete" }, member)).status).toBe(201)
    })

    once("answer the build that was queued, without the version's name", async () => {
      const template = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, owner())
      const answer = await request(workspace, { transition: "stop" })
      expect(answer.status).toBe(201)
      expect(answer.body).toMatchObject({
        build_number: 2,
        status: "pending",
        template_version_name: "",
        resources: [],
        workspace_name: workspace.name,
        job: { status: "pending", queue_position: 0, queue_size: 0 }
      })
      await buildEnded(server(), answer.as(WorkspaceBuild))
    })

    once("refuse words they do not know, naming the field", async () => {
      const workspace = await aWorkspace(server(), await aTemplate(server()), owner())
      const refused = async (body: object) => refusal(await request(workspace, { ...body }))
      expect(await refused({})).toStrictEqual([400, ["transition"]])
      expect(await refused({ transition: "restart" })).toStrictEqual([400, ["transition"]])
      expect(await refused({ transition: "stop", reason: "autostop" })).toStrictEqual([400, ["reason"]])
      expect(await refused({ transition: "stop", reason: "task_resume" })).toStrictEqual([400, ["reason"]])
      expect(await refused({ transition: "stop", log_level: "trace" })).toStrictEqual([400, ["log_level"]])
      expect(await refused({ transition: "stop", log_level: "debug" })).toStrictEqual([400, ["log_level"]])
      expect((await request(workspace, { transition: "restart", reason: "x" }).then(fields))?.toSorted()).toStrictEqual([
        "reason",
        "transition"
      ])
    })

    once("use an imported version of the workspace's template, one at a time", async () => {
      const template = await aTemplate(server())
      const other = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, owner())
      const start = (template_version_id: string) => request(workspace, { transition: "start", template_version_id })
      expect(refusal(await start(other.active_version_id))).toStrictEqual([400, ["template_version_id"]])
      expect(refusal(await start(workspace.id))).toStrictEqual([400, ["template_version_id"]])
      expect((await start((await anImportedVersion(server(), { fails: "plan" }, { template_id: template.id })).id)).status).toBe(400)
      const importing = await aVersion(server(), { hangs: "plan" }, { template_id: template.id })
      expect((await start(importing.id)).status).toBe(406)
      await server().call("PATCH", `/templateversions/${importing.id}/cancel`, { token: owner().token })
      await ended(server(), importing.job)

      const slow = await anImportedVersion(server(), { hangs: "apply" }, { template_id: template.id })
      const active = (await start(slow.id)).as(WorkspaceBuild)
      expect((await request(workspace, { transition: "stop" })).status).toBe(409)
      await running(server(), active, owner().token)
      expect((await request(workspace, { transition: "stop" })).status).toBe(409)
      await server().call("PATCH", `/workspacebuilds/${active.id}/cancel`, { token: owner().token })
      await buildEnded(server(), active)
    })

    it("succeed once of many that are asked for at the same time", async () => {
      const template = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, owner())
      await withoutDaemons(server(), template.active_version_id)
      const answers = await Promise.all(Array.from({ length: 5 }, () => request(workspace, { transition: "stop" })))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 409, 409, 409, 409])
    })

    once("keep the previous values: of the version before, immutable ones for ever, ephemeral ones never", async () => {
      const template = await aTemplate(server(), {
        parameters: [
          { name: "p", mutable: false },
          { name: "once", mutable: true, ephemeral: true, default_value: "0" },
          { name: "size", mutable: true, default_value: "1" }
        ]
      })
      const given = [
        { name: "p", value: "1" },
        { name: "once", value: "7" },
        { name: "size", value: "5" }
      ]
      const workspace = await aWorkspace(server(), template, owner(), { rich_parameter_values: given })
      const values = async ({ id }: { readonly id: string }) =>
        (await server().call("GET", `/workspacebuilds/${id}/parameters`, { token: owner().token })).body
      expect(await values(workspace.latest_build)).toStrictEqual([given[1], given[0], given[2]])
      const p = (value: string) => request(workspace, { transition: "stop", rich_parameter_values: [{ name: "p", value }] })
      expect(refusal(await p("2"))).toStrictEqual([400, ["p"]])
      const second = (await p("1")).as(WorkspaceBuild)
      expect(await values(second)).toStrictEqual([{ name: "once", value: "0" }, given[0], given[2]])
      await buildEnded(server(), second)

      const newer = await anImportedVersion(server(), { parameters: [{ name: "p" }] }, { template_id: template.id })
      const path = `/templates/${template.id}/versions`
      expect((await server().call("PATCH", path, { token: owner().token, body: { id: newer.id } })).status).toBe(200)
      const third = await aBuild(server(), workspace, owner(), { transition: "start" })
      expect(third.template_version_id).toBe(template.active_version_id)
      expect((await getWorkspace(server(), workspace.id, owner())).outdated).toBe(true)
      const fourth = await aBuild(server(), workspace, owner(), { transition: "start", template_version_id: newer.id })
      expect(fourth.template_version_id).toBe(newer.id)
      expect(await values(fourth)).toStrictEqual([given[0]])
    })

    once("are orphaned by template editors: by a daemon if there is one, else at once", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const admin = await server().aMember({ rbac_roles: ["template-admin"] })
      const workspace = await aWorkspace(server(), template, member)
      const orphan = (fields: object = {}, person = owner()) =>
        request(workspace, { transition: "delete", orphan: true, ...fields }, person)
      expect(refusal(await orphan({ transition: "start" }))).toStrictEqual([400, ["orphan"]])
      expect(refusal(await orphan({ state: "AQ==" }))).toStrictEqual([400, ["orphan"]])
      expect((await orphan({}, member)).status).toBe(403)
      const byDaemon = (await orphan()).as(WorkspaceBuild)
      expect(byDaemon.status).toBe("pending")
      await buildEnded(server(), byDaemon)
      expect((await server().call("GET", `/workspaces/${workspace.id}`, { token: member.token })).status).toBe(410)

      const second = await aWorkspace(server(), template, admin)
      await withoutDaemons(server(), template.active_version_id)
      const answer = await requestBuild(server(), second, admin, { transition: "delete", orphan: true })
      expect([answer.status, answer.as(WorkspaceBuild).status]).toStrictEqual([201, "deleted"])
      expect((await server().call("GET", `/workspaces/${second.id}`, { token: admin.token })).status).toBe(410)
      const { id, job } = answer.as(WorkspaceBuild)
      expect(job).toMatchObject({ status: "succeeded" })
      expect(job.started_at).toBe(job.completed_at)
      expect(await server().run(auditEntries({ resource_id: id }))).toMatchObject([
        { action: "delete", status_code: 200, additional_fields: { workspace_owner: admin.user.username, build_number: "2" } }
      ])
    })

    once("carry the template's tags, evaluated by its engine, over those of the import", async () => {
      const template = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, owner())
      const version = template.active_version_id
      const tags = JSON.stringify({ planet: "mars", owner: "" })
      await execute(server(), (sql) => sql`UPDATE template_versions SET workspace_tags = ${tags} WHERE id = ${version}`)
      const build = (await request(workspace, { transition: "stop" })).as(WorkspaceBuild)
      expect(build.job.tags).toStrictEqual({ scope: "organization", owner: "", planet: "mars" })
      expect(build.matched_provisioners).toMatchObject({ count: 0, available: 0 })
      await server().call("PATCH", `/workspacebuilds/${build.id}/cancel`, { token: owner().token })

      const huge = JSON.stringify({ planet: "x".repeat(5_000) })
      await execute(server(), (sql) => sql`UPDATE template_versions SET workspace_tags = ${huge} WHERE id = ${version}`)
      expect(refusal(await request(workspace, { transition: "stop" }))).toStrictEqual([400, ["tags"]])
      expect((await getWorkspace(server(), workspace.id, owner())).latest_build.id).toBe(build.id)

      await execute(
        server(),
        (sql) =>
          sql`UPDATE provisioner_jobs SET file_id = ${version} WHERE id = (SELECT job_id FROM template_versions WHERE id = ${version})`
      )
      const answer = await request(workspace, { transition: "stop" })
      expect([answer.status, answer.as(Response).detail]).toStrictEqual([400, "The template's source does not exist any more."])
    })

    once("accept and show their state to template editors", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      const body = { transition: "stop", state: Buffer.from("mine").toString("base64") }
      expect((await request(workspace, body, member)).status).toBe(403)
      await buildEnded(server(), (await request(workspace, { transition: "stop", state: "" }, member)).as(WorkspaceBuild))
      expect((await stateOf(server(), workspace.latest_build, member.token)).status).toBe(404)
      const shown = await stateOf(server(), workspace.latest_build, owner().token)
      expect([shown.status, shown.headers.get("content-type"), await shown.text()]).toStrictEqual([200, "application/json", "applied"])
      const build = (await request(workspace, body)).as(WorkspaceBuild)
      await buildEnded(server(), build)
      expect(await (await stateOf(server(), build, owner().token)).text()).toBe("applied")
    })

    once("are refused to owners who may not read the template", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      await server().call("PATCH", `/templates/${template.id}`, { token: owner().token, body: { disable_everyone_group_access: true } })
      const ask = async (transition: string) => (await request(workspace, { transition }, member)).status
      expect([await ask("stop"), await ask("delete")]).toStrictEqual([403, 403])
      expect((await getBuild(server(), workspace.latest_build.id, owner())).status).toBe("running")
    })

    once("that fail keep the former resources, are audited as failed, and mark the workspace failed", async () => {
      const template = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, owner())
      const broken = await anImportedVersion(server(), { fails: "apply" }, { template_id: template.id })
      const build = await aBuild(server(), workspace, owner(), { transition: "start", template_version_id: broken.id })
      expect(build).toMatchObject({ status: "failed", job: { status: "failed", error: "apply failed as it was told" }, deadline: null })
      expect(await (await stateOf(server(), build, owner().token)).text()).toBe("applied")
      expect(await server().run(auditEntries({ resource_id: build.id }))).toMatchObject([{ action: "start", status_code: 500, diff: {} }])
      const failed = await server().call("GET", `/workspaces?q=status:failed`, { token: owner().token })
      expect(failed.text).toContain(workspace.id)
    })

    it("are canceled once: at once while waiting, by actors who may update the workspace", async () => {
      const template = await aTemplate(server(), {}, { allow_user_cancel_workspace_jobs: false })
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      const cancel = (id: string, query: string, token = member.token) =>
        server().call("PATCH", `/workspacebuilds/${id}/cancel${query}`, { token })
      expect((await cancel(workspace.latest_build.id, "?expect_status=pending")).status).toBe(400)

      await withoutDaemons(server(), template.active_version_id)
      const { id } = (await request(workspace, { transition: "stop" }, member)).as(WorkspaceBuild)
      expect((await cancel(id, "?expect_status=bogus")).status).toBe(400)
      expect((await cancel(id, "?expect_status=running", owner().token)).status).toBe(412)
      expect((await cancel(id, "")).status).toBe(403)
      expect((await cancel(id, "?expect_status=pending")).status).toBe(200)
      expect((await getBuild(server(), id, member)).status).toBe("canceled")
      expect((await cancel(id, "?expect_status=pending")).status).toBe(400)
      expect(await server().run(auditEntries({ resource_id: id }))).toStrictEqual([])
    })

    once("are canceled while running by site owners, or by users if the template allows it", async () => {
      const template = await aTemplate(server(), {}, { allow_user_cancel_workspace_jobs: false })
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      const slow = await anImportedVersion(server(), { hangs: "apply" }, { template_id: template.id })
      const body = { transition: "start", template_version_id: slow.id }
      const build = (await request(workspace, body, member)).as(WorkspaceBuild)
      await running(server(), build, member.token)
      const cancel = (token: string) => server().call("PATCH", `/workspacebuilds/${build.id}/cancel?expect_status=running`, { token })
      expect((await cancel(member.token)).status).toBe(403)
      expect((await cancel(owner().token)).status).toBe(200)
      await buildEnded(server(), build)
      expect((await getBuild(server(), build.id, member)).status).toBe("canceled")
      expect((await getWorkspace(server(), workspace.id, member)).latest_build.deadline).toBeNull()
    })

    once("have the status of their job, read with its subject", async () => {
      const template = await aTemplate(server())
      const workspace = await aWorkspace(server(), template, owner())
      await withoutDaemons(server(), template.active_version_id)
      const at = "2026-01-01T00:00:00.000Z"
      const jobs = {
        pending: { started_at: null, canceled_at: null, completed_at: null, error: "" },
        running: { started_at: at, canceled_at: null, completed_at: null, error: "" },
        canceling: { started_at: at, canceled_at: at, completed_at: null, error: "" },
        succeeded: { started_at: at, canceled_at: null, completed_at: at, error: "" },
        failed: { started_at: at, canceled_at: null, completed_at: at, error: "it failed" },
        canceled: { started_at: null, canceled_at: at, completed_at: at, error: "" }
      } as const
      for (const transition of BuildTransition.literals) {
        const build = (await request(workspace, { transition })).as(WorkspaceBuild)
        for (const status of Struct.keys(jobs)) {
          await execute(server(), (sql) => sql`UPDATE provisioner_jobs SET ${sql.update(jobs[status])} WHERE id = ${build.job.id}`)
          const shown = await getBuild(server(), build.id, owner())
          expect([transition, shown.job.status, shown.status]).toStrictEqual([transition, status, buildStatus(status, transition)])
          expect((await getWorkspace(server(), workspace.id, owner())).latest_build.status).toBe(shown.status)
        }
      }
    })

    once("are listed in pages, since a time and after a build", async () => {
      const workspace = await aWorkspace(server(), await aTemplate(server()), owner())
      const second = await aBuild(server(), workspace, owner(), { transition: "stop" })
      await aBuild(server(), workspace, owner(), { transition: "start" })
      const numbers = async (query: string) => {
        const answer = await server().call("GET", `/workspaces/${workspace.id}/builds${query}`, { token: owner().token })
        return answer.status === 200 ? answer.as(Schema.Array(WorkspaceBuild)).map(({ build_number }) => build_number) : answer.status
      }
      expect(await numbers("")).toStrictEqual([3, 2, 1])
      expect(await numbers("?limit=1&offset=1")).toStrictEqual([2])
      expect(await numbers(`?since=${second.created_at}`)).toStrictEqual([3])
      expect(await numbers(`?after_id=${second.id}`)).toStrictEqual([3])
      expect(await numbers("?since=yesterday")).toBe(400)
      for (const since of ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00%2B01:00", "9999-12-31T23:59:59-01:00"]) {
        expect(await numbers(`?since=${since}`)).toBe(400)
      }
      expect(await numbers("?since=0001-01-01T00:00:00Z")).toStrictEqual([3, 2, 1])
      expect(await numbers(`?after_id=${workspace.id}`)).toBe(400)
      const named = (name: string, number: string) =>
        server().call("GET", `/users/me/workspace/${name}/builds/${number}`, { token: owner().token })
      expect((await named(workspace.name.toUpperCase(), "2")).as(WorkspaceBuild).id).toBe(second.id)
      expect((await named(workspace.name, "9")).status).toBe(404)
      expect((await named("nothing", "1")).status).toBe(404)
      expect((await named(workspace.name, "x")).status).toBe(400)
      expect((await named(workspace.name, "2147483648")).status).toBe(400)
    })

    once("show their resources by name once they have ended, and their log", async () => {
      const template = await aTemplate(server(), {
        resources: [aResource({ name: "z" }), aResource({ name: "a", agents: [] })],
        logs: ["one", "two"]
      })
      const { latest_build: build } = await aWorkspace(server(), template, owner())
      const get = (path: string) => server().call("GET", `/workspacebuilds/${build.id}${path}`, { token: owner().token })
      const Names = Schema.Array(Schema.Struct({ name: Schema.String }))
      expect((await get("/resources")).as(Names).map(({ name }) => name)).toStrictEqual(["a", "z"])
      const Logs = Schema.Array(Schema.Struct({ id: Schema.Number, output: Schema.String }))
      const logs = (await get("/logs")).as(Logs)
      expect(logs.map(({ output }) => output)).toEqual(expect.arrayContaining(["one", "two"]))
      expect((await get(`/logs?after=${logs.at(-2)?.id}`)).as(Logs)).toHaveLength(1)
      expect((await get("/logs?format=text")).text).toMatch(/\[info\] \[provisioner\|Planning Infrastructure\] one\n/)
      expect(refusal(await get("/logs?after=x"))).toStrictEqual([400, ["after"]])
      expect((await get("/logs?format=xml")).status).toBe(400)
      expect((await get("/logs?follow&format=text")).status).toBe(400)

      const followed = await new Promise<ReadonlyArray<string>>((resolve, reject) => {
        const messages: Array<string> = []
        const socket = new WebSocket(`${server().url.replace("http", "ws")}/api/v2/workspacebuilds/${build.id}/logs?follow`, {
          headers: { "Service-Session-Token": owner().token }
        })
        socket.on("message", (message) => messages.push(String(message)))
        socket.on("close", () => resolve(messages))
        socket.on("error", reject)
      })
      expect(followed).toHaveLength(logs.length)
    })

    once("are hidden from actors who may not read the workspace", async () => {
      const workspace = await aWorkspace(server(), await aTemplate(server()), owner())
      const stranger = await server().aMember()
      const { id } = workspace.latest_build
      for (const path of ["", "/parameters", "/resources", "/state", "/logs"]) {
        expect((await server().call("GET", `/workspacebuilds/${id}${path}`, { token: stranger.token })).status).toBe(404)
      }
      expect((await server().call("PATCH", `/workspacebuilds/${id}/cancel`, { token: stranger.token })).status).toBe(404)
      expect((await request(workspace, { transition: "stop" }, stranger)).status).toBe(404)
      expect((await server().call("GET", `/workspaces/${workspace.id}/builds`, { token: stranger.token })).status).toBe(404)
    })
  },
  { provisioner: testEngines }
)
