// Memory that clients hold who only wait for something to change.
import { connect } from "node:net"
import { WebSocket } from "ws"
import { startDeployment } from "../deployment.mjs"
import { idOf } from "../seed.mjs"

const count = 1000
/** Opened at once: the rest waits, as no client opens a thousand connections in one instant. */
const atOnce = 50

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

const ways = { watch: openEvents, "watch-ws": openSocket }

export const watchers = {
  title: "idle watchers",
  run: async ({ database, databases, nodeArguments, report }) => {
    for (const [name, open] of Object.entries(ways)) {
      const deployment = await startDeployment(await databases.fresh(database.kind), { nodeArguments })
      try {
        await deployment.grow(count)
        const one = (index) => open(deployment.port, deployment.token, `/api/v2/workspaces/${idOf("workspace", 1 + index)}/${name}`)
        // The first ones load code and fill pools that later ones share
        const closeFirst = await openMany(one, atOnce)
        closeFirst()
        const before = await deployment.ask("usage")
        const close = await openMany(one, count)
        const after = await deployment.ask("usage")
        close()
        report.add({
          figure: `memory of a watcher, ${name}`,
          database: database.name,
          value: (after.memory.rss - before.memory.rss) / count / 1024,
          unit: "KiB"
        })
      } finally {
        await deployment.stop()
      }
    }
  }
}
