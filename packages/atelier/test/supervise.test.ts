/** What the process that watches over others does when they cannot be started, or die. Scripts of a few lines stand for the server. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished } from "vitest"
import { intervalAfter } from "../src/supervise.js"

const supervisor = new URL("../dist/supervise.js", import.meta.url).href
const program = fileURLToPath(new URL("../dist/program.js", import.meta.url))

/** Runs a script as the first process, and `worker` as those that it starts. */
const run = async (script: string, { worker = "", environment = {} }: { worker?: string; environment?: Record<string, string> } = {}) => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-supervise-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const [first, others] = [join(directory, "first.mjs"), join(directory, "worker.mjs")]
  const setUp = `
    import cluster from "node:cluster"
    import { once } from "node:events"
    import { connect } from "node:net"
    import { text } from "node:stream/consumers"
    import { setImmediate } from "node:timers/promises"
    import { supervise } from "${supervisor}"
    const [directory, exec] = process.argv.slice(2)
    cluster.setupPrimary({ exec, args: [] })
  `
  await writeFile(first, setUp + script)
  await writeFile(others, worker)
  const child = spawn(process.execPath, [first, directory, others], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"] ?? "", ...environment }
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")])
  return { code, output, errors }
}

it("a server ends with the reason why a process could not be started", async () => {
  const script = `
    cluster.setupPrimary({ cwd: directory + "/none" })
    process.exit(await supervise(1, new Promise(() => undefined)) + 10)
  `
  expect(await run(script)).toStrictEqual({
    code: 11,
    output: "",
    errors: `Process 1 ended with spawn ${process.execPath} ENOENT before it served\n`
  })
})

it.each(["rr", "none"])("a process takes the place of one that crashed (scheduling: %s)", async (scheduling) => {
  const worker = `
    import { createServer } from "node:net"
    const server = createServer((socket) => void socket.end(String(process.pid)))
    server.listen(0, "127.0.0.1", () => process.send({ greeting: String(server.address().port) }))
    process.on("message", () => process.exit(0))
  `
  const script = `
    let end
    const code = supervise(1, new Promise((resolve) => (end = resolve)))
    process.stdout.write = () => true
    let waiting
    for (const isLast of [false, true]) {
      const [worker, { port }] = await once(cluster, "listening")
      if (Number(await text(connect(port, "127.0.0.1"))) !== worker.process.pid) process.exit(2)
      if (isLast) break
      // It dies with a connection that it has not accepted
      process.kill(worker.process.pid, "SIGSTOP")
      const socket = connect(port, "127.0.0.1")
      waiting = text(socket).catch(() => "")
      await once(socket, "connect")
      await setImmediate()
      process.kill(worker.process.pid, "SIGKILL")
    }
    await waiting
    end("SIGTERM")
    process.exit(await code)
  `
  const { code, errors } = await run(script, { worker, environment: { NODE_CLUSTER_SCHED_POLICY: scheduling } })
  expect({ code, errors }).toStrictEqual({ code: 0, errors: "Process 1 ended with SIGKILL; another one takes its place\n" })
})

it("a process that crashed ends every connection that it was being handed (scheduling: rr)", async () => {
  const worker = `
    import { once } from "node:events"
    import { createServer } from "node:net"
    const servers = [createServer(), createServer()]
    for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening")
    process.send({ greeting: servers.map((server) => server.address().port).join() })
    process.on("message", () => process.exit(0))
  `
  const script = `
    const greeted = new Promise((resolve) => (process.stdout.write = resolve))
    void supervise(1, new Promise(() => undefined))
    const [worker] = Object.values(cluster.workers)
    const ports = (await greeted).split(",")
    process.kill(worker.process.pid, "SIGSTOP")
    const sockets = ports.map((port) => connect(port, "127.0.0.1"))
    const ended = sockets.map((socket) => text(socket).catch(() => ""))
    await Promise.all(sockets.map((socket) => once(socket, "connect")))
    await setImmediate()
    process.kill(worker.process.pid, "SIGKILL")
    await Promise.all(ended)
    process.exit()
  `
  const { errors } = await run(script, { worker, environment: { NODE_CLUSTER_SCHED_POLICY: "rr" } })
  expect(errors).toBe("Process 1 ended with SIGKILL; another one takes its place\n")
})

