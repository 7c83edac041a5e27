import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { expect, it } from "vitest"
import WebSocket from "ws"
import { auditEntries } from "../../../../../test/http/audit.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aResource, anAgent } from "../../../../../test/records/resources.js"
import { type Answer, describeInterface, describeServer, type Person, type TestServer } from "../../../../../test/http/server.js"
import { anImportedVersion, aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aName, aWorkspace, buildEnded, requestBuild, requestWorkspace } from "../../../../../test/http/workspaceCalls.js"
import { Workspace, WorkspaceBuild } from "../../../src/contract/workspaces/workspaces.js"
import { Response } from "../../../src/wire/errors.js"

const refusal = (answer: Answer) => [answer.status, answer.as(Response).validations?.map(({ field }) => field)]

interface Message {
  readonly type: string
  readonly data: { readonly name?: string; readonly latest_build?: { readonly status: string } } | null
}

/** A WebSocket that keeps what it is sent. */
const watchSocket = (server: TestServer, id: string, { token }: Person) => {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/v2/workspaces/${id}/watch-ws`, {
    headers: { "Service-Session-Token": token }
  })
  const messages: Array<Message> = []
  let wake = (): void => {}
  socket.on("message", (data) => {
    messages.push(JSON.parse(String(data)) as Message)
    wake()
  })
  const closed = new Promise<number>((resolve) => socket.on("close", resolve))
  return {
    socket,
    messages,
    closed,
    /** The first message the condition holds for. */
    next: async (condition: (message: Message) => boolean): Promise<Message> => {
      for (;;) {
        const found = messages.find(condition)
        if (found !== undefined) return found
        await new Promise<void>((resolve) => (wake = resolve))
      }
    }
  }
}

describeServer(
  "a workspace",
  (server) => {
    const owner = () => server().owner()
    const get = (path: string, { token }: Pick<Person, "token"> = owner()) => server().call("GET", path, { token })

    it("is found by id and by name, once deleted only on request", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const { id, name } = await aWorkspace(server(), template, member)
      const byName = (query = "") => get(`/users/${member.user.username}/workspace/${name.toUpperCase()}${query}`, member)
      expect((await byName()).as(Workspace).id).toBe(id)
      await aBuild(server(), { id }, member, { transition: "delete" })
      expect((await get(`/workspaces/${id}`, member)).status).toBe(410)
      expect((await get(`/workspaces/${id}?include_deleted=true`, member)).as(Workspace).latest_build.status).toBe("deleted")
      expect((await byName()).status).toBe(404)
      expect((await byName("?include_deleted=T")).as(Workspace).id).toBe(id)
      const again = (await requestWorkspace(server(), template, member, { name })).as(Workspace)
      expect((await byName("?include_deleted=true")).as(Workspace).id).toBe(again.id)
      expect(refusal(await get(`/workspaces/${id}?include_deleted=maybe`, member))).toStrictEqual([400, ["deleted"]])
      expect(refusal(await byName("?include_deleted=maybe"))).toStrictEqual([400, ["include_deleted"]])
    })

    it("is missing for actors who may not read it", async () => {
      const { id, name } = await aWorkspace(server(), await aTemplate(server()), owner())
      const stranger = await server().aMember()
      const bodies = await Promise.all(
        [`/workspaces/${id}`, `/workspaces/${stranger.user.id}`, `/users/me/workspace/${name}`].map((path) => get(path, stranger))
      )
      expect(bodies.map(({ status }) => status)).toStrictEqual([404, 404, 404])
      expect(bodies[0]?.body).toStrictEqual(bodies[1]?.body)
      expect((await get(`/users/nobody/workspace/${name}`)).status).toBe(404)
      expect((await get("/workspaces/nothing")).status).toBe(400)
    })

    it("shows its resources with agents and apps in their order, and agents that are not well", async () => {
      const template = await aTemplate(server(), {
        resources: [
          aResource({ name: "b", agents: [anAgent({ name: "second", order: 2 }), anAgent({ name: "first", order: 1 })] }),
          aResource({ name: "a", agents: [] })
        ]
      })
      const { health, latest_build } = await aWorkspace(server(), template, owner())
      expect(latest_build.resources.map(({ agents, name }) => [name, ...agents.map((agent) => agent.name)])).toStrictEqual([
        ["b", "first", "second"],
        ["a"]
      ])
      const ids = latest_build.resources.flatMap(({ agents }) => agents.map(({ id }) => id))
      expect(health).toStrictEqual({ healthy: false, failing_agents: ids })
    })

    it("has no task in the standard form, and null dates until they are set", async () => {
      const { id } = await aWorkspace(server(), await aTemplate(server()), owner())
      expect((await get(`/workspaces/${id}`)).body).toMatchObject({
        task_id: { uuid: "00000000-0000-0000-0000-000000000000", valid: false },
        dormant_at: null,
        deleting_at: null,
        next_start_at: null,
        latest_app_status: null,
        latest_build: { deadline: null, max_deadline: null, template_version_preset_id: null }
      })
    })

    it("keeps its name where the deployment allows no renames", async () => {
      const { id, name } = await aWorkspace(server(), await aTemplate(server()), owner())
      const rename = (body: object, { token } = owner()) => server().call("PATCH", `/workspaces/${id}`, { token, body })
      expect((await rename({ name })).status).toBe(204)
      expect((await rename({ name: aName() })).status).toBe(400)
      expect(refusal(await rename({}))).toStrictEqual([400, ["name"]])
      const stranger = await server().aMember()
      expect((await rename({ name: aName() }, stranger)).status).toBe(404)
    })

    it("is watched over a WebSocket", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      const other = await aWorkspace(server(), template, member)
      const watcher = watchSocket(server(), workspace.id, member)
      await watcher.next(({ type }) => type === "data")
      expect(watcher.messages[0]).toStrictEqual({ type: "ping", data: null })
      expect(watcher.messages[1]?.data).toMatchObject({ id: workspace.id, latest_build: { status: "running" }, outdated: false })

      await aBuild(server(), other, member, { transition: "stop" })
      const queued = (await requestBuild(server(), workspace, member, { transition: "stop" })).as(WorkspaceBuild)
      await watcher.next(({ data }) => data?.latest_build?.status === "stopped")
      await buildEnded(server(), queued)
      expect(watcher.messages.slice(1).every(({ data }) => data !== null && "id" in data && data.id === workspace.id)).toBe(true)

      const { id } = await anImportedVersion(server(), {}, { template_id: template.id })
      await server().call("PATCH", `/templates/${template.id}/versions`, { token: owner().token, body: { id } })
      await watcher.next(({ data }) => data !== null && "outdated" in data && data.outdated === true)
      watcher.socket.send("hello")
      expect(await watcher.closed).toBe(1002)
    })

    it("is shown to each of many watchers that are told at once as that one sees it", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const made = await Promise.all(Array.from({ length: 6 }, () => aWorkspace(server(), template, member)))
      await Promise.all(made.map(({ id }) => server().call("PUT", `/workspaces/${id}/favorite`, { token: member.token })))
      const watchers = made.flatMap(({ id }) =>
        [member, owner()].map((person) => ({ id, person, watcher: watchSocket(server(), id, person) }))
      )
      await Promise.all(watchers.map(({ watcher }) => watcher.next(({ type }) => type === "data")))
      const { id } = await anImportedVersion(server(), {}, { template_id: template.id })
      await server().call("PATCH", `/templates/${template.id}/versions`, { token: owner().token, body: { id } })
      for (const { id, person, watcher } of watchers) {
        const { data } = await watcher.next(({ data }) => data !== null && "outdated" in data && data.outdated === true)
        expect(data).toMatchObject({ id, favorite: person === member })
        watcher.socket.close()
      }
    })

    it("is watched as server-sent events", async () => {
      const workspace = await aWorkspace(server(), await aTemplate(server()), owner())
      const abort = new AbortController()
      const response = await fetch(`${server().url}/api/v2/workspaces/${workspace.id}/watch`, {
        headers: { "Service-Session-Token": owner().token },
        signal: abort.signal
      })
      expect([response.status, response.headers.get("content-type"), response.headers.get("cache-control")]).toStrictEqual([
        200,
        "text/event-stream",
        "no-cache, no-transform"
      ])
      expect(response.headers.get("x-accel-buffering")).toBe("no")
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      if (reader === undefined) return expect.unreachable("the answer has a body")
      let text = ""
      while (text.split("\n\n").length < 3) text += (await reader.read()).value ?? ""
      abort.abort()
      const [ping, data] = text.split("\n\n")
      expect(ping).toBe("event: ping")
      const [, event, json = ""] = /^event: (.*)\ndata: (.*)$/.exec(data ?? "") ?? []
      expect(event).toBe("data")
      expect(JSON.parse(json)).toMatchObject({ id: workspace.id, name: workspace.name })
    })

    it("is watched by its readers alone", async () => {
      const { id } = await aWorkspace(server(), await aTemplate(server()), owner())
      const stranger = await server().aMember()
      expect((await get(`/workspaces/${id}/watch`, stranger)).status).toBe(404)
      expect((await get(`/workspaces/${id}/watch-ws`, stranger)).status).toBe(404)
      expect((await get(`/workspaces/${id}/watch-ws`)).status).toBe(426)
    })
  },
  { provisioner: testEngines }
)

describeInterface(
  "a workspace that may be renamed",
  (server) => {
    it("is renamed once, to a free name, with an audit entry and an event", async () => {
      const template = await aTemplate(server())
      const member = await server().aMember()
      const workspace = await aWorkspace(server(), template, member)
      const other = await aWorkspace(server(), template, member)
      const rename = (name: string, { token } = member) => server().call("PATCH", `/workspaces/${workspace.id}`, { token, body: { name } })
      const watcher = watchSocket(server(), workspace.id, member)
      await watcher.next(({ type }) => type === "data")
      const name = aName()
      expect((await rename(name)).status).toBe(204)
      await watcher.next(({ data }) => data?.name === name)
      watcher.socket.close()
      expect(refusal(await rename(other.name.toUpperCase()))).toStrictEqual([409, ["name"]])
      expect(refusal(await rename("a--b"))).toStrictEqual([400, ["name"]])
      await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          const acl = JSON.stringify({ [server().owner().user.id]: ["read"] })
          yield* sql`UPDATE workspaces SET user_acl = ${acl} WHERE id = ${workspace.id}`
        })
      )
      const auditor = await server().aMember({}, ["organization-auditor"])
      expect((await rename(aName(), auditor)).status).toBe(404)
      const templateAdmin = await server().aMember({ rbac_roles: ["template-admin"] })
      expect((await rename(aName(), templateAdmin)).status).toBe(403)
      await aBuild(server(), workspace, member, { transition: "delete" })
      expect((await rename(aName())).status).toBe(405)
      const entries = await server().run(auditEntries({ resource_id: workspace.id }))
      expect(entries.map(({ action, diff, status_code }) => [action, status_code, Object.keys(diff)])).toStrictEqual([
        ["create", 201, expect.arrayContaining(["name"])],
        ["write", 204, ["name"]],
        ["write", 409, []],
        ["write", 400, []],
        ["write", 403, []],
        ["write", 405, []]
      ])
    })
  },
  { provisioner: testEngines, options: { allowWorkspaceRenames: true } }
)
