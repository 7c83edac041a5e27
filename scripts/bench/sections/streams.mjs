// The ways of bytes to a workspace: an app's pages and upgraded connections through the server that its agent is connected to and through another one, and what a
// reader that does not read does to the others and to the server's memory. Each against the app itself, in the same run.
import { builds, createClient, logins, users } from "@atelier/client"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { WebSocket } from "ws"
import { compare, median } from "../compare.mjs"
import { freePort, temporaryDirectory } from "../databases.mjs"
import { password } from "../deployment.mjs"
import { request } from "../load.mjs"
import { agentFrom, secondsFor, templateFrom, untilDeleted, warm } from "./apps.mjs"
import { launch } from "../launch.mjs"

const admin = { email: "admin@example.com", password }
const path = "/@admin/dev/apps/site/"
const pageWarmUp = 4000
const largeBytes = 100_000_000
const hugeBytes = 4_000_000_000
const downloads = 5
const echoes = 1000

const residentOf = async (pid) => 1024 * Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))[1])

/** The most resident bytes that a process adds while something runs, and its result. */
const withGrowth = async (pid, run) => {
  const before = await residentOf(pid)
  let most = before
  const looking = setInterval(() => void residentOf(pid).then((now) => (most = Math.max(most, now))), 50)
  const result = await run()
  clearInterval(looking)
  return { result, growth: most - before }
}

/** The median of the milliseconds that 16 bytes take to an upgraded connection's other end and back. */
const echoTime = async (port, target, headers) => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true })
  socket.write(request("GET", target, { headers: { ...headers, Connection: "Upgrade", Upgrade: "echo" } }))
  let head = ""
  while (!head.includes("\r\n\r\n")) head += (await once(socket, "data"))[0].toString("latin1")
  if (!head.startsWith("HTTP/1.1 101")) throw new Error(head)
  const bytes = Buffer.alloc(16, "x")
  const times = []
  for (let at = 0; at < echoes; at++) {
    const began = performance.now()
    socket.write(bytes)
    await once(socket, "data")
    times.push(performance.now() - began)
  }
  socket.destroy()
  return median(times.slice(echoes / 10))
}

/** A download of which nothing is read after its head. */
const unread = async (url, headers) => {
  const asked = httpRequest(url, { agent: false, headers })
  asked.on("error", () => undefined)
  asked.end()
  const [response] = await once(asked, "response")
  response.on("error", () => undefined)
  return () => asked.destroy()
}

/** Two servers on PostgreSQL, or one. The second one runs no jobs, so that agents connect to the first. */
export const startServers = async (databases, kind, directory) => {
  const storage = await databases.fresh(kind)
  const options = (more) => (port) => [
    "--dangerous-disable-rate-limits",
    ...(kind === "postgres" ? ["--derp-server-relay-url", `http://127.0.0.1:${port}`] : []),
    ...more
  ]
  const near = await launch(storage, join(directory, "near"), { args: options([]) })
  await near.answered()
  const baseUrl = `http://127.0.0.1:${near.port}`
  await users.createFirstUser(createClient({ baseUrl }), { body: { ...admin, username: "admin" } })
  const { session_token: token } = await logins.logIn(createClient({ baseUrl }), { body: admin })
  const far =
    kind === "postgres" ? await launch(storage, join(directory, "far"), { args: options(["--provisioner-daemons", "0"]) }) : undefined
  await far?.answered()
  return { near, far, token, client: createClient({ baseUrl, token, WebSocket }) }
}

export const streams = {
  title: "streams to workspaces",
  run: async ({ database, databases, report, seconds }) => {
    const directory = await temporaryDirectory()
    const port = await freePort()
    const { client, far, near, token } = await startServers(databases, database.kind, directory.path)
    const add = (figure) => report.add({ database: database.name, ...figure })
    let made
    try {
      const { id } = await templateFrom(client, port)
      made = await agentFrom(client, id, "dev")
      const headers = { "Service-Session-Token": token }
      const ways = {
        app: { port, path: "/", headers: {} },
        ours: { port: near.port, path, headers },
        ...(far === undefined ? {} : { other: { port: far.port, path, headers } })
      }
      const names = { ours: "", other: ", over another replica" }
      const through = Object.keys(ways).filter((name) => name !== "app")

      const subjects = Object.fromEntries(
        Object.entries(ways).map(([name, way]) => [name, { port: way.port, request: request("GET", way.path, { headers: way.headers }) }])
      )
      for (const subject of Object.values(subjects)) await warm(subject, pageWarmUp)
      const pages = await compare(subjects, { seconds: seconds(6), warmup: 0 })
      for (const name of through) {
        const ratio = pages[name].ratioTo("app")
        const target = name === "ours" ? { atLeast: 0.25 } : undefined
        add({ figure: `a small page, to the app itself${names[name]}`, value: pages[name].perSecond, unit: "/s", ratio, target })
      }
      if (far !== undefined) {
        const ratio = pages.other.ratioTo("ours")
        add({
          figure: "a small page, another replica to the agent's",
          value: pages.other.perSecond,
          unit: "/s",
          ratio,
          target: { atLeast: 0.7 }
        })
      }

      const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
      for (let count = 0; count <= downloads; count++) {
        for (const [name, way] of Object.entries(ways)) {
          times[name].push(await secondsFor(`http://127.0.0.1:${way.port}${way.path}`, largeBytes, way.headers))
        }
      }
      const large = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all.slice(1))]))
      for (const name of through) {
        const target = name === "ours" ? { atLeast: 0.4 } : undefined
        const ratio = large.app / large[name]
        add({ figure: `100 MB, to the app itself${names[name]}`, value: largeBytes / 1e6 / large[name], unit: "MB/s", ratio, target })
      }
      if (far !== undefined) {
        const ratio = large.ours / large.other
        add({
          figure: "100 MB, another replica to the agent's",
          value: largeBytes / 1e6 / large.other,
          unit: "MB/s",
          ratio,
          target: { atLeast: 0.7 }
        })
      }

      const direct = await echoTime(port, "/echo", {})
      for (const name of through) {
        const way = ways[name]
        const value = (await echoTime(way.port, `${way.path}echo`, way.headers)) - direct
        add({ figure: `echo of an upgraded connection, p50, beyond the app's${names[name]}`, value, unit: "ms", target: { atMost: 0.3 } })
      }

      const url = `http://127.0.0.1:${near.port}${path}`
      const { growth, result } = await withGrowth(near.pid, async () => {
        const stops = await Promise.all(Array.from({ length: 4 }, () => unread(`${url}${hugeBytes}`, headers)))
        const beside = []
        for (let count = 0; count <= downloads; count++) beside.push(await secondsFor(url, largeBytes, headers))
        for (const stop of stops) stop()
        return median(beside.slice(1))
      })
      const figure = "100 MB beside four readers that do not read, to 100 MB alone"
      add({ figure, value: largeBytes / 1e6 / result, unit: "MB/s", ratio: large.ours / result, target: { atLeast: 0.8 } })
      add({ figure: "memory that the server adds with them", value: growth / 1024 ** 2, unit: "MiB", target: { atMost: 64 } })
    } finally {
      if (made !== undefined) {
        await builds.createWorkspaceBuild(client, { workspace: made.workspace, body: { transition: "delete" } })
        await untilDeleted(client, made.workspace)
      }
      await far?.stop()
      await near.stop()
      await directory.remove()
    }
  }
}
