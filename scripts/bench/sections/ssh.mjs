// SSH into a workspace through the standalone server and its agent, and an OpenSSH server of its own in the same run. Needs OpenSSH, and root for its server.
import { builds } from "@atelier/client"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { access, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import ssh2 from "ssh2"
import { createWebSocketStream, WebSocket } from "ws"
import { median, percentile } from "../compare.mjs"
import { freePort, temporaryDirectory } from "../databases.mjs"
import { importTemplate, startStandalone } from "../standalone.mjs"
import { agentFrom, childrenOf, untilDeleted } from "./apps.mjs"

const template = "agents:\n  - name: main\n"
const proxy = fileURLToPath(new URL("../../../packages/http/test/sandboxes/sshProxy.mjs", import.meta.url))

/** Commands and copies of each kind, in turns, after some that do not count. */
const commands = 20
const copies = 3
const warmUp = 3

const keys = 300
const atOnce = 200

const run = promisify(execFile)

/** An OpenSSH server, and the arguments with which its client connects to it. */
const startOpenSsh = async (folder) => {
  const [hostKey, key, config, port] = [join(folder, "host"), join(folder, "key"), join(folder, "sshd_config"), await freePort()]
  for (const file of [hostKey, key]) await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file])
  const lines = ["ListenAddress 127.0.0.1", "StrictModes no", "UsePAM no", "PidFile none", "Subsystem sftp internal-sftp"]
  await writeFile(config, [...lines, `Port ${port}`, `HostKey ${hostKey}`, `AuthorizedKeysFile ${key}.pub`, ""].join("\n"))
  await mkdir("/run/sshd", { recursive: true })
  const child = spawn("/usr/sbin/sshd", ["-D", "-f", config], { stdio: "ignore" })
  return { args: ["-o", `Port=${port}`, "-o", "HostName=127.0.0.1", "-i", key], stop: () => child.kill() }
}

const timed = async (work) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Milliseconds between a key and its echo by a terminal. */
const echoes = async (args, env) => {
  const child = spawn("ssh", ["-tt", ...args, "workspace", "stty raw echo; echo ready; exec cat >/dev/null"], {
    env,
    stdio: ["pipe", "pipe", "ignore"]
  })
  let received = ""
  child.stdout.on("data", (bytes) => (received += bytes))
  const until = async (text) => {
    while (!received.includes(text)) await once(child.stdout, "data")
    received = ""
  }
  await until("ready")
  const times = []
  for (let at = 0; at < keys; at++) {
    const key = String.fromCodePoint(97 + (at % 26))
    times.push(
      await timed(() => {
        child.stdin.write(key)
        return until(key)
      })
    )
  }
  child.kill()
  return times.slice(keys / 10)
}

/** Connects, and waits until a program of the workspace has sent back what it was sent. */
const echoed = async (stream, token) => {
  const socket = new WebSocket(stream, { headers: { "service-session-token": token }, perMessageDeflate: false })
  const connection = new ssh2.Client()
  connection.connect({ sock: createWebSocketStream(socket), username: "bench", readyTimeout: 60_000 })
  await once(connection, "ready")
  const channel = await promisify(connection.exec.bind(connection))("cat")
  channel.end("here")
  const [bytes] = await once(channel, "data")
  if (String(bytes) !== "here") throw new Error(`${bytes} came back`)
  connection.end()
}

const residentOf = async (pid) => 1024 * Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))[1])

/** The most resident bytes that each process adds while something runs. */
const memoryAdded = async (pids, work) => {
  const resident = () => Promise.all(pids.map(residentOf))
  const before = await resident()
  const most = [...before]
  const looking = setInterval(() => void resident().then((now) => now.forEach((bytes, at) => (most[at] = Math.max(most[at], bytes)))), 50)
  await work()
  clearInterval(looking)
  return most.map((bytes, at) => bytes - before[at])
}

