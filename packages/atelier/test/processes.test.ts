import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { get } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it, onTestFinished } from "vitest"
import { lastingDatabaseUrl } from "../../../test/store/databases.js"
import { freePort, freePorts, Server } from "./Server.js"
import { build, clientOf, firstToken, isRunning, templateFrom, untilWorkspace, workspaceFrom } from "./Steps.js"

/** The status of an answer on a connection of its own, which the processes take in turns; undefined if the connection is broken off. */
const visit = (url: string, session: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    const request = get(url, { agent: false, headers: { "Service-Session-Token": session } }, (response) => {
      response.resume().on("error", () => resolve(undefined))
      response.on("end", () => resolve(response.statusCode))
    })
    request.on("error", () => resolve(undefined))
  })

/** The processes that a server has started, the oldest first. */
const processesOf = async (server: Server): Promise<ReadonlyArray<number>> => {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="])
  const all = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number))
  return all.flatMap(([pid, parent]) => (pid !== undefined && parent === server.pid ? [pid] : [])).toSorted((one, other) => one - other)
}

it("several processes serve one address, reach each other's agents, and replace one that is killed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-processes-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const metrics = await freePorts(2)
  const server = await Server.start({
    port: await freePort(),
    database: await lastingDatabaseUrl(),
    workspacesDirectory: join(directory, "workspaces"),
    args: ["--processes", "2", "--prometheus-enable", "--prometheus-address", `127.0.0.1:${metrics}`]
  })
  onTestFinished(() => server.kill())
  const session = await firstToken(server.url)
  const client = clientOf(server.url, session)
  const template = await templateFrom(client, "site", { example: "node-app" })
  const { id, name, owner_name } = await workspaceFrom(client, template, "site")
  const workspace = await untilWorkspace(client, id, isRunning)
  const [app] = workspace.latest_build.resources.flatMap(({ agents = [] }) => agents.flatMap(({ apps }) => apps))
  const site = `${server.url}/@${owner_name}/${name}/apps/${app?.slug}/`
  await expect.poll(() => visit(site, session), { timeout: 30_000 }).toBe(200)

  // The agent is connected to one of them. Connections of others, such as the agent's, take turns of the processes too
  const answersOf = async (number: number): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${metrics + number}/metrics`)).text()
    return Number(
      /^serviced_api_requests_processed_total\{code="200",method="GET",path="[^"]*\/apps\/\{app\}"\} (\d+)/m.exec(text)?.[1] ?? 0
    )
  }
  while (Math.min(await answersOf(0), await answersOf(1)) < 2) expect(await visit(site, session)).toBe(200)

  const [first = 0, second = 0, ...more] = await processesOf(server)
  expect(more).toStrictEqual([])
  process.kill(second, "SIGKILL")
  await expect.poll(() => processesOf(server), { timeout: 30_000 }).not.toContain(second)
  // It exports its metrics once it serves
  const exported = () => fetch(`http://127.0.0.1:${metrics + 1}/metrics`).then(({ status }) => status, String)
  await expect.poll(exported, { timeout: 60_000 }).toBe(200)
  // The first one runs the build
  await build(client, workspace, "stop")
  process.kill(first, "SIGKILL")
  await expect.poll(() => processesOf(server), { timeout: 30_000 }).not.toContain(first)
  await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "stopped")
  expect(server.log).toContain("Process 1 ended with SIGKILL; another one takes its place")
  expect(server.log).toContain("Process 2 ended with SIGKILL; another one takes its place")
  expect(await server.stop()).toBe(0)
})

it("a server of several processes ends with the reason of one that cannot serve", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-processes-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const port = (await freePorts(2)) + 1
  const options = { port, database: await lastingDatabaseUrl(), workspacesDirectory: join(directory, "workspaces") }
  // The second process's own address for others is the one that all serve
  const args = ["--processes", "2", "--derp-server-relay-url", `http://127.0.0.1:${port - 1}`]
  await expect(Server.start({ ...options, args })).rejects.toThrow(/ended with 1:.*--derp-server-relay-url "127\.0\.0\.1:\d+".*EADDRINUSE/s)
})
