import { Schema } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { freePort, Server } from "./Server.js"
import { clientOf, firstToken, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "./Steps.js"

const Made = Schema.Struct({ proxy: Schema.Struct({ id: Schema.String }), proxy_token: Schema.String })

it("a standalone workspace proxy serves an app, and again after a crash of itself or of the server", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-proxy-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const options = {
    port: await freePort(),
    database: `sqlite:${join(directory, "a.db")}`,
    workspacesDirectory: join(directory, "workspaces")
  }
  let server = await Server.start(options)
  onTestFinished(async () => void (await server.stop()))
  const session = await firstToken(server.url)
  const headers = { "Service-Session-Token": session, "content-type": "application/json" }
  const client = clientOf(server.url, session)
  const made = await fetch(`${server.url}/api/v2/workspaceproxies`, {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "east", display_name: "", icon: "" })
  })
  const { proxy_token: token } = Schema.decodeUnknownSync(Made)(await made.json())

  const place = { port: await freePort(), primary: server.url, token }
  let proxy = await Server.startProxy(place)
  onTestFinished(async () => void (await proxy.stop()))
  const template = await templateFrom(client, "site", { example: "node-app" })
  const { id, name, owner_name } = await workspaceFrom(client, template, "site", {
    rich_parameter_values: [{ name: "port", value: String(await freePort()) }]
  })
  const workspace = await untilWorkspace(client, id, isRunning)
  const [app] = workspace.latest_build.resources.flatMap(({ agents = [] }) => agents.flatMap(({ apps }) => apps))
  const visit = async () => {
    const answer = await fetch(`${proxy.url}/@${owner_name}/${name}/apps/${app?.slug}/`, { headers: { "Service-Session-Token": session } })
    return answer.status
  }
  const untilServed = () => expect.poll(visit, { timeout: 30_000 }).toBe(200)
  await untilServed()

  await proxy.kill()
  proxy = await Server.startProxy(place)
  await untilServed()
  await server.kill()
  expect(await visit()).toBe(502)
  server = await Server.start(options)
  await untilServed()
  expect(await proxy.stop()).toBe(0)
})

it("a standalone workspace proxy says what its command line lacks", async () => {
  await expect(Server.startProxy({ port: 0, primary: "", token: "x" })).rejects.toThrow(
    "--primary-access-url is missing: where the proxy reaches the service (proxy --help lists the options)"
  )
  await expect(Server.startProxy({ port: await freePort(), primary: "ftp://atelier.test", token: "x" })).rejects.toThrow(
    'The proxy could not start: --primary-access-url "ftp://atelier.test": must be an http or https address'
  )
})
