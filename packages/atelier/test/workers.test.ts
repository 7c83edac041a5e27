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
  const metrics = await freePort()
  const server = await Server.start({
    port: await freePort(),
    database: await lastingDatabaseUrl(),
    workspacesDirectory: join(directory, "workspaces"),
    args: ["--workers", "2", "--prometheus-enable", "--prometheus-address", `127.0.0.1:${metrics}`]
  })
  onTestFinished(() => server.kill())
  const session = await firstToken(server.url)
  const client = clientOf(server.url, session)
  const template = await templateFrom(client, "site", { example: "node-app" })
  const { id, name, owner_name } = await workspaceFrom(client, template, "site")
  const workspace = await untilWorkspace(client, id, isRunning)
  const [app] = workspace.latest_build.resources.flatMap(({ agents = [] }) => agents.flatMap(({ apps }) => apps))
  const site = `${server.url}/@${owner_name}/${name}/apps/${app?.slug}/`
  await expect.poll(() => visit(site, session)).toBe(200)

  // The agent is connected to one of them. Connections of others, such as the agent's, take turns of the processes too
  const exposition = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
  const answersOf = (text: string, number: number): number =>
    Number(
      new RegExp(
        `^serviced_api_requests_processed_total\\{code="200",method="GET",path="[^"]*/apps/\\{app\\}",worker="${number}"\\} (\\d+)`,
        "m"
      ).exec(text)?.[1] ?? 0
    )
  const fewest = async (): Promise<number> => {
    const text = await exposition()
    return Math.min(answersOf(text, 1), answersOf(text, 2))
  }
  while ((await fewest()) < 2) expect(await visit(site, session)).toBe(200)
  // Values of the store are there once, and a worker's state as all of them know it
  expect((await exposition()).match(/^serviced_api_total_user_count\{status="active"\} 1$/gm)).toHaveLength(1)
  const readiness = async (): Promise<string> => (await fetch(`${server.url}/readyz`, { headers: { connection: "close" } })).text()
  expect(await readiness()).toBe("OK\nworker 1: serving\nworker 2: serving")

  const [first = 0, second = 0, ...more] = await processesOf(server)
  expect(more).toStrictEqual([])
  process.kill(second, "SIGKILL")
  await expect.poll(() => processesOf(server)).not.toContain(second)
  await expect.poll(readiness, { timeout: 60_000 }).toBe("OK\nworker 1: serving\nworker 2: serving")
  expect(await exposition()).toContain('serviced_worker_starts{worker="2"} 2')
  // The first one runs the build
  await build(client, workspace, "stop")
  process.kill(first, "SIGKILL")
  await expect.poll(() => processesOf(server)).not.toContain(first)
  await untilWorkspace(client, id, ({ latest_build }) => latest_build.status === "stopped")
  expect(server.log).toContain("Worker 1 ended with SIGKILL; another one takes its place")
  expect(server.log).toContain("Worker 2 ended with SIGKILL; another one takes its place")
  expect(await server.stop()).toBe(0)
})

it("SIGHUP replaces the workers while every request is answered", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-processes-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const server = await Server.start({
    port: await freePort(),
    database: await lastingDatabaseUrl(),
    workspacesDirectory: join(directory, "workspaces"),
    // The visits go on for as long as the replacement takes, which on a slow machine is more of them than a minute allows
    args: ["--workers", "2", "--dangerous-disable-rate-limits"]
  })
  onTestFinished(() => server.kill())
  const session = await firstToken(server.url)
  const before = await processesOf(server)
  const load = { isOver: false }
  const statuses = new Map<number | undefined, number>()
  const visits = Array.from({ length: 4 }, async () => {
    while (!load.isOver) {
      const status = await visit(`${server.url}/api/v2/users/me`, session)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  process.kill(server.pid ?? 0, "SIGHUP")
  await expect.poll(() => server.log, { timeout: 60_000 }).toContain("All workers were replaced")
  load.isOver = true
  await Promise.all(visits)
  expect([...statuses.keys()]).toStrictEqual([200])
  const after = await processesOf(server)
  expect(after).toHaveLength(2)
  expect(after.filter((pid) => before.includes(pid))).toStrictEqual([])
  expect(await server.stop()).toBe(0)
})

it("a server of several processes ends with the reason of one that cannot serve", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-processes-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const port = (await freePorts(2)) + 1
  const options = { port, database: await lastingDatabaseUrl(), workspacesDirectory: join(directory, "workspaces") }
  // The second process's own address for others is the one that all serve
  const args = ["--workers", "2", "--derp-server-relay-url", `http://127.0.0.1:${port - 1}`]
  await expect(Server.start({ ...options, args })).rejects.toThrow(
    /ended with 1:.*--derp-server-relay-url "127\.0\.0\.1:\d+".*another program listens there/s
  )
})
