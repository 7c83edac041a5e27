import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import ssh2 from "ssh2"
import { expect, it, onTestFinished } from "vitest"
import { freePorts, Server } from "./Server.js"

it("the program serves the SSH gateway at an address of its own", async () => {
  const folder = await mkdtemp(join(tmpdir(), "atelier-ssh-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const port = await freePorts(2)
  const server = await Server.start({
    port,
    database: `sqlite:${join(folder, "atelier.db")}`,
    workspacesDirectory: join(folder, "workspaces"),
    args: ["--ssh-address", `127.0.0.1:${port + 1}`]
  })
  onTestFinished(async () => void (await server.stop()))
  const client = new ssh2.Client()
  const ended = new Promise<Error>((resolve) => client.on("error", resolve))
  client.connect({ host: "127.0.0.1", port: port + 1, username: "dev", password: "none" })
  expect((await ended).message).toBe("All configured authentication methods failed")
})
