import { SqlClient } from "@effect/sql"
import { Uuid } from "@atelier/core/platform"
import { Effect, Layer, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../test/http/audit.js"
import { testEngines } from "../../../../test/outside/engine.js"
import { aResource } from "../../../../test/records/resources.js"
import { type Answer, describeServerOnEach, type Person } from "../../../../test/http/server.js"
import { agentIs, aTask, aTaskTemplate, getTask, loopbackDialer, workspaceSettled } from "../../../../test/http/taskCalls.js"
import { aTemplate } from "../../../../test/http/templates.js"
import { aBuild, aName, aWorkspace, getWorkspace } from "../../../../test/http/workspaceCalls.js"
import { Task } from "../../src/contract/tasks/tasks.js"
import { WorkspaceBuild } from "../../src/contract/workspaces/workspaces.js"
import { Response } from "../../src/wire/errors.js"

const List = Schema.Struct({ tasks: Schema.Array(Task), count: Schema.Number })
const Queued = Schema.Struct({ workspace_build: WorkspaceBuild })

const refusal = (answer: Answer) => [answer.status, answer.as(Response).validations?.map(({ field }) => field)]

describeServerOnEach(
  "tasks",
  (server, once) => {
    const call = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, { token }: Person, body?: unknown) =>
      server().call(method, path, { token, ...(body === undefined ? {} : { body }) })
    const list = async (q: string, person: Person) => (await call("GET", `/tasks?q=${encodeURIComponent(q)}`, person)).as(List)
    const owner = () => server().owner()

    once("are created with a workspace, and both start", async () => {
      const template = await aTaskTemplate(server())
      const member = await server().aMember()
      const name = aName()
      const answer = await call("POST", "/tasks/me", member, {
        template_version_id: template.active_version_id,
        name,
        display_name: "  The First  ",
        input: "write a poem"
      })
      expect(answer.status).toBe(201)
      const task = answer.as(Task)
      expect(task).toMatchObject({
        name,
        display_name: "The First",
        initial_prompt: "write a poem",
        owner_id: member.user.id,
        owner_name: member.user.username,
        template_id: template.id,
        template_version_id: template.active_version_id,
        workspace_name: name,
        workspace_build_number: 1
      })
      await workspaceSettled(server(), task, member)
      const workspace = await getWorkspace(server(), String(task.workspace_id), member)
      expect([workspace.task_id, workspace.name, workspace.latest_build.has_ai_task]).toStrictEqual([task.id, name, true])
      const running = await getTask(server(), task.id, member)
      expect(running).toMatchObject({
        status: "initializing",
        workspace_status: "running",
        workspace_agent_lifecycle: "created",
        current_state: { state: "working", message: "Agent is connecting", uri: "" }
      })
      const agent = workspace.latest_build.resources[0]?.agents?.[0]
      expect([running.workspace_agent_id, running.workspace_app_id]).toStrictEqual([agent?.id, agent?.apps[0]?.id])
    })

    once("take their names from the prompt", async () => {
      const { active_version_id } = await aTaskTemplate(server())
      const answer = await call("POST", "/tasks/me", owner(), {
        template_version_id: active_version_id,
        input: "Fix the LOGIN page, please!"
      })
      const task = answer.as(Task)
      expect(task.name).toMatch(/^fix-the-login-page-please-[0-9a-f]{4}$/)
      expect(task.display_name).toBe("Fix the LOGIN page, please!")
    })

    once("refuse versions without a task, and names that break a rule", async () => {
      const member = await server().aMember()
      const template = await aTaskTemplate(server())
      const plain = await aTemplate(server(), { resources: [aResource()] })
      const create = async (fields: Readonly<Record<string, unknown>>) =>
        refusal(await call("POST", "/tasks/me", member, { template_version_id: template.active_version_id, input: "x", ...fields }))
      expect(await create({ template_version_id: plain.active_version_id })).toStrictEqual([400, ["template_version_id"]])
      expect(await create({ template_version_id: Uuid.Uuid.make(crypto.randomUUID()) })).toStrictEqual([400, ["template_version_id"]])
      expect(await create({ name: "a--b" })).toStrictEqual([400, ["name"]])
      expect(await create({ display_name: "x".repeat(65) })).toStrictEqual([400, ["display_name"]])
      expect(await create({ template_version_preset_id: Uuid.Uuid.make(crypto.randomUUID()) })).toStrictEqual([
        400,
        ["template_version_preset_id"]
      ])
      const { name } = await aTask(server(), template, member)
      expect(await create({ name: name.toUpperCase() })).toStrictEqual([409, ["name"]])
      const workspace = await aWorkspace(server(), plain, member)
      expect(await create({ name: workspace.name })).toStrictEqual([409, ["name"]])
    })

    once("are listed newest first, with filters", async () => {
      const template = await aTaskTemplate(server())
      const [ann, zed] = [await server().aMember(), await server().aMember()]
      const [first, second] = [await aTask(server(), template, ann), await aTask(server(), template, ann)]
      await aTask(server(), template, zed)
      const ids = async (q: string, person: Person) => (await list(q, person)).tasks.map(({ id }) => id)
      expect(await ids("", ann)).toStrictEqual([second.id, first.id])
      expect(await ids("me", ann)).toStrictEqual([second.id, first.id])
      expect(await ids(`owner:${ann.user.username}`, owner())).toStrictEqual([second.id, first.id])
      expect(await ids(`owner:${ann.user.id} organization:default`, owner())).toStrictEqual([second.id, first.id])
      expect(await ids("status:initializing", ann)).toStrictEqual([second.id, first.id])
      expect(await list("status:paused", ann)).toStrictEqual({ tasks: [], count: 0 })
      const refused = async (q: string) => refusal(await call("GET", `/tasks?q=${encodeURIComponent(q)}`, ann))
      expect(await refused(`owner:${zed.user.username}`)).toStrictEqual([400, ["owner"]])
      expect(await refused("organization:nowhere")).toStrictEqual([400, ["organization"]])
      expect(await refused("status:sleeping")).toStrictEqual([400, ["status"]])
      expect(await refused("color:red")).toStrictEqual([400, ["color"]])
    })

    once("are found by id and by name by their readers", async () => {
      const template = await aTaskTemplate(server())
      const [ann, zed] = [await server().aMember(), await server().aMember()]
      const task = await aTask(server(), template, ann)
      const found = async (path: string, person: Person) => (await call("GET", path, person)).status
      expect(await found(`/tasks/me/${task.name.toUpperCase()}`, ann)).toBe(200)
      expect(await found(`/tasks/${zed.user.id}/${task.id}`, ann)).toBe(200)
      expect(await found(`/tasks/${ann.user.id}/${task.name}`, owner())).toBe(200)
      expect(await found(`/tasks/me/${task.id}`, zed)).toBe(404)
      expect(await found("/tasks/me/nothing", ann)).toBe(404)
      const older = await fetch(`${server().url}/api/experimental/tasks/me/${task.id}`, { headers: { "Service-Session-Token": ann.token } })
      expect(older.status).toBe(200)
    })

    once("are shared with their workspace, until that is dormant", async () => {
      const template = await aTaskTemplate(server())
      const [ann, bob] = [await server().aMember(), await server().aMember()]
      const task = await aTask(server(), template, ann)
      const share = (role: string) => call("PATCH", `/workspaces/${task.workspace_id}/acl`, ann, { user_roles: { [bob.user.id]: role } })
      const status = async (...[method, path, body]: [method: "GET" | "PATCH" | "DELETE", path: string, body?: unknown]) =>
        (await call(method, `/tasks/me/${task.id}${path}`, bob, body)).status
      expect(await status("GET", "")).toBe(404)
      await share("use")
      expect(await status("GET", "")).toBe(200)
      expect((await list("", bob)).count).toBe(1)
      expect(await status("PATCH", "/input", { input: "x" })).toBe(403)
      expect(await status("DELETE", "")).toBe(403)
      await share("admin")
      expect(await status("PATCH", "/input", { input: "x" })).toBe(409)
      expect(await status("DELETE", "")).toBe(403)
      await server().run(
        Effect.flatMap(
          Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)),
          (sql) => sql`UPDATE workspaces SET dormant_at = created_at WHERE id = ${task.workspace_id}`
        )
      )
      expect(await status("GET", "")).toBe(404)
      expect((await list("", bob)).count).toBe(0)
      expect((await list("", ann)).count).toBe(1)
    })

    once("pause, take another prompt and resume", async () => {
      const template = await aTaskTemplate(server())
      const ann = await server().aMember()
      const task = await aTask(server(), template, ann)
      const path = `/tasks/me/${task.id}`
      expect((await call("PATCH", `${path}/input`, ann, { input: "other" })).status).toBe(409)
      expect((await call("POST", `${path}/resume`, ann)).status).toBe(409)

      const paused = await call("POST", `/tasks/me/${task.name}/pause`, ann)
      expect(paused.status).toBe(202)
      expect(paused.as(Queued).workspace_build).toMatchObject({ transition: "stop", reason: "task_manual_pause", build_number: 2 })
      await workspaceSettled(server(), task, ann)
      expect(await getTask(server(), task.id, ann)).toMatchObject({
        status: "paused",
        workspace_status: "stopped",
        current_state: null,
        workspace_agent_id: null,
        workspace_agent_lifecycle: null,
        workspace_agent_health: null,
        workspace_app_id: null
      })
      expect((await list("status:paused", ann)).count).toBe(1)

      expect(refusal(await call("PATCH", `${path}/input`, ann, { input: " \n\t" }))).toStrictEqual([400, ["input"]])
      expect((await call("PATCH", `${path}/input`, ann, { input: " a new prompt " })).status).toBe(204)
      expect((await getTask(server(), task.id, ann)).initial_prompt).toBe(" a new prompt ")

      const resumed = await call("POST", `${path}/resume`, ann)
      expect(resumed.status).toBe(202)
      expect(resumed.as(Queued).workspace_build).toMatchObject({ transition: "start", reason: "task_resume", build_number: 3 })
      await workspaceSettled(server(), task, ann)
      expect((await getTask(server(), task.id, ann)).status).toBe("initializing")
    })

    once("show the last reported state, unless it is from before the latest start", async () => {
      const token = Uuid.Uuid.make(crypto.randomUUID())
      const template = await aTaskTemplate(server(), { token })
      const ann = await server().aMember()
      const task = await aTask(server(), template, ann)
      await agentIs(server(), task, "ready")
      const report = (body: Readonly<Record<string, unknown>>) =>
        server().call("PATCH", "/workspaceagents/me/app-status", { token, body: { app_slug: "chat", ...body } })
      const state = async () => (await getTask(server(), task.id, ann)).current_state
      expect(await state()).toBeNull()
      await report({ state: "working", message: "I try", uri: "https://example.com/x" })
      expect(await state()).toMatchObject({ state: "working", message: "I try", uri: "https://example.com/x" })
      await report({ state: "failure", message: "no" })
      expect(await state()).toMatchObject({ state: "failed", message: "no" })

      const workspace = { id: String(task.workspace_id) }
      await aBuild(server(), workspace, ann, { transition: "stop" })
      expect(await state()).toMatchObject({ state: "failed", message: "no" })
      await aBuild(server(), workspace, ann, { transition: "start" })
      expect(await state()).toMatchObject({ state: "working", message: "Agent is connecting" })
    })

    once("are deleted with their workspace, whichever is deleted first", async () => {
      const template = await aTaskTemplate(server())
      const ann = await server().aMember()
      const [one, other] = [await aTask(server(), template, ann), await aTask(server(), template, ann)]
      expect((await call("DELETE", `/tasks/me/${one.id}`, ann)).status).toBe(202)
      expect((await call("GET", `/tasks/me/${one.id}`, ann)).status).toBe(404)
      expect((await call("DELETE", `/tasks/me/${one.id}`, ann)).status).toBe(404)
      expect((await call("PATCH", `/tasks/me/${one.id}/input`, ann, { input: "other" })).status).toBe(404)
      await workspaceSettled(server(), one, ann)
      const workspace = await getWorkspace(server(), String(one.workspace_id), ann)
      expect([workspace.latest_build.status, workspace.task_id]).toStrictEqual(["deleted", one.id])

      await aBuild(server(), { id: String(other.workspace_id) }, ann, { transition: "delete" })
      expect((await call("GET", `/tasks/me/${other.id}`, ann)).status).toBe(404)
      expect((await list("", ann)).count).toBe(0)
      expect((await aTask(server(), template, ann, { name: other.name })).name).toBe(other.name)
    })

    once("have audit entries for each change", async () => {
      const template = await aTaskTemplate(server())
      const ann = await server().aMember()
      const task = await aTask(server(), template, ann)
      await aBuild(server(), { id: String(task.workspace_id) }, ann, { transition: "stop" })
      await call("PATCH", `/tasks/me/${task.id}/input`, ann, { input: "other" })
      await call("DELETE", `/tasks/me/${task.id}`, ann)
      const entries = await server().run(auditEntries({ resource_id: task.id }))
      expect(entries.map(({ action, resource_type, status_code }) => [resource_type, action, status_code])).toStrictEqual([
        ["task", "create", 201],
        ["task", "write", 204],
        ["task", "delete", 202]
      ])
      expect(entries[1]?.diff).toStrictEqual({ prompt: { old: "do it", new: "other", secret: false } })
      expect((await server().run(auditEntries({ resource_id: task.workspace_id ?? Uuid.nil }))).map(({ action }) => action)).toContain(
        "create"
      )
    })

    it("of one name are created once for concurrent calls", async () => {
      const template = await aTaskTemplate(server())
      const ann = await server().aMember()
      const body = { template_version_id: template.active_version_id, name: aName(), input: "x" }
      const answers = await Promise.all([1, 2, 3, 4].map(() => call("POST", "/tasks/me", ann, body)))
      expect(answers.map(({ status }) => status).toSorted()).toStrictEqual([201, 409, 409, 409])
      expect((await list("", ann)).count).toBe(1)
    })
  },
  { provisioner: Layer.merge(testEngines, loopbackDialer) }
)
