import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { lastingDatabaseUrl } from "../../../test/store/databases.js"
import { freePort, Server } from "./Server.js"
import { build, clientOf, firstToken, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "./Steps.js"

describe("two standalone servers on one PostgreSQL", () => {
  it("tell a watcher on one of a build made on the other", async () => {
    const directory = await mkdtemp(join(tmpdir(), "atelier-pair-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const database = await lastingDatabaseUrl()
    const first = await Server.start({ port: await freePort(), database, workspacesDirectory: join(directory, "workspaces") })
    onTestFinished(async () => void (await first.stop()))
    const token = await firstToken(first.url)
    const client = clientOf(first.url, token)
    const second = await Server.start({
      port: await freePort(),
      database,
      workspacesDirectory: join(directory, "unused"),
      // The workspaces' files are the first server's
      args: ["--provisioner-daemons", "0"]
    })
    onTestFinished(async () => void (await second.stop()))
    const other = clientOf(second.url, token)

    const template = await templateFrom(client, "shell", { example: "shell" })
    const created = await workspaceFrom(client, template, "shared")
    await untilWorkspace(client, created.id, isRunning)

    let requested = false
    const seen = untilWorkspace(other, created.id, (workspace) => {
      // The first event is the present state: only then is the watcher sure to be there
      if (workspace.latest_build.build_number === 1 && !requested) {
        requested = true
        void build(client, created, "stop")
      }
      return workspace.latest_build.build_number === 2
    })
    // Nothing but the first server's event has the second one look again
    expect((await seen).latest_build.build_number).toBe(2)
    await untilWorkspace(client, created.id, ({ latest_build }) => latest_build.status === "stopped")
    await build(client, created, "delete")
    await untilWorkspace(client, created.id, ({ latest_build }) => latest_build.status === "deleted")
  })
})
