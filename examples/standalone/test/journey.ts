import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Client, freePort, Server, type ServerOptions, type Workspace } from "./Server.js"
import { agentOf, agentsOf, build, isRunning, outputOf, templateFrom } from "./Steps.js"

/**
 * The whole path with real processes: from an empty server to a workspace that was started, stopped, started again and deleted. `databaseIn` makes
 * a database, maybe in the directory, and answers how to reach it.
 */
export const journey = (kind: string, databaseIn: (directory: string) => Promise<string>, args: ReadonlyArray<string> = []): void => {
  describe(`a standalone server on ${kind}`, () => {
    let directory: string
    let options: ServerOptions
    let server: Server
    let client: Client

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "atelier-journey-"))
      options = { port: await freePort(), database: await databaseIn(directory), workspacesDirectory: join(directory, "workspaces"), args }
      server = await Server.start(options)
      client = await Client.first(server.url)
    })

    // Only the server knows why it answered as it did
    beforeEach(({ onTestFailed }) => onTestFailed(() => void process.stderr.write(server.log)))

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
    })

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
    })

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
    })

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
    })

    it("continues a build that was running when it was killed", async () => {
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
      const ended = await client.untilWorkspace(created.id, ({ latest_build }) => Boolean(latest_build.job.completed_at))
      expect(ended.latest_build.status).toBe("stopped")
      await build(client, created, "start")
      await client.untilWorkspace(created.id, isRunning)
    })

    it("ends cleanly when it is asked to", async () => {
      expect(await server.stop()).toBe(0)
      server = await Server.start(options)
      expect((await client.call("GET", "/users/me")).status).toBe(200)
    })
  })
}
