import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { Client, freePort, Server, type Workspace } from "./Server.js"
import { build, isRunning, postgresDatabase, templateFrom } from "./Steps.js"

describe("two standalone servers on one PostgreSQL", () => {
  it("tell a watcher on one of a build made on the other", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-pair-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const database = await postgresDatabase()
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

    let requested = false
    const seen = other.untilWorkspace(created.id, (workspace) => {
      // The first event is the present state: only then is the watcher sure to be there
      if (workspace.latest_build.build_number === 1 && !requested) {
        requested = true
        void build(client, created, "stop")
      }
      return workspace.latest_build.build_number === 2
    })
    // Nothing but the first server's event has the second one look again
    expect((await seen).latest_build.build_number).toBe(2)
    await client.untilWorkspace(created.id, ({ latest_build }) => latest_build.status === "stopped")
    await build(client, created, "delete")
    await client.untilWorkspace(created.id, ({ latest_build }) => latest_build.status === "deleted")
  })
})
