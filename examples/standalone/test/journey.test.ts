/** The whole path with real processes: from an empty server to a workspace that was started, stopped, started again and deleted. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { pack } from "tar-stream"
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import pg from "pg"
import { type Agent, Client, freePort, Server, type ServerOptions, type Workspace } from "./Server.js"

const archiveOf = async (files: Readonly<Record<string, string>>): Promise<Uint8Array> => {
  const archive = pack()
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, content)
  archive.finalize()
  return buffer(archive)
}

const agentsOf = (workspace: Workspace): ReadonlyArray<Agent> => workspace.latest_build.resources.flatMap(({ agents }) => agents ?? [])

const agentOf = (workspace: Workspace): Agent => {
  const [agent] = agentsOf(workspace)
  if (agent === undefined) throw new Error("the workspace has no agent")
  return agent
}

const isRunning = (workspace: Workspace): boolean =>
  workspace.latest_build.status === "running" &&
  agentsOf(workspace).some(({ lifecycle_state, status }) => status === "connected" && lifecycle_state === "ready")

interface Version {
  readonly id: string
  readonly job: { readonly status: string; readonly error?: string }
}

interface Template {
  readonly id: string
}

/** Waits until an imported version's job has ended, by following its log to the end. */
const imported = async (client: Client, version: Version): Promise<void> => {
  const socket = new WebSocket(`${client.url.replace("http", "ws")}/api/v2/templateversions/${version.id}/logs?follow`, {
    headers: { "Service-Session-Token": client.token }
  })
  await new Promise<void>((resolve, reject) => {
    socket.on("close", () => resolve())
    socket.on("error", reject)
  })
  const done = await client.expect<Version>(200, "GET", `/templateversions/${version.id}`)
  if (done.job.status !== "succeeded") throw new Error(`the import is ${done.job.status}: ${done.job.error}`)
}

const templateFrom = async (
  client: Client,
  name: string,
  source: { readonly example: string } | { readonly files: Record<string, string> }
): Promise<Template> => {
  const reference =
    "example" in source
      ? { example_id: source.example }
      : { file_id: (await client.call<{ readonly hash: string }>("POST", "/files", await archiveOf(source.files))).body.hash }
  const version = await client.expect<Version>(201, "POST", "/organizations/default/templateversions", {
    storage_method: "file",
    provisioner: "terraform",
    ...reference
  })
  await imported(client, version)
  return client.expect<Template>(201, "POST", "/organizations/default/templates", { name, template_version_id: version.id })
}

const build = (client: Client, workspace: Workspace, transition: string) =>
  client.expect<Workspace["latest_build"]>(201, "POST", `/workspaces/${workspace.id}/builds`, { transition })

/** The agent's output once it has that many different lines; they may arrive a moment after what they tell of. */
const outputOf = (client: Client, agent: Agent, count: number): Promise<ReadonlyArray<string>> =>
  new Promise((resolve, reject) => {
    const lines = new Set<string>()
    const socket = new WebSocket(`${client.url.replace("http", "ws")}/api/v2/workspaceagents/${agent.id}/logs?follow`, {
      headers: { "Service-Session-Token": client.token }
    })
    const timer = setTimeout(() => socket.close(), 20_000)
    socket.on("message", (message) => {
      for (const { output } of JSON.parse(String(message))) lines.add(output)
      if (lines.size >= count) socket.close()
    })
    socket.on("close", () => {
      clearTimeout(timer)
      resolve([...lines])
    })
    socket.on("error", reject)
  })

/** A database of each kind, its server's options, and what to do afterwards. */
const databases: ReadonlyArray<readonly [string, (directory: string) => Promise<string>]> = [
  ["SQLite", async (directory) => `sqlite:${join(directory, "atelier.db")}`],
  [
    "PostgreSQL",
    async () => {
      const client = new pg.Client({ connectionString: inject("postgresUrl") })
      await client.connect()
      const name = `journey_${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`
      await client.query(`CREATE DATABASE ${name}`)
      await client.end()
      const url = new URL(inject("postgresUrl"))
      url.pathname = `/${name}`
      return url.href
    }
  ]
]

