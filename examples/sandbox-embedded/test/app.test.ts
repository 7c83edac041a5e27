import { workspaces } from "@atelier/client"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { fiveLines } from "../../../test/outside/fiveLines.js"
import { sandboxStreams } from "../../../test/outside/sandboxStreams.js"
import { freePort } from "../../../packages/atelier/test/Server.js"
import { createFirst, runFor, start } from "../src/app.js"

it("runs commands of a user in the process, and the lines of the README", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-sandbox-"))
  const port = await freePort()
  const application = await start(port, directory, fileURLToPath(new URL("../../../packages/agent/dist/main.js", import.meta.url)))
  try {
    await createFirst(port, "ada", "correct horse battery")
    expect(await runFor(application, "ada", "echo hello")).toBe("hello\n")
    const { exitCode, preview, stdout } = await fiveLines(application.clientOf("ada"))
    expect([stdout, exitCode]).toStrictEqual(["42\n", 0])
    expect(preview).toMatch(new RegExp(`^http://8000--main--sandbox-[0-9a-f]{12}--ada\\.localhost:${port}/$`))
    const kept = await application.clientOf("ada").sandboxes.create({ template: "shell", timeout: 600_000 })
    await kept.files.write("in", new Blob(["from "]).stream())
    const copied = await kept.files.upload("copy", await kept.files.download("."))
    expect([copied.entries > 0, await kept.files.text("copy/in")]).toStrictEqual([true, "from "])
    expect(await sandboxStreams(application.clientOf("ada"))).toStrictEqual({
      process: ["got hello\n", 3],
      watched: expect.stringMatching(/\d+\.txt$/),
      terminal: expect.stringContaining("42"),
      disposed: "delete"
    })
    await kept.delete()
    await expect(application.clientOf("eve").sandboxes.create({ template: "shell" })).rejects.toMatchObject({ status: 401 })
    const count = async () => (await workspaces.listWorkspaces(application.clientOf("ada"))).count
    await expect.poll(count).toBe(0)
  } finally {
    await application.dispose()
    await rm(directory, { recursive: true, force: true })
  }
})
