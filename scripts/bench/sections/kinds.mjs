// The kinds of streams to a workspace, by their time there and back: each through the server that the agent is connected to, through another one, and directly on the
// machine, in turns of one run.
import { builds, createClient, processes, reach } from "@atelier/client"
import { spawn as spawnPty } from "@lydell/node-pty"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import ssh2 from "ssh2"
import { createWebSocketStream, WebSocket } from "ws"
import { median } from "../compare.mjs"
import { freePort, temporaryDirectory } from "../databases.mjs"
import { request } from "../load.mjs"
import { agentFrom, templateFrom, untilDeleted } from "./apps.mjs"
import { startServers } from "./streams.mjs"

/** Times of each kind and way that count, after as many that warm up. */
const rounds = { often: 400, seldom: 60 }
const smallFile = Buffer.alloc(1000, "x")

/** Sends a byte, and waits for what comes back. */
const overSocket = (socket) => async () => {
  const back = once(socket, "data")
  socket.write("x")
  await back
}

/** A connection to the app that echoes. */
const echo = async ({ headers, path, port }) => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true })
  socket.write(request("GET", `${path}echo`, { headers: { ...headers, Connection: "Upgrade", Upgrade: "echo" } }))
  let head = ""
  while (!head.includes("\r\n\r\n")) head += (await once(socket, "data"))[0].toString("latin1")
  if (!head.startsWith("HTTP/1.1 101")) throw new Error(head)
  return { once: overSocket(socket), close: () => socket.destroy() }
}

const terminal = async ({ client, agent }) => {
  const { input, output } = await reach.openTerminal(client, { agent, command: "cat" })
  const [writer, reader] = [input.getWriter(), output.getReader()]
  const type = async () => {
    const shown = reader.read()
    await writer.write("x")
    await shown
  }
  return { once: type, close: () => writer.close() }
}

const ownTerminal = async () => {
  const pty = spawnPty("cat", [], {})
  let shown
  pty.onData(() => shown?.())
  const type = () =>
    new Promise((resolve) => {
      shown = resolve
      pty.write("x")
    })
  return { once: type, close: () => pty.kill() }
}

/** Keys at a program over SSH, which sends each back. */
const ssh = async ({ agent, token, url }) => {
  const address = `${url.replace("http", "ws")}/api/v2/workspaceagents/${agent}/ssh`
  const socket = new WebSocket(address, { headers: { "service-session-token": token }, perMessageDeflate: false })
  const connection = new ssh2.Client()
  connection.connect({ sock: createWebSocketStream(socket), username: "bench", readyTimeout: 60_000 })
  await once(connection, "ready")
  const channel = await promisify(connection.exec.bind(connection))("cat")
  return { once: overSocket(channel), close: () => connection.end() }
}

const ownCat = async () => {
  const cat = spawn("cat", { stdio: "pipe" })
  const type = async () => {
    const back = once(cat.stdout, "data")
    cat.stdin.write("x")
    await back
  }
  return { once: type, close: () => cat.kill() }
}

const exec = async ({ agent, client }) => ({
  once: () => processes.exec(client, { workspaceagent: agent, body: { program: "true" } }),
  close: () => {}
})

const ownProcess = async () => ({ once: () => once(spawn("true", { stdio: "pipe" }), "close"), close: () => {} })

const file = async ({ agent, file: path, token, url }) => {
  const address = `${url}/api/v2/workspaceagents/${agent}/files?path=${encodeURIComponent(path)}`
  const read = async () => {
    const answer = await fetch(address, { headers: { "Service-Session-Token": token } })
    if ((await answer.arrayBuffer()).byteLength !== smallFile.length) throw new Error(`the file was answered with ${answer.status}`)
  }
  return { once: read, close: () => {} }
}

const page = async ({ port }) => {
  const read = async () => void (await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer())
  return { once: read, close: () => {} }
}

/** Requests for a small page on one connection to the app. */
const connection = async ({ appPort }) => {
  const socket = connect({ port: appPort, host: "127.0.0.1", noDelay: true })
  const ask = async () => {
    socket.write(request("GET", "/"))
    for (let bytes = 0; bytes < 1000;) bytes += (await once(socket, "data"))[0].length
  }
  return { once: ask, close: () => socket.destroy() }
}

/** The same on a connection to the app's port through a server. */
const forwarded = async ({ agent, appPort, client }) => {
  const { readable, writable } = await reach.connectPort(client, { agent, port: appPort })
  const [writer, reader] = [writable.getWriter(), readable.getReader()]
  const ask = async () => {
    await writer.write(request("GET", "/"))
    for (let bytes = 0; bytes < 1000;) bytes += (await reader.read()).value.length
  }
  return { once: ask, close: () => writer.close() }
}

/** How each kind is opened through a server, and what stands for it on the machine. */
const kinds = {
  "echo of an upgraded connection": {
    open: echo,
    own: ({ appPort }) => echo({ port: appPort, path: "/", headers: {} }),
    count: rounds.often,
    target: 0.3
  },
  "key press to echo in a terminal": { open: terminal, own: ownTerminal, count: rounds.often, target: 5 },
  "byte to a program over SSH and back": { open: ssh, own: ownCat, count: rounds.often },
  "small page over a forwarded port": { open: forwarded, own: connection, count: rounds.often },
  "exec true": { open: exec, own: ownProcess, count: rounds.seldom, target: 5 },
  "small file": { open: file, own: ({ appPort }) => page({ port: appPort }), count: rounds.often }
}

const timed = async (run) => {
  const began = performance.now()
  await run()
  return performance.now() - began
}

/** The medians of each way, in milliseconds. */
const timesOf = async ({ count, open, own }, ways, surroundings) => {
  const opened = { own: await own(surroundings) }
  for (const [name, way] of Object.entries(ways)) opened[name] = await open({ ...surroundings, ...way })
  const times = Object.fromEntries(Object.keys(opened).map((name) => [name, []]))
  for (let round = 0; round < 2 * count; round++) {
    for (const [name, one] of Object.entries(opened)) times[name].push(await timed(one.once))
  }
  for (const one of Object.values(opened)) await one.close()
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all.slice(count))]))
}

export const streamKinds = {
  title: "kinds of streams to a workspace",
  run: async ({ database, databases, report }) => {
    const directory = await temporaryDirectory()
    const appPort = await freePort()
    const { client, far, near, token } = await startServers(databases, database.kind, directory.path)
    let made
    try {
      const { id } = await templateFrom(client, appPort)
      made = await agentFrom(client, id, "dev")
      const small = join(directory.path, "small")
      await writeFile(small, smallFile)
      const wayTo = ({ port }) => {
        const url = `http://127.0.0.1:${port}`
        return { port, url, client: createClient({ baseUrl: url, token, WebSocket }) }
      }
      const ways = { ours: wayTo(near), ...(far === undefined ? {} : { other: wayTo(far) }) }
      const headers = { "Service-Session-Token": token }
      const surroundings = { agent: made.agent, appPort, file: small, headers, path: "/@admin/dev/apps/site/", token }
      for (const [name, kind] of Object.entries(kinds)) {
        const { other, ours, own } = await timesOf(kind, ways, surroundings)
        const target = kind.target === undefined ? undefined : { atMost: kind.target }
        report.add({ database: database.name, figure: `${name}, p50, beyond the machine's own`, value: ours - own, unit: "ms", target })
        if (other === undefined) continue
        const rate = { value: other - own, unit: "ms", ratio: ours / other, target: { atLeast: 0.7 } }
        report.add({ database: database.name, figure: "the same over another replica, and its rate to the agent's", ...rate })
      }
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
