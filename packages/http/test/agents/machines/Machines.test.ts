/** What agents tell of their machines: listening ports and containers. */
import { Schema } from "effect"
import { createServer } from "node:http"
import { randomUUID } from "node:crypto"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished, vi } from "vitest"
import { anApp } from "../../../../../test/records/resources.js"
import { link, webApp } from "../../network/linkedAgents.js"
import { type AgentServer, describeAgents } from "../AgentServer.js"

const Ports = Schema.Struct({
  ports: Schema.Array(Schema.Struct({ port: Schema.Number, process_name: Schema.String, network: Schema.String }))
})
const Containers = Schema.Struct({
  containers: Schema.Array(Schema.Struct({ id: Schema.String })),
  devcontainers: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, status: Schema.String }))
})

/** An engine with an API compatible with Docker's, and the requests that it got. */
const anEngine = async () => {
  const path = join(tmpdir(), `engine-${randomUUID().slice(0, 8)}.sock`)
  const asked: Array<string> = []
  let containers: ReadonlyArray<object> = [
    {
      Id: "abc",
      Names: ["/web"],
      Image: "debian",
      Created: 1_700_000_000,
      Labels: { "devcontainer.local_folder": "/home/ann/site", "devcontainer.config_file": "/home/ann/site/devcontainer.json" },
      State: "running",
      Status: "Up 2 hours",
      Ports: [{ IP: "0.0.0.0", PrivatePort: 80, PublicPort: 8080, Type: "tcp" }],
      Mounts: [{ Source: "/src", Destination: "/dst" }]
    },
    { Id: "def", Image: "redis", Created: 1_700_000_001, Labels: null, State: "exited", Status: "Exited (0)", Ports: null }
  ]
  const engine = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (request.method === "DELETE") {
      containers = containers.slice(1)
      response.writeHead(204).end()
    } else response.end(JSON.stringify(containers))
  })
  await new Promise<void>((resolve) => engine.listen(path, resolve))
  onTestFinished(() => {
    engine.closeAllConnections()
    engine.close()
  })
  return { path, asked }
}

