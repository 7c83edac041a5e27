import { reach } from "@atelier/client"
import { Schema } from "effect"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { lastingDatabaseUrl } from "../../../test/store/databases.js"
import { freePort, Server } from "./Server.js"
import { agentOf, build, clientOf, firstToken, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "./Steps.js"

const Made = Schema.Struct({ proxy: Schema.Struct({ id: Schema.String }), proxy_token: Schema.String })

/** A balancer that connects to each port in turn, and to the next one where nothing listens. */
const balance = async (port: number, ports: ReadonlyArray<number>): Promise<void> => {
  let turn = 0
  const balancer = createServer((client) => {
    client.on("error", () => undefined)
    const attempt = (left: number): void => {
      const next = ports[turn++ % ports.length]
      if (left === 0 || next === undefined) return void client.destroy()
      const target = connect(next, "127.0.0.1")
      target.once("connect", () => void client.pipe(target).pipe(client))
      target.once("error", () => (target.connecting || target.pending ? attempt(left - 1) : client.destroy()))
    }
    attempt(ports.length)
  }).listen(port, "127.0.0.1")
  onTestFinished(() => void balancer.close())
  await once(balancer, "listening")
}

it("two processes of a workspace proxy serve an app after crashes too", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-proxy-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const options = { port: await freePort(), database: await lastingDatabaseUrl(), workspacesDirectory: join(directory, "workspaces") }
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

  const front = await freePort()
  const places = [await freePort(), await freePort()].map((port) => ({
    port,
    primary: server.url,
    token,
    accessUrl: `http://127.0.0.1:${front}`
  }))
  await balance(
    front,
    places.map(({ port }) => port)
  )
  const proxies = await Promise.all(places.map((place) => Server.startProxy(place)))
  onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))))
  const template = await templateFrom(client, "site", { example: "node-app" })
  const { id, name, owner_name } = await workspaceFrom(client, template, "site")
  const agent = agentOf(await untilWorkspace(client, id, isRunning))
  const visit = async () => {
    const answer = await fetch(`http://127.0.0.1:${front}/@${owner_name}/${name}/apps/${agent.apps[0]?.slug}/`, {
      headers: { "Service-Session-Token": session, connection: "close" }
    })
    return answer.status
  }
  const visits = async () => [await visit(), await visit()]
  const untilServed = () => expect.poll(visits).toStrictEqual([200, 200])
  await untilServed()

  await proxies[0]?.kill()
  await untilServed()
  await server.kill()
  expect(await visit()).toBe(502)
  server = await Server.start(options)
  await untilServed()

  const terminal = await reach.openTerminal(client, { agent: agent.id, command: "echo agent-$PPID-; cat" })
  const reader = terminal.output.getReader()
  const heard = async (pattern: RegExp): Promise<string> => {
    let text = ""
    for (;;) {
      const { value } = await reader.read()
      text += Buffer.from(value ?? []).toString()
      const found = pattern.exec(text)?.[1]
      if (found !== undefined) return found
    }
  }
  process.kill(Number(await heard(/agent-(\d+)-/)), "SIGKILL")
  await terminal.closed
  const reopened = async () => {
    const again = await reach.openTerminal(client, { agent: agent.id, id: terminal.id, command: "echo came back" })
    const { value } = await again.output.getReader().read()
    return Buffer.from(value ?? []).toString()
  }
  // Until the agent runs again, the terminal is refused or closed
  await expect.poll(() => reopened().catch(() => "")).toContain("came back")
  // The agent would go on without the server
  const running = await untilWorkspace(client, id, isRunning)
  await build(client, running, "stop")
  await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "stopped")
})

it("a standalone workspace proxy says what its command line lacks", async () => {
  await expect(Server.startProxy({ port: 0, primary: "", token: "x" })).rejects.toThrow(
    "--primary-access-url is missing: where the proxy reaches the service (proxy --help lists the options)"
  )
  await expect(Server.startProxy({ port: await freePort(), primary: "ftp://atelier.test", token: "x" })).rejects.toThrow(
    'The proxy could not start: --primary-access-url "ftp://atelier.test": must be an http or https address'
  )
})