for (const [kind, databaseIn] of databases) {
  describe(`a standalone server on ${kind}`, () => {
    let directory: string
    let options: ServerOptions
    let server: Server
    let client: Client

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "atelier-journey-"))
      options = { port: await freePort(), database: await databaseIn(directory), workspacesDirectory: join(directory, "workspaces") }
      server = await Server.start(options)
      client = await Client.first(server.url)
    }, 60_000)

    afterAll(async () => {
      const { workspaces } = await client.expect<{ readonly workspaces: ReadonlyArray<Workspace> }>(200, "GET", "/workspaces")
      await Promise.all(
        workspaces.map(async ({ id }) => {
          await client.call("POST", `/workspaces/${id}/builds`, { transition: "delete" })
          await client.untilWorkspace(id, ({ latest_build }) => ["deleted", "failed"].includes(latest_build.status))
        })
      )
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    }, 120_000)

    it("takes a workspace from an example through start, stop, start and delete", async () => {
      const template = await templateFrom(client, "shell", { example: "shell" })
      const created = await client.expect<Workspace>(201, "POST", "/users/me/workspaces", { name: "first", template_id: template.id })
      const running = await client.untilWorkspace(created.id, isRunning)
      expect(running.health).toStrictEqual({ healthy: true, failing_agents: [] })
      expect(await outputOf(client, agentOf(running), 2)).toStrictEqual(["Preparing the home of first", "Ready"])

      await build(client, created, "stop")
      const stopped = await client.untilWorkspace(created.id, ({ latest_build }) => latest_build.status === "stopped")
      expect(agentsOf(stopped)).toStrictEqual([])

      await build(client, created, "start")
      const again = await client.untilWorkspace(created.id, isRunning)
      expect(again.latest_build.build_number).toBe(3)
      expect(agentOf(again).id).not.toBe(agentOf(running).id)

      await build(client, created, "delete")
      await client.untilWorkspace(created.id, ({ latest_build }) => latest_build.status === "deleted")
      expect((await client.call("GET", `/workspaces/${created.id}`)).status).toBe(410)
      expect((await client.expect<Workspace>(200, "GET", `/workspaces/${created.id}?include_deleted=true`)).latest_build.status).toBe(
        "deleted"
      )
    }, 90_000)

    it("serves a health-checked application", async () => {
      const template = await templateFrom(client, "node-app", { example: "node-app" })
      const port = await freePort()
      const created = await client.expect<Workspace>(201, "POST", "/users/me/workspaces", {
        name: "web",
        template_id: template.id,
        rich_parameter_values: [{ name: "port", value: String(port) }]
      })
      await client.untilWorkspace(created.id, (workspace) => isRunning(workspace) && agentOf(workspace).apps[0]?.health === "healthy")
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toMatch(/^Hello from .*\/app\n$/)
    }, 90_000)

    it("loses no line of a script's output when it is killed while the output streams", async () => {
      const lines = 400
      const template = await templateFrom(client, "talkative", {
        files: {
          "template.yaml": [
            "agents:",
            "  - name: main",
            "    startup_script_behavior: blocking",
            "    startup_script: |",
            `      for line in $(seq 1 ${lines}); do echo "line $line"; sleep 0.01; done`
          ].join("\n")
        }
      })
      const created = await client.expect<Workspace>(201, "POST", "/users/me/workspaces", { name: "talkative", template_id: template.id })
      const started = await client.untilWorkspace(created.id, (workspace) => agentsOf(workspace).some(({ logs_length }) => logs_length > 0))
      await server.kill()
      server = await Server.start(options)
      const ready = await client.untilWorkspace(created.id, isRunning)
      expect(agentOf(ready).id).toBe(agentOf(started).id)
      expect(await outputOf(client, agentOf(ready), lines)).toStrictEqual(Array.from({ length: lines }, (_, index) => `line ${index + 1}`))
    }, 120_000)

    it("ends a build that was running when it was killed, and can start the workspace again", async () => {
      const template = await templateFrom(client, "slow-stop", {
        files: {
          "template.yaml": [
            "agents:",
            "  - name: main",
            "    scripts:",
            "      - { display_name: Stop slowly, run_on_stop: true, script: touch stopping; sleep 3 }"
          ].join("\n")
        }
      })
      const created = await client.expect<Workspace>(201, "POST", "/users/me/workspaces", { name: "slow-stop", template_id: template.id })
      await client.untilWorkspace(created.id, isRunning)
      await build(client, created, "stop")
      await client.untilWorkspace(created.id, ({ latest_build }) => latest_build.status === "stopping")
      await server.kill()
      server = await Server.start(options)
      const ended = await client.untilWorkspace(
        created.id,
        ({ latest_build }) => ["stopped", "failed", "canceled"].includes(latest_build.status),
        90_000
      )
      expect(ended.latest_build.job.completed_at).toBeTruthy()
      await build(client, created, "start")
      await client.untilWorkspace(created.id, isRunning)
    }, 180_000)

    it("ends cleanly when it is asked to", async () => {
      expect(await server.stop()).toBe(0)
      server = await Server.start(options)
      expect((await client.call("GET", "/users/me")).status).toBe(200)
    }, 30_000)
  })
}

describe("two standalone servers on one PostgreSQL", () => {
  it("tell a watcher on one of a build made on the other within a second", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-pair-"))
    const postgres = databases[1]?.[1]
    if (postgres === undefined) throw new Error("PostgreSQL is not among the databases")
    const database = await postgres(directory)
    const first = await Server.start({ port: await freePort(), database, workspacesDirectory: join(directory, "workspaces") })
    onTestFinished(async () => void (await first.stop()))
    const client = await Client.first(first.url)
    const second = await Server.start({
      port: await freePort(),
      database,
      workspacesDirectory: join(directory, "unused"),
      // The workspaces' files are the first server's
      args: ["--provisioner-daemons", "0"]
    })
    onTestFinished(async () => void (await second.stop()))
    const other = new Client(second.url, client.token)

    const template = await templateFrom(client, "shell", { example: "shell" })
    const created = await client.expect<Workspace>(201, "POST", "/users/me/workspaces", { name: "shared", template_id: template.id })
    await client.untilWorkspace(created.id, isRunning)

    let requested = 0
    const seen = other.untilWorkspace(created.id, (workspace) => {
      // The first event is the present state: only then is the watcher sure to be there
      if (workspace.latest_build.build_number === 1 && requested === 0) {
        requested = performance.now()
        void build(client, created, "stop")
      }
      return workspace.latest_build.build_number === 2
    })
    await seen
    expect(performance.now() - requested).toBeLessThan(1000)
    await client.untilWorkspace(created.id, ({ latest_build }) => latest_build.status === "stopped")
    await build(client, created, "delete")
    await client.untilWorkspace(created.id, ({ latest_build }) => latest_build.status === "deleted")
  }, 120_000)
})
