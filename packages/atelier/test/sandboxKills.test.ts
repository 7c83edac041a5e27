/** What kill -9 of the server leaves of sandboxes: nothing after their time, and of an upload the file that was there. */
import { workspaces } from "@atelier/client"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { freePort, Server, type ServerOptions } from "./Server.js"
import { clientOf, firstToken, templateFrom } from "./Steps.js"

const patience = { timeout: 60_000, interval: 250 }

it("a killed server leaves neither a half upload nor, at another address, a sandbox whose time has ended", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-sandbox-kills-"))
  const workspacesDirectory = join(directory, "workspaces")
  const options = async (): Promise<ServerOptions> => ({
    port: await freePort(),
    database: `sqlite:${join(directory, "atelier.db")}`,
    workspacesDirectory
  })
  let server = await Server.start(await options())
  try {
    const token = await firstToken(server.url)
    const client = clientOf(server.url, token)
    await templateFrom(client, "plain", { files: { "template.yaml": "agents:\n  - name: main\n" } })
    // More than there are daemons
    const created = await Promise.all(Array.from({ length: 5 }, () => client.sandboxes.create({ template: "plain", timeout: 600_000 })))
    const [first] = created
    if (first === undefined) throw new Error("there is no sandbox")
    const home = join(workspacesDirectory, first.id)
    await first.files.write("kept.txt", "old")
    const before = await readdir(home)

    // An upload whose end never comes
    const endless = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(1_000_000)) })
    const upload = first.files.write("kept.txt", endless).catch(() => "broken off")
    await expect.poll(async () => (await readdir(home)).length, patience).toBe(before.length + 1)
    for (const sandbox of created) await sandbox.extend(2_000)
    await server.kill()
    expect(await upload).toBe("broken off")
    await expect.poll(() => readdir(home), patience).toStrictEqual(before)
    expect(await readFile(join(home, "kept.txt"), "utf8")).toBe("old")

    server = await Server.start(await options())
    const later = clientOf(server.url, token)
    await expect.poll(async () => (await workspaces.listWorkspaces(later, {})).count, patience).toBe(0)
    const folders = async () => (await readdir(workspacesDirectory)).filter((name) => !name.startsWith("."))
    await expect.poll(folders, patience).toStrictEqual([])
  } finally {
    await server.kill()
    await rm(directory, { recursive: true, force: true })
  }
}, 150_000)
