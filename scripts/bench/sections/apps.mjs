// Apps and terminals of a workspace through the standalone server and its agent, the same things by themselves in the same run, and apps through a
// plain relay: two processes of node:http in the places of the server and the agent.
import { builds, reach, workspaces } from "@atelier/client"
import { spawn as spawnPty } from "@lydell/node-pty"
import { fork } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { compare, median } from "../compare.mjs"
import { freePort, temporaryDirectory } from "../databases.mjs"
import { load, request } from "../load.mjs"
import { importTemplate, startStandalone } from "../standalone.mjs"

const largeBytes = 100_000_000
const hugeBytes = 1_000_000_000
/** Downloads of each kind, in turns, after one that does not count: the median counts. */
const downloads = 3
/** Small pages before those that count: their code is not compiled yet. */
const warmUp = 6000
const strokes = 200
const terminals = { workspaces: 5, each: 100 }

/** A small page at `/`, as many bytes as its path names at another one, and back whatever comes on an upgraded connection. */
const site = `import { createServer } from "node:http"
const page = Buffer.alloc(1000, "x")
const piece = Buffer.alloc(100_000, "y")
createServer(({ url }, response) => {
  const bytes = Number(url.slice(1))
  if (bytes === 0) return void response.end(page)
  response.setHeader("content-length", bytes)
  let left = bytes / piece.length
  const push = () => {
    while (left-- > 0) if (!response.write(piece)) return void response.once("drain", push)
    response.end()
  }
  push()
})
  .on("upgrade", (_, socket) => {
    socket.on("error", () => socket.destroy())
    socket.write("HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n")
    socket.setNoDelay(true).pipe(socket)
  })
  .listen(Number(process.argv[2]), "127.0.0.1")
`

const template = (port) => `files:
  - path: site.mjs
    source: site.mjs
agents:
  - name: main
    scripts:
      - display_name: Site
        run_on_start: true
        script: |
          nohup node site.mjs ${port} >/dev/null 2>&1 &
          until node -e 'fetch("http://127.0.0.1:${port}/").catch(() => process.exit(1))'; do sleep 0.2; done
    apps:
      - slug: site
        url: http://127.0.0.1:${port}
`

/** Milliseconds of processor time that a process has had, in the hundredths of a second in which the system counts. */
const processorTime = async (pid) => {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1].split(" ")
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

