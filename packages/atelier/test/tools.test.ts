/** The tools for assistants of the built program, whose parts are loaded from several files. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { freePort, Server } from "./Server.js"
import { clientOf, firstToken, templateFrom } from "./Steps.js"

it("a tool says why the service has refused its call", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-tools-"))
  const server = await Server.start({
    port: await freePort(),
    database: `sqlite:${join(directory, "atelier.db")}`,
    workspacesDirectory: join(directory, "workspaces")
  })
  try {
    const token = await firstToken(server.url)
    const client = clientOf(server.url, token)
    await templateFrom(client, "plain", { files: { "template.yaml": "agents:\n  - name: main\n" } })
    const sandbox = await client.sandboxes.create({ template: "plain" })
    const call = async (name: string, args: Readonly<Record<string, unknown>>): Promise<string> => {
      const answer = await fetch(`${server.url}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream"
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name, arguments: { workspace: sandbox.id, ...args } }
        })
      })
      return answer.text()
    }
    expect(await call("read_file", { path: "absent" })).toMatch(/absent\S* does not exist/)
    expect(await call("exec", { command: "true", cwd: "absent" })).toMatch(/cwd: \S*absent is not a directory/)
    // Its agent would outlive the server
    await sandbox.delete({ wait: true })
  } finally {
    await server.kill()
    await rm(directory, { recursive: true, force: true })
  }
})
