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

it("a process that does not get to serve is started less and less often", () => {
  const intervals = [1, 2, 3, 4, 5, 6].reduce<ReadonlyArray<number>>((all) => [...all, intervalAfter(all.at(-1) ?? 0, false)], [1_000])
  expect(intervals).toStrictEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  expect(intervalAfter(30_000, true)).toBe(1_000)
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
