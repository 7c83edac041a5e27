import { createClient } from "@atelier/client"
import { expect, it } from "vitest"
import { WebSocket } from "ws"
import { sqlite } from "../../../test/store/databases.js"
import { testEngines } from "../../../test/outside/engine.js"
import { aResource } from "../../../test/records/resources.js"
import { startServer } from "../../../test/http/server.js"
import { aTemplate } from "../../../test/http/templates.js"
import { aBuild, aWorkspace } from "../../../test/http/workspaceCalls.js"
import { start } from "../src/start.js"

it("starts a workspace and follows its build's log", async () => {
  const server = await startServer(sqlite, { provisioner: testEngines })
  try {
    const template = await aTemplate(server, { resources: [aResource()], logs: ["one", "two"] })
    const workspace = await aWorkspace(server, template, server.owner())
    await aBuild(server, workspace, server.owner(), { transition: "stop" })
    const client = createClient({ baseUrl: server.url, token: server.owner().token, WebSocket })
    const lines: Array<string> = []
    expect(await start(client, workspace.name, (line) => lines.push(line))).toStrictEqual(["main"])
    expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(/: one$/), expect.stringMatching(/: two$/)]))
    await expect(start(client, "missing", () => {})).rejects.toMatchObject({ name: "AtelierError", status: 404 })
  } finally {
    await server.close()
  }
})
