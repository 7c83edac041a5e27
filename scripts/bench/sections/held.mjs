// What connections take that wait for something to happen: of watchers, and of agents.
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { WebSocket } from "ws"
import { attempt } from "../../reliability/plainAgent.mjs"
import { startDeployment } from "../deployment.mjs"
import { idOf, runningOf } from "../seed.mjs"

const count = 1000
/** Opened at once: the rest waits, as no client opens a thousand connections in one instant. */
const atOnce = 50
/** Milliseconds in which the server does what the opening or the end of connections leaves to do. */
const settling = 2_000
/** Seconds in which all that the server does of itself for a connection comes round, such as reading again what is watched. */
const round = 30

/** An open stream of server-sent events, once its first bytes are there. */
export const openEvents = (port, token, path) =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" })
    socket.once("connect", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nService-Session-Token: ${token}\r\n\r\n`))
    socket.once("error", reject)
    socket.once("data", (data) => {
      const head = data.toString("latin1")
      if (!head.startsWith("HTTP/1.1 200")) return reject(new Error(head.slice(0, 300)))
      socket.on("data", () => {})
      resolve(() => socket.destroy())
    })
  })

const openSocket = (port, token, path) =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { "Service-Session-Token": token }, perMessageDeflate: false })
    socket.once("error", reject)
    socket.once("message", () => resolve(() => socket.terminate()))
  })

export const openMany = async (open, number) => {
  const closes = []
  for (let from = 0; from < number; from += atOnce) {
    closes.push(...(await Promise.all(Array.from({ length: Math.min(atOnce, number - from) }, (_, index) => open(from + index)))))
  }
  return () => closes.forEach((close) => close())
}

/** An agent that stays connected, once its manifest has come. */
const openAgent = (port, index) =>
  new Promise((resolve, reject) => {
    const ending = new AbortController()
    const isConnected = () => resolve(() => ending.abort())
    attempt(port, idOf("agentToken", runningOf(index)), isConnected, ending.signal).then(({ refusal }) => reject(new Error(refusal)))
  })

const watchOf =
  (open, name) =>
  ({ port, token }, index) =>
    open(port, token, `/api/v2/workspaces/${idOf("workspace", 1 + index)}/${name}`)

const kinds = {
  "a watcher by server-sent events": { open: watchOf(openEvents, "watch"), most: 12 },
  "a watcher by WebSocket": { open: watchOf(openSocket, "watch-ws"), most: 12 },
  "a connected agent": { open: ({ port }, index) => openAgent(port, index), most: 24 }
}

/** The server's processor time for each millisecond of so many seconds. */
const share = async (deployment, seconds) => {
  const [before, began] = [await deployment.ask("cpu"), performance.now()]
  await sleep(seconds * 1000)
  const after = await deployment.ask("cpu")
  return (after.user + after.system - before.user - before.system) / 1000 / (performance.now() - began)
}

/** KiB of the heap and of what is beside it, for each of those that are held. */
const perConnection = (before, after) =>
  (after.memory.heapUsed + after.memory.external - before.memory.heapUsed - before.memory.external) / count / 1024

export const held = {
  title: "connections that are held",
  run: async ({ database, databases, nodeArguments, report }) => {
    const deployment = await startDeployment(await databases.fresh(database.kind), { nodeArguments })
    try {
      // Six tenths of the workspaces have an agent
      await deployment.grow(Math.ceil((count * 10) / 6 / 1000) * 1000)
      await deployment.ask("seedConnectable", { count })
      for (const [name, { most, open }] of Object.entries(kinds)) {
        const one = (index) => open(deployment, index)
        // As many before them: the first ones load code, and fill pools and tables that later ones share
        const closeFirst = await openMany(one, count)
        await sleep(settling)
        closeFirst()
        await sleep(settling)
        const before = await deployment.ask("usage")
        const close = await openMany(one, count)
        await sleep(settling)
        const value = perConnection(before, await deployment.ask("usage"))
        report.add({ figure: `${name}: memory`, database: database.name, value, unit: "KiB", target: { atMost: most } })
        const busy = 100 * (await share(deployment, round))
        report.add({ figure: `${name}: processor time at rest, of ${count}`, database: database.name, value: busy, unit: "%" })
        close()
        await sleep(settling)
      }
    } finally {
      await deployment.stop()
    }
  }
}