it("a process that crashed leaves the address to the others (scheduling: none)", async () => {
  const worker = `
    import { createServer } from "node:net"
    const server = createServer((socket) => void socket.end(process.env.STANDALONE_PROCESS))
    server.listen(0, "127.0.0.1", () => process.send({ greeting: String(server.address().port) }))
    process.on("message", () => process.exit(0))
  `
  const script = `
    const greeted = new Promise((resolve) => (process.stdout.write = resolve))
    void supervise(2, new Promise(() => undefined))
    let listening = 0
    const all = new Promise((resolve) => cluster.on("listening", () => ++listening === 2 && resolve()))
    const port = await greeted
    await all
    const crashed = Object.values(cluster.workers)[0]
    process.kill(crashed.process.pid, "SIGKILL")
    const [worker, address] = await once(cluster, "listening")
    // The one that takes its place is the only one left
    const other = Object.values(cluster.workers).find(({ id }) => id !== worker.id && id !== crashed.id)
    process.kill(other.process.pid, "SIGKILL")
    await once(other, "exit")
    process.exit(String(address.port) === port && (await text(connect(port, "127.0.0.1"))) === "1" ? 0 : 2)
  `
  const { code } = await run(script, { worker, environment: { NODE_CLUSTER_SCHED_POLICY: "none" } })
  expect(code).toBe(0)
})

it("a process that is told to end before it listens ends", async () => {
  const script = `
    cluster.setupPrimary({
      exec: "${program}",
      args: ["--http-address", "127.0.0.1:0", "--database", "sqlite::memory:", "--workspaces-directory", directory],
      silent: true
    })
    process.exit(await supervise(1, Promise.resolve("SIGINT")))
  `
  expect(await run(script)).toStrictEqual({ code: 0, output: "", errors: "" })
})

it("a process that does not get to serve is started less and less often", () => {
  const intervals = [1, 2, 3, 4, 5, 6].reduce<ReadonlyArray<number>>((all) => [...all, intervalAfter(all.at(-1) ?? 0, false)], [1_000])
  expect(intervals).toStrictEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  expect(intervalAfter(30_000, true)).toBe(1_000)
})

it("a process whose address is taken ends what it has started", async () => {
  const script = `
    import { createServer } from "node:net"
    import { existsSync } from "node:fs"
    const taken = createServer().listen(0, "127.0.0.1")
    await once(taken, "listening")
    const database = directory + "/atelier.db"
    cluster.setupPrimary({
      exec: "${program}",
      args: [
        "--http-address", "127.0.0.1:" + taken.address().port, "--database", "sqlite:" + database,
        "--workspaces-directory", directory + "/workspaces"
      ],
      silent: true
    })
    const worker = cluster.fork({ STANDALONE_PROCESS: "1" })
    const [said, [code]] = await Promise.all([text(worker.process.stderr), once(worker, "exit")])
    // SQLite removes its log when the last connection is closed
    process.stdout.write(said.replaceAll(String(taken.address().port), "PORT") + existsSync(database) + existsSync(database + "-wal"))
    process.exit(code)
  `
  expect(await run(script)).toStrictEqual({
    code: 1,
    output: `The server could not start: --http-address "127.0.0.1:PORT": bind EADDRINUSE 127.0.0.1:PORT\ntruefalse`,
    errors: ""
  })
})

it("a server that a process manager runs in a cluster ends when it is told to", async () => {
  const script = `
    cluster.setupPrimary({
      exec: "${program}",
      args: ["--http-address", "127.0.0.1:0", "--database", "sqlite::memory:", "--workspaces-directory", directory, "--drain-grace", "0"],
      silent: true
    })
    const worker = cluster.fork()
    worker.process.stdout.on("data", (text) => /listens on/.test(text) && process.kill(worker.process.pid, "SIGTERM"))
    worker.process.stderr.pipe(process.stderr)
    worker.once("exit", (code) => process.exit(code))
  `
  expect(await run(script)).toStrictEqual({ code: 0, output: "", errors: "" })
})
