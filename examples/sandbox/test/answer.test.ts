import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { fiveLines } from "../../../test/outside/fiveLines.js"
import { sandboxStreams } from "../../../test/outside/sandboxStreams.js"
import { freePort, Server } from "../../../packages/atelier/test/Server.js"
import { firstClient } from "../../../packages/atelier/test/Steps.js"
import { answer } from "../src/answer.js"

it("runs programs on a fresh server, and the lines of the README", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-sandbox-"))
  const port = await freePort()
  const server = await Server.start({
    port,
    database: `sqlite:${join(directory, "atelier.db")}`,
    workspacesDirectory: join(directory, "workspaces")
  })
  try {
    const client = await firstClient(server.url)
    const { exitCode, preview, stdout } = await fiveLines(client)
    expect([stdout, exitCode]).toStrictEqual(["42\n", 0])
    expect(preview).toMatch(new RegExp(`^http://8000--main--sandbox-[0-9a-f]{12}--ada\\.localhost:${port}/$`))
    const lines: Array<string> = []
    expect(await answer(client, (line) => lines.push(line))).toMatchObject({ stdout: "42\n", exitCode: 0 })
    expect(lines.join("\n")).toContain("Agent main has been started")
    const sandbox = await client.sandboxes.create({ template: "shell", timeout: 600_000 })
    await sandbox.files.write("a/b.txt", "one")
    expect(await sandbox.files.text("a/b.txt")).toBe("one")
    expect(new TextDecoder().decode(await sandbox.files.read("a/b.txt", { start: 1, end: 2 }))).toBe("n")
    expect((await sandbox.files.list("a")).map(({ name }) => name)).toStrictEqual(["b.txt"])
    await sandbox.files.upload("copy", await sandbox.files.download("a"))
    await sandbox.files.move("copy/b.txt", "copy/c.txt")
    expect([await sandbox.files.exists("copy/c.txt"), await sandbox.files.exists("copy/b.txt")]).toStrictEqual([true, false])
    expect((await sandbox.files.find({ path: "copy", name: "*.txt" })).matches).toHaveLength(1)
    await sandbox.files.remove("copy", { recursive: true })
    await expect(sandbox.files.read("copy/c.txt")).rejects.toMatchObject({ status: 404 })
    expect((await client.sandboxes.get(sandbox.id)).agentId).toBe(sandbox.agentId)
    expect((await client.sandboxes.list()).map(({ id }) => id)).toContain(sandbox.id)
    expect((await sandbox.extend(null)) ?? "none").toBe("none")
    expect(await sandboxStreams(client)).toStrictEqual({
      process: ["got hello\n", 3],
      watched: expect.stringMatching(/\d+\.txt$/),
      terminal: expect.stringContaining("42"),
      disposed: "delete"
    })
    await sandbox.delete({ wait: true })
    await sandbox.delete()
  } finally {
    await server.kill()
    await rm(directory, { recursive: true, force: true })
  }
})