/** The ids of a process's children. */
export const childrenOf = async (pid) => (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ").map(Number)

/** Two processes of node:http in a row before a port. */
const startRelay = async (port) => {
  const children = []
  let before = port
  for (let at = 0; at < 2; at++) {
    const child = fork(fileURLToPath(new URL("../plainRelay.mjs", import.meta.url)), [String(before)])
    const [{ port: own }] = await once(child, "message")
    children.push(child)
    before = own
  }
  return { port: before, pids: children.map(({ pid }) => pid), stop: () => children.forEach((child) => child.disconnect()) }
}

/** Loads until so many requests have been answered. */
export const warm = async (subject, requests) => {
  for (let answered = 0; answered < requests;) answered += (await load({ ...subject, seconds: 1, warmup: 0 })).latencies.length
}

/** Milliseconds of processor time of each process for each of the requests that a load makes. */
const timesOf = async (pids, subject, seconds) => {
  const before = await Promise.all(pids.map(processorTime))
  const { latencies } = await load({ ...subject, seconds, warmup: 0 })
  const after = await Promise.all(pids.map(processorTime))
  return after.map((time, at) => (time - before[at]) / latencies.length)
}

const sum = (values) => values.reduce((total, value) => total + value, 0)

/** A template of a workspace with that site, at a port. */
export const templateFrom = (client, port) => importTemplate(client, "site", { "template.yaml": template(port), "site.mjs": site })

/** The agent of a new workspace, once it is connected. */
export const agentFrom = async (client, template_id, name) => {
  const { id } = await workspaces.createWorkspace(client, { user: "me", body: { name, template_id } })
  for await (const { latest_build } of workspaces.watchWorkspace(client, { workspace: id })) {
    const [agent] = latest_build.resources.flatMap(({ agents = [] }) => agents)
    if (latest_build.job.status === "failed") throw new Error(latest_build.job.error)
    if (agent?.status === "connected" && agent.lifecycle_state === "ready") return { agent: agent.id, workspace: id }
  }
}

/** Waits until a workspace and its processes are gone. */
export const untilDeleted = async (client, workspace) => {
  for await (const { latest_build } of workspaces.watchWorkspace(client, { workspace })) if (latest_build.status === "deleted") return
}

/** Seconds that a download of so many bytes takes. */
export const secondsFor = async (url, expected, headers) => {
  const began = performance.now()
  const { body } = await fetch(`${url}${expected}`, { headers })
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  if (bytes !== expected) throw new Error(`${bytes} bytes arrived`)
  return (performance.now() - began) / 1000
}

/** The most resident bytes that the server adds while something runs. */
const memoryAdded = async (server, run) => {
  const before = await server.memory()
  let most = before
  const looking = setInterval(() => void server.memory().then((now) => (most = Math.max(most, now))), 50)
  await run()
  clearInterval(looking)
  return most - before
}

/** The median of the milliseconds between a key press and its echo. `type` sends a character; `heard` resolves with the next output. */
const echoTime = async (type, heard) => {
  const times = []
  for (let at = 0; at < strokes; at++) {
    const echo = heard()
    const began = performance.now()
    type("x")
    await echo
    times.push(performance.now() - began)
  }
  return median(times)
}

const directEcho = async () => {
  const terminal = spawnPty("cat", [], {})
  const time = await echoTime(
    (text) => terminal.write(text),
    () => new Promise((resolve) => terminal.onData(resolve))
  )
  terminal.kill()
  return time
}

const echoThrough = async (client, agent) => {
  const { input, output } = await reach.openTerminal(client, { agent, command: "cat" })
  const [writer, reader] = [input.getWriter(), output.getReader()]
  const time = await echoTime(
    (text) => void writer.write(text),
    () => reader.read()
  )
  await writer.close()
  return time
}

/** Opens terminals that show nothing, and answers how to leave them. */
const openIdle = async (client, agent, count) => {
  const open = []
  for (let at = 0; at < count; at++) open.push(await reach.openTerminal(client, { agent, command: "cat" }))
  return open
}

export const apps = {
  title: "apps and terminals",
  run: async ({ database, databases, nodeArguments, report, seconds }) => {
    const directory = await temporaryDirectory()
    const port = await freePort()
    const server = await startStandalone(await databases.fresh(database.kind), directory.path, { nodeArguments })
    const { client, token, url } = server
    const figure = { database: database.name }
    const relay = await startRelay(port)
    const made = []
    try {
      const { id: template_id } = await templateFrom(client, port)
      made.push(await agentFrom(client, template_id, "dev"))
      const headers = { "Service-Session-Token": token }
      const path = "/@admin/dev/apps/site/"
      const subjects = {
        app: { port, request: request("GET", "/") },
        relay: { port: relay.port, request: request("GET", "/") },
        ours: { port: Number(new URL(url).port), request: request("GET", path, { headers }) }
      }
      for (const subject of Object.values(subjects)) await warm(subject, warmUp)
      const { ours, relay: plain } = await compare(subjects, { seconds: seconds(8), warmup: 0 })
      const plainSpeed = { value: plain.perSecond, unit: "/s", ratio: plain.ratioTo("app") }
      report.add({ ...figure, figure: "a small page of an app through a plain relay, to itself", ...plainSpeed })
      report.add({
        ...figure,
        figure: "a small page of an app by path, to itself",
        value: ours.perSecond,
        unit: "/s",
        ratio: ours.ratioTo("app"),
        target: { atLeast: 0.25 }
      })
      report.add({ ...figure, figure: "the same, to that relay", value: ours.perSecond, unit: "/s", ratio: ours.ratioTo("relay") })
      const agents = await childrenOf(server.pid)
      const relayed = await timesOf(relay.pids, subjects.relay, seconds(4))
      const [own, ...theirs] = await timesOf([server.pid, ...agents], subjects.ours, seconds(4))
      report.add({ ...figure, figure: "processor time of the server for each such request", value: own, unit: "ms" })
      report.add({ ...figure, figure: "processor time of the agent for each", value: sum(theirs), unit: "ms" })
      report.add({
        ...figure,
        figure: "processor time of both, to that relay's",
        value: own + sum(theirs),
        unit: "ms",
        ratio: (own + sum(theirs)) / sum(relayed),
        target: { atMost: 5 }
      })
      const times = { app: [], relay: [], ours: [] }
      for (let count = 0; count <= downloads; count++) {
        times.app.push(await secondsFor(`http://127.0.0.1:${port}/`, largeBytes))
        times.relay.push(await secondsFor(`http://127.0.0.1:${relay.port}/`, largeBytes))
        times.ours.push(await secondsFor(`${url}${path}`, largeBytes, headers))
      }
      const [alone, through, large] = [times.app, times.relay, times.ours].map((all) => median(all.slice(1)))
      const plainRate = { value: largeBytes / 1e6 / through, unit: "MB/s", ratio: alone / through }
      report.add({ ...figure, figure: "100 MB of an app through a plain relay, to themselves", ...plainRate })
      const speed = { ...figure, value: largeBytes / 1e6 / large, unit: "MB/s" }
      report.add({ ...speed, figure: "100 MB of an app by path, to themselves", ratio: alone / large, target: { atLeast: 0.4 } })
      report.add({ ...speed, figure: "the same, to that relay", ratio: through / large })
      const growth = await memoryAdded(server, () => secondsFor(`${url}${path}`, hugeBytes, headers))
      report.add({
        ...figure,
        figure: "memory that a download of 1 GB adds",
        value: growth / 1024 ** 2,
        unit: "MiB",
        target: { atMost: 64 }
      })
      const [{ agent }] = made
      const added = (await echoThrough(client, agent)) - (await directEcho())
      report.add({ ...figure, figure: "key press to echo, beyond a local terminal", value: added, unit: "ms", target: { atMost: 5 } })

      for (let at = 1; at < terminals.workspaces; at++) made.push(await agentFrom(client, template_id, `w${at}`))
      const before = await server.memory()
      const open = []
      for (const one of made) open.push(...(await openIdle(client, one.agent, terminals.each)))
      const after = await server.memory()
      const count = terminals.workspaces * terminals.each
      report.add({ ...figure, figure: `memory of one of ${count} open terminals`, value: (after - before) / count / 1024, unit: "KiB" })
      await Promise.all(open.map(({ input }) => input.close()))
    } finally {
      for (const { workspace } of made) await builds.createWorkspaceBuild(client, { workspace, body: { transition: "delete" } })
      await Promise.all(made.map(({ workspace }) => untilDeleted(client, workspace)))
      await server.stop()
      relay.stop()
      await directory.remove()
    }
  }
}
