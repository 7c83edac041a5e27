import { type Client, tasks, users, type Workspace, workspaces } from "@atelier/client"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { Database } from "../../../test/store/databases.js"
import { onceOn } from "../../../test/http/server.js"
import { freePort, Server, type ServerOptions } from "./Server.js"
import {
  agentOf,
  agentsOf,
  build,
  clientOf,
  firstToken,
  isRunning,
  outputOf,
  templateFrom,
  untilWorkspace,
  workspaceFrom
} from "./Steps.js"

/**
 * The whole path with real processes: from an empty server to a workspace that was started, stopped, started again and deleted. `databaseIn` makes
 * a database, maybe in the directory, and answers how to reach it. Most tests run on the database that their title decides: \`lifeCycleKills.test.ts\`
 * kills servers on PostgreSQL.
 */
export const journey = (kind: Database[0], databaseIn: (directory: string) => Promise<string>, args: ReadonlyArray<string> = []): void => {
  const once = (title: string, test: () => Promise<void>): void => onceOn(title, kind)(title, test)

  describe(`a standalone server on ${kind}`, () => {
    let directory: string
    let options: ServerOptions
    let server: Server
    let session: string
    let client: Client

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "atelier-journey-"))
      options = { port: await freePort(), database: await databaseIn(directory), workspacesDirectory: join(directory, "workspaces"), args }
      server = await Server.start(options)
      session = await firstToken(server.url)
      client = clientOf(server.url, session)
    })

    // Only the server knows why it answered as it did
    beforeEach(({ onTestFailed }) => onTestFailed(() => void process.stderr.write(server.log)))

    afterAll(async () => {
      const { workspaces: left } = await workspaces.listWorkspaces(client)
      await Promise.all(
        left.map(async (workspace) => {
          // A build that runs already is as good
          await build(client, workspace, "delete").catch(() => undefined)
          await untilWorkspace(client, workspace.id, ({ latest_build }) => ["deleted", "failed"].includes(latest_build.status))
        })
      )
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    })

    it("takes a workspace from an example through start, stop, start and delete", async () => {
      const template = await templateFrom(client, "shell", { example: "shell" })
      const created = await workspaceFrom(client, template, "first")
      const running = await untilWorkspace(client, created.id, isRunning)
      expect(running.health).toStrictEqual({ healthy: true, failing_agents: [] })
      expect(await outputOf(client, agentOf(running), 2)).toStrictEqual(["Preparing the home of first", "Ready"])

      await build(client, created, "stop")
      const stopped = await untilWorkspace(client, created.id, ({ latest_build }) => latest_build.status === "stopped")
      expect(agentsOf(stopped)).toStrictEqual([])

      await build(client, created, "start")
      const again = await untilWorkspace(client, created.id, isRunning)
      expect(again.latest_build.build_number).toBe(3)
      expect(agentOf(again).id).not.toBe(agentOf(running).id)

      await build(client, created, "delete")
      await untilWorkspace(client, created.id, ({ latest_build }) => latest_build.status === "deleted")
      const workspace = created.id
      await expect(workspaces.getWorkspace(client, { workspace })).rejects.toMatchObject({ name: "AtelierError", status: 410 })
      const deleted = await workspaces.getWorkspace(client, { workspace, include_deleted: true })
      expect(deleted.latest_build.status).toBe("deleted")
    })

    once("serves a health-checked application", async () => {
      const template = await templateFrom(client, "node-app", { example: "node-app" })
      const page = async ({ name, owner_name }: Workspace) => {
        const address = `${server.url}/@${owner_name}/${name}/apps/app/`
        return (await fetch(address, { headers: { "Service-Session-Token": session } })).text()
      }
      const ports: Array<string> = []
      for (const name of ["web", "site"]) {
        const created = await workspaceFrom(client, template, name)
        const isHealthy = (workspace: Workspace) => isRunning(workspace) && agentOf(workspace).apps[0]?.health === "healthy"
        const running = await untilWorkspace(client, created.id, isHealthy)
        expect(await page(running)).toMatch(new RegExp(`^Hello from .*/${created.id}/app\n$`))
        ports.push(new URL(agentOf(running).apps[0]?.url ?? "").port)
      }
      if (process.platform !== "linux") return
      // An app whose template names the port of another workspace shows that workspace's page to no one
      const source = `agents: [{ name: main, apps: [{ slug: app, url: "http://localhost:${ports[0]}", healthcheck: { url: "http://localhost:${ports[0]}", interval: 1, threshold: 1 } }] }]`
      const rival = await workspaceFrom(client, await templateFrom(client, "rival", { files: { "template.yaml": source } }), "rival")
      const unhealthy = await untilWorkspace(
        client,
        rival.id,
        (workspace) => isRunning(workspace) && agentOf(workspace).apps[0]?.health === "unhealthy"
      )
      expect(await page(unhealthy)).toContain(`Port ${ports[0]} is used by another program.`)
      expect(await outputOf(client, agentOf(unhealthy), 1)).toContain(
        `The app app is unhealthy: port ${ports[0]} is used by another program.`
      )
    })

    once("works on a task that is messaged, paused and resumed", async () => {
      const template = await templateFrom(client, "task", { example: "task" })
      const body = { template_version_id: template.active_version_id, name: "greeting", input: "echo hello from $(basename $PWD)" }
      const { id } = await tasks.createTask(client, { user: "me", body })
      const { id: workspace } = await workspaces.getWorkspaceByName(client, { user: "me", workspacename: body.name })
      const named = { user: "me", task: "greeting" }
      const ended = (command: string) =>
        untilWorkspace(
          client,
          workspace,
          (now) =>
            isRunning(now) &&
            agentOf(now).apps[0]?.health === "healthy" &&
            now.latest_app_status?.state === "idle" &&
            now.latest_app_status.message === command
        )
      const said = async () => {
        const { logs, snapshot } = await tasks.getTaskLogs(client, named)
        return { stored: snapshot ?? false, logs: logs.map(({ content, type }) => [type, content]) }
      }
      await ended(body.input)
      const first = [
        ["input", body.input],
        ["output", "hello from work"]
      ]
      expect(await tasks.getTask(client, named)).toMatchObject({ id, status: "active", current_state: { state: "idle" } })
      expect(await said()).toStrictEqual({ stored: false, logs: first })

      await tasks.sendTaskMessage(client, { ...named, body: { input: "echo $((6 * 7))" } })
      await ended("echo $((6 * 7))")
      const second = [...first, ["input", "echo $((6 * 7))"], ["output", "42"]]
      expect(await said()).toStrictEqual({ stored: false, logs: second })

      await tasks.pauseTask(client, named)
      await untilWorkspace(client, workspace, ({ latest_build }) => latest_build.status === "stopped")
      expect((await tasks.getTask(client, named)).status).toBe("paused")
      expect(await said()).toStrictEqual({ stored: true, logs: second })

      await tasks.updateTaskInput(client, { ...named, body: { input: "echo again" } })
      await tasks.resumeTask(client, named)
      await ended("echo again")
      expect((await said()).logs).toStrictEqual([...second, ["input", "echo again"], ["output", "again"]])

      await tasks.deleteTask(client, named)
      await untilWorkspace(client, workspace, ({ latest_build }) => latest_build.status === "deleted")
      await expect(tasks.getTask(client, named)).rejects.toMatchObject({ status: 404 })
    })

    once("loses no line of a script's output when it is killed while the output streams", async () => {
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
      const created = await workspaceFrom(client, template, "talkative")
      const started = await untilWorkspace(client, created.id, (workspace) =>
        agentsOf(workspace).some(({ logs_length }) => logs_length > 0)
      )
      await server.kill()
      server = await Server.start(options)
      const ready = await untilWorkspace(client, created.id, isRunning)
      expect(agentOf(ready).id).toBe(agentOf(started).id)
      expect(await outputOf(client, agentOf(ready), lines)).toStrictEqual(Array.from({ length: lines }, (_, index) => `line ${index + 1}`))
    })

    once("continues a build that was running when it was killed", async () => {
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
      const created = await workspaceFrom(client, template, "slow-stop")
      await untilWorkspace(client, created.id, isRunning)
      await build(client, created, "stop")
      await untilWorkspace(client, created.id, ({ latest_build }) => latest_build.status === "stopping")
      await server.kill()
      server = await Server.start(options)
      const ended = await untilWorkspace(client, created.id, ({ latest_build }) => Boolean(latest_build.job.completed_at))
      expect(ended.latest_build.status).toBe("stopped")
      await build(client, created, "start")
      await untilWorkspace(client, created.id, isRunning)
    })

    it("ends cleanly when it is asked to", async () => {
      expect(await server.stop()).toBe(0)
      server = await Server.start(options)
      expect(await users.getUser(client, { user: "me" })).toMatchObject({ username: "ada" })
    })
  })
}