export const ssh = {
  title: "SSH",
  run: async ({ database, databases, isQuick, nodeArguments, report }) => {
    await access("/usr/sbin/sshd")
    const directory = await temporaryDirectory()
    const server = await startStandalone(await databases.fresh(database.kind), directory.path, { nodeArguments })
    const other = await startOpenSsh(directory.path)
    const { client, token, url } = server
    const add = (figure) => report.add({ database: database.name, ...figure })
    let made
    try {
      const { id } = await importTemplate(client, "plain", { "template.yaml": template })
      made = await agentFrom(client, id, "dev")
      const known = ["-F", "none", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
      const stream = `${url.replace("http", "ws")}/api/v2/workspaceagents/${made.agent}/ssh`
      const ways = {
        alone: [...known, ...other.args],
        through: [...known, "-o", `ProxyCommand=${process.execPath} ${proxy} ${stream}`]
      }
      const env = { ...process.env, TOKEN: token }
      const inTurns = async (count, work) => {
        const times = { alone: [], through: [] }
        for (let at = 0; at < count + warmUp; at++) {
          for (const [way, args] of Object.entries(ways)) times[way].push(await timed(() => work(args, way)))
        }
        return { alone: median(times.alone.slice(warmUp)), through: median(times.through.slice(warmUp)) }
      }

      const command = await inTurns(commands, (args) => run("ssh", [...args, "workspace", "true"], { env }))
      add({ figure: "ssh true, to a local OpenSSH with it", value: command.through, unit: "ms", ratio: command.through / command.alone })
      const started = []
      for (let at = 0; at < commands; at++) started.push(await timed(() => run(process.execPath, ["--import", "ws", "-e", "0"])))
      add({ figure: "of it the start of the program that connects", value: median(started), unit: "ms" })

      const keyTimes = { alone: await echoes(ways.alone, env), through: await echoes(ways.through, env) }
      const echo = median(keyTimes.through)
      add({ figure: "key press to echo, p50, to a local OpenSSH with it", value: echo, unit: "ms", ratio: echo / median(keyTimes.alone) })
      add({ figure: "key press to echo, p99", value: percentile(keyTimes.through, 0.99), unit: "ms" })

      const bytes = isQuick ? 250_000_000 : 1_000_000_000
      const file = join(directory.path, "large")
      await writeFile(file, Buffer.alloc(bytes))
      const pids = [server.pid, ...(await childrenOf(server.pid))]
      const directions = { up: [file, "workspace:/dev/null"], down: [`workspace:${file}`, "/dev/null"] }
      for (const [direction, paths] of Object.entries(directions)) {
        const growths = []
        const times = { alone: [], through: [] }
        for (let at = 0; at <= copies; at++) {
          times.alone.push(await timed(() => run("scp", [...ways.alone, ...paths], { env })))
          growths.push(
            await memoryAdded(pids, async () => times.through.push(await timed(() => run("scp", [...ways.through, ...paths], { env }))))
          )
        }
        const [alone, through] = [times.alone, times.through].map((all) => median(all.slice(1)))
        const rate = { value: bytes / 1000 / through, unit: "MB/s", ratio: alone / through, target: { atLeast: 0.3 } }
        add({ figure: `scp of ${bytes / 1e6} MB ${direction}, to a local OpenSSH with it`, ...rate })
        for (const [at, process] of ["server", "agent"].entries()) {
          const growth = { value: Math.max(...growths.map((each) => each[at])) / 1024 ** 2, unit: "MiB", target: { atMost: 64 } }
          add({ figure: `memory that the ${process} adds, ${direction}`, ...growth })
        }
      }

      const together = await timed(() => Promise.all(Array.from({ length: atOnce }, () => echoed(stream, token))))
      add({ figure: `${atOnce} connections at once, each with a session that echoes`, value: together, unit: "ms" })
    } finally {
      other.stop()
      if (made !== undefined) {
        await builds.createWorkspaceBuild(client, { workspace: made.workspace, body: { transition: "delete" } })
        await untilDeleted(client, made.workspace)
      }
      await server.stop()
      await directory.remove()
    }
  }
}