describeAgents("the machine of an agent", (server) => {
  const get = (id: string, path: string, token = server().owner().token) => server().call("GET", `/workspaceagents/${id}${path}`, { token })

  const aMachine = async (of: AgentServer, engine?: string) => {
    const [taken, free] = [await webApp((_, response) => void response.end()), await webApp((_, response) => void response.end())]
    const agent = await of.anAgent({ apps: [anApp({ slug: "web", url: `http://localhost:${taken}` })] })
    await link(of, agent, undefined, engine)
    return { agent, taken, free }
  }

  it("has the ports that programs listen on, but those of the agent's apps", async () => {
    const { agent, free, taken } = await aMachine(server())
    const { ports } = (await get(agent.id, "/listening-ports")).as(Ports)
    expect(ports.find(({ port }) => port === free)).toMatchObject({ network: "tcp", process_name: expect.stringMatching(/./) })
    expect(ports.find(({ port }) => port === taken)).toBeUndefined()
  })

  it("has no containers without an engine", async () => {
    const { agent } = await aMachine(server())
    expect((await get(agent.id, "/containers")).body).toStrictEqual({ containers: [], devcontainers: [] })
  })

  it("has the containers of its engine, by their labels", async () => {
    const engine = await anEngine()
    const { agent } = await aMachine(server(), engine.path)
    const all = await get(agent.id, "/containers")
    expect(all.body).toMatchObject({
      containers: [
        {
          id: "abc",
          name: "web",
          image: "debian",
          created_at: "2023-11-14T22:13:20.000Z",
          running: true,
          status: "Up 2 hours",
          ports: [{ port: 80, network: "tcp", host_ip: "0.0.0.0", host_port: 8080 }],
          volumes: { "/src": "/dst" }
        },
        { id: "def", name: "", labels: {}, running: false, ports: [] }
      ],
      devcontainers: [{ name: "site", workspace_folder: "/home/ann/site", status: "running", dirty: false, container: { id: "abc" } }]
    })
    const labelled = async (query: string) => (await get(agent.id, `/containers?${query}`)).as(Containers).containers.map(({ id }) => id)
    const folder = "label=devcontainer.local_folder%3D/home/ann/site"
    expect(await labelled(folder)).toStrictEqual(["abc"])
    expect(await labelled(`${folder}&label=a%3Db`)).toStrictEqual([])
    for (const wrong of ["label=a", "label=a%3Db%3Dc"]) expect((await get(agent.id, `/containers?${wrong}`)).status).toBe(400)
  })

  it("removes a devcontainer for a user who may change the workspace, and tells watchers", async () => {
    const engine = await anEngine()
    const { agent } = await aMachine(server(), engine.path)
    const { devcontainers } = (await get(agent.id, "/containers")).as(Containers)
    const path = `/workspaceagents/${agent.id}/containers/devcontainers/${devcontainers[0]?.id}`
    const watch = server().socket(`/workspaceagents/${agent.id}/containers/watch`, server().owner().token)
    expect(await watch.next()).toMatchObject({ containers: [{ id: "abc" }, { id: "def" }] })
    const { token } = server().owner()
    expect((await server().call("DELETE", path.replace(/.$/, "x"), { token })).status).toBe(404)
    expect((await server().call("DELETE", path, { token })).status).toBe(204)
    expect(engine.asked).toContain("DELETE /containers/abc?force=true")
    expect(await watch.next()).toMatchObject({ containers: [{ id: "def" }], devcontainers: [] })
    watch.close()
  })

  it("recreates a devcontainer if the program for it is installed", async () => {
    const engine = await anEngine()
    const { agent } = await aMachine(server(), engine.path)
    const { devcontainers } = (await get(agent.id, "/containers")).as(Containers)
    const path = `/workspaceagents/${agent.id}/containers/devcontainers/${devcontainers[0]?.id}/recreate`
    const answer = await server().call("POST", path, { token: server().owner().token })
    expect([answer.status, answer.body]).toMatchObject([202, { message: expect.stringContaining("site") }])
    const shown = async () => (await get(agent.id, "/containers")).body
    await expect
      .poll(shown)
      .toMatchObject({ devcontainers: [{ status: "error", error: "The program devcontainer is not installed in the workspace." }] })
  })

  it("gives a devcontainer's program the variables of scripts, not the agent's own", async () => {
    const folder = await mkdtemp(join(tmpdir(), "devcontainer-"))
    await writeFile(join(folder, "devcontainer"), `#!/bin/sh\nenv > ${folder}/given\n`, { mode: 0o755 })
    vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`).stubEnv("SERVICE_AGENT_TOKEN", "of-the-agent")
    onTestFinished(async () => {
      vi.unstubAllEnvs()
      await rm(folder, { recursive: true })
    })
    const engine = await anEngine()
    const { agent } = await aMachine(server(), engine.path)
    const { devcontainers } = (await get(agent.id, "/containers")).as(Containers)
    const path = `/workspaceagents/${agent.id}/containers/devcontainers/${devcontainers[0]?.id}/recreate`
    await server().call("POST", path, { token: server().owner().token })
    await expect.poll(async () => (await get(agent.id, "/containers")).body).toMatchObject({ devcontainers: [{ status: "running" }] })
    const given = await readFile(join(folder, "given"), "utf8")
    expect([given.includes("PS1=$ "), given.includes("of-the-agent")]).toStrictEqual([true, false])
  })

  it("is watched no longer than its caller may read the workspace", async () => {
    const member = await server().aMember()
    const agent = await server().anAgent({}, member)
    await link(server(), agent)
    const watch = server().socket(`/workspaceagents/${agent.id}/containers/watch`, member.token)
    expect(await watch.next()).toStrictEqual({ containers: [], devcontainers: [] })
    await server().call("POST", "/users/logout", { token: member.token })
    expect(await watch.closed).toBe(1008)
  })

  it("is changed by users who may update the workspace alone", async () => {
    const reader = await server().aMember()
    const acl = { [reader.user.id]: ["read"] }
    const agent = await server().anAgent({}, server().owner(), { workspace: { user_acl: acl } })
    await link(server(), agent)
    const path = `/workspaceagents/${agent.id}/containers/devcontainers/${randomUUID()}`
    expect((await get(agent.id, "/containers", reader.token)).status).toBe(200)
    expect((await server().call("DELETE", path, { token: reader.token })).status).toBe(403)
    expect((await server().call("POST", `${path}/recreate`, { token: reader.token })).status).toBe(403)
  })

  it("is asked for readers of the workspace alone, while its agent is connected", async () => {
    const { agent } = await aMachine(server())
    const stranger = await server().aMember()
    const away = await server().anAgent()
    for (const path of ["/listening-ports", "/containers"]) {
      expect((await get(agent.id, path, stranger.token)).status).toBe(404)
      const answer = await get(away.id, path)
      expect([answer.status, answer.body]).toMatchObject([400, { message: expect.stringContaining("has not connected yet") }])
    }
    const watched = server().socket(`/workspaceagents/${away.id}/containers/watch`, server().owner().token)
    expect((await watched.refused).status).toBe(400)
  })
})
