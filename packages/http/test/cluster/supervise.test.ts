/** What the process that watches over others does when they cannot be started, or die. Scripts of a few lines stand for the server. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { expect, it, onTestFinished } from "vitest"
import { intervalAfter } from "../../src/cluster/supervise.js"

const supervisor = new URL("../../dist/cluster/supervise.js", import.meta.url).href
const module = new URL("../../dist/cluster/index.js", import.meta.url).href
const program = fileURLToPath(new URL("../../../atelier/dist/program.cjs", import.meta.url))

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
    import { supervise as watch } from "${supervisor}"
    const supervise = (count, ended, more = {}) => watch({ count, ended, onRestart: () => undefined, endWithin: 10_000, ...more })
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
    errors: `Worker 1 ended with spawn ${process.execPath} ENOENT before it served\n`
  })
})

it.each(["rr", "none"])("a process takes the place of one that crashed (scheduling: %s)", async (scheduling) => {
  const worker = `
    import { createServer } from "node:net"
    const server = createServer((socket) => void socket.end(String(process.pid)))
    server.listen(0, "127.0.0.1", () => process.send({ kind: "serves", greeting: String(server.address().port) }))
    process.on("message", ({ kind }) => kind === "end" && process.exit(0))
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
  expect({ code, errors }).toStrictEqual({ code: 0, errors: "Worker 1 ended with SIGKILL; another one takes its place\n" })
})

it("a process that crashed ends every connection that it was being handed (scheduling: rr)", async () => {
  const worker = `
    import { once } from "node:events"
    import { createServer } from "node:net"
    const servers = [createServer(), createServer()]
    for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening")
    process.send({ kind: "serves", greeting: servers.map((server) => server.address().port).join() })
    process.on("message", ({ kind }) => kind === "end" && process.exit(0))
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
  expect(errors).toBe("Worker 1 ended with SIGKILL; another one takes its place\n")
})

it("a process that crashed leaves the address to the others (scheduling: none)", async () => {
  const worker = `
    import { createServer } from "node:net"
    const server = createServer((socket) => void socket.end(String(JSON.parse(process.env.CLUSTER_WORKER).number)))
    server.listen(0, "127.0.0.1", () => process.send({ kind: "serves", greeting: String(server.address().port) }))
    process.on("message", ({ kind }) => kind === "end" && process.exit(0))
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

/** A worker whose answer is its process; it ends when it is told to. */
const ordinary = `
  import { createServer } from "node:net"
  const server = createServer((socket) => void socket.end(String(process.pid)))
  server.listen(0, "127.0.0.1", () => process.send({ kind: "serves", greeting: String(server.address().port) }))
  process.on("message", ({ kind, end }) => {
    if (kind === "end") server.close(() => process.exit(end.isReplaced ? 0 : 3))
  })
`

it("workers are replaced one after the other, each while the others serve", async () => {
  const script = `
    let end, restart
    const greeted = new Promise((resolve) => (process.stdout.write = resolve))
    const code = supervise(3, new Promise((resolve) => (end = resolve)), { onRestart: (listener) => (restart = listener) })
    const port = await greeted
    const before = new Set(Object.values(cluster.workers).map(({ process }) => process.pid))
    let least = 3
    cluster.on("exit", () => (least = Math.min(least, Object.values(cluster.workers).filter((worker) => !worker.isDead()).length)))
    const replaced = new Promise((resolve) => {
      const { write } = process.stderr
      process.stderr.write = (line) => (line.startsWith("All workers were replaced") ? resolve() : write.call(process.stderr, line))
    })
    restart()
    await replaced
    const answers = await Promise.all(Array.from({ length: 6 }, () => text(connect(port, "127.0.0.1"))))
    const after = new Set(answers.map(Number))
    end("SIGTERM")
    process.stderr.write(JSON.stringify({ least, after: after.size, kept: [...after].filter((pid) => before.has(pid)).length }))
    process.exit(await code)
  `
  const { code, errors } = await run(script, { worker: ordinary })
  expect({ code, errors: JSON.parse(errors) }).toStrictEqual({ code: 3, errors: { least: 2, after: 3, kept: 0 } })
})

it("a connection that is on its way to a worker that ends is answered by another (scheduling: rr)", async () => {
  const worker = `
    import { writeFileSync } from "node:fs"
    import { createServer } from "node:net"
    import { dirname, join } from "node:path"
    import { run } from "${module}"
    await run({
      workers: 2,
      serve: ({ number }) => new Promise((resolve) => {
        const server = createServer((socket) => void socket.end(String(number)))
        const end = () => new Promise((ended) => server.close(() => {
          writeFileSync(join(dirname(process.argv[1]), "closed"), "")
          ended()
        }))
        server.listen(0, "127.0.0.1", () => resolve({ greeting: String(server.address().port), end }))
      })
    })
    process.exit(0)
  `
  const script = `
    import { existsSync, readFileSync } from "node:fs"
    let end, restart
    cluster.setupPrimary({ serialization: "advanced" })
    const greeted = new Promise((resolve) => (process.stdout.write = resolve))
    const code = supervise(2, new Promise((resolve) => (end = resolve)), { onRestart: (listener) => (restart = listener) })
    let listening = 0
    const all = new Promise((resolve) => cluster.on("listening", () => ++listening === 2 && resolve()))
    const port = await greeted
    await all
    const [first] = Object.values(cluster.workers)
    const hasEnded = () => /^State:\\s+Z/m.test(readFileSync("/proc/" + first.process.pid + "/status", "utf8"))
    const sleeper = new Int32Array(new SharedArrayBuffer(4))
    // This turn comes between two polls of the event loop: the connections are accepted before the worker's message is read
    await setImmediate()
    restart()
    const sockets = Array.from({ length: 4 }, () => connect(port, "127.0.0.1"))
    // This process is busy, until the worker has ended or waits for it
    process.nextTick(() => {
      while (!existsSync(directory + "/closed")) Atomics.wait(sleeper, 0, 0, 5)
      for (let turn = 0; turn < 40 && !hasEnded(); turn++) Atomics.wait(sleeper, 0, 0, 5)
    })
    const answers = await Promise.all(sockets.map((socket) => text(socket).catch(({ code }) => code)))
    console.error(answers.join())
    end("SIGTERM")
    process.exit(await code)
  `
  const { errors } = await run(script, { worker, environment: { NODE_CLUSTER_SCHED_POLICY: "rr" } })
  expect(errors.split("\n")).toContain("2,2,2,2")
})

it("a replacement that does not serve leaves the other workers as they are", async () => {
  const script = `
    import { writeFileSync } from "node:fs"
    let restart
    const greeted = new Promise((resolve) => (process.stdout.write = resolve))
    void supervise(2, new Promise(() => undefined), { onRestart: (listener) => (restart = listener) })
    await greeted
    const last = Object.values(cluster.workers)[1]
    writeFileSync(exec, "process.exit(7)")
    const { write } = process.stderr
    process.stderr.write = (line) => {
      if (!line.includes("not replaced")) return
      write.call(process.stderr, line + !last.isDead())
      process.exit(0)
    }
    restart()
  `
  expect(await run(script, { worker: ordinary })).toStrictEqual({
    code: 0,
    output: "",
    errors: "The other workers are not replaced: worker 1 did not serve\ntrue"
  })
})

it("a worker that does not end in time is killed", async () => {
  const worker = `
    process.send({ kind: "serves", greeting: "" })
    process.on("message", () => undefined)
  `
  const script = `
    process.exit(await supervise(1, once(cluster, "message").then(() => "SIGTERM"), { endWithin: 50 }))
  `
  const { code, errors } = await run(script, { worker })
  expect({ code, errors }).toStrictEqual({ code: 1, errors: "Worker 1 has not ended within 0 seconds, and is killed\n" })
})

it.each([
  ["does not get to serve", 'Promise.reject(new Error("the database is away"))', "Worker 1 ended with 3 before it served\n"],
  ["fails at its end", 'Promise.resolve({ end: () => Promise.reject(new Error("the database is away")) })', ""]
])("a worker that %s ends by itself", async (_, serve, expected) => {
  const worker = `
    import { run } from "${module}"
    await run({ workers: 1, serve: () => ${serve} }).catch(() => (process.exitCode = 3))
  `
  const script = `
    cluster.setupPrimary({ serialization: "advanced" })
    const served = new Promise((resolve) => cluster.on("message", (_worker, { kind }) => kind === "serves" && resolve("SIGTERM")))
    process.exit(await supervise(1, served, { endWithin: 3_000, startWithin: 3_000 }))
  `
  expect(await run(script, { worker })).toStrictEqual({ code: 3, output: "", errors: expected })
})

it("a worker asks the others, and one that has died is not waited for", async () => {
  const worker = `
    const { number } = JSON.parse(process.env.CLUSTER_WORKER)
    process.on("message", ({ kind, id, answers }) => {
      if (kind === "question" && number === 3) process.kill(process.pid, "SIGKILL")
      if (kind === "question" && number === 2) process.send({ kind: "answer", id, value: "two" })
      if (kind === "answers") process.send({ kind: "told", answers })
    })
    process.on("message", ({ kind, states }) => {
      if (number === 1 && kind === "states" && states.filter(({ activity }) => activity === "serving").length === 3) process.send({ kind: "ask", id: 1 })
    })
    process.send({ kind: "serves", greeting: "" })
  `
  const script = `
    void supervise(3, new Promise(() => undefined))
    cluster.on("message", (_worker, { kind, answers }) => {
      if (kind !== "told") return
      console.log(JSON.stringify(answers))
      process.exit(0)
    })
  `
  expect((await run(script, { worker })).output).toBe(`${JSON.stringify([{ number: 2, value: "two" }])}\n`)
})

it.each(["", "worker.answer(async () => worker.number)", "worker.answer(() => Promise.reject(new Error()))"])(
  "workers that run the program ask each other, and end with the first process (%s)",
  async (answering) => {
    const worker = `
      import { run } from "${module}"
      const serve = async (worker) => {
        ${answering}
        const ask = setInterval(async () => {
          if (worker.states().filter(({ activity }) => activity === "serving").length < 2) return
          clearInterval(ask)
          if (worker.number === 1) return
          console.log(JSON.stringify(await worker.ask()))
          process.kill(process.ppid, "SIGTERM")
        }, 5)
        return { greeting: "hello\\n", end: async () => clearInterval(ask) }
      }
      process.exit(await run({ workers: 2, serve }))
    `
    const script = `
      import { run } from "${module}"
      process.exit(await run({ workers: 2, serve: () => Promise.reject(new Error("this process serves nothing")) }))
    `
    const { code, errors, output } = await run(script, { worker })
    const value = answering.includes("number") ? 1 : undefined
    expect({ code, errors }).toStrictEqual({ code: 0, errors: "" })
    const lines = new Set(output.trimEnd().split("\n"))
    expect(lines).toStrictEqual(
      new Set(["hello", JSON.stringify([{ number: 1, value }]), "SIGTERM: finishing what is under way; the workspaces keep running"])
    )
  }
)

it("a worker asks in vain where the first process does not answer", async () => {
  const worker = `
    import { makeWorker } from "${new URL("../../dist/cluster/Worker.js", import.meta.url).href}"
    const { worker } = makeWorker({ number: 1, directory: "." }, { within: 10 })
    worker.ask().then((answers) => process.send({ kind: "told", answers }))
  `
  const script = `
    cluster.fork().on("message", ({ kind, answers }) => {
      if (kind !== "told") return
      console.log(JSON.stringify(answers))
      process.exit(0)
    })
  `
  expect((await run(script, { worker })).output).toBe("[]\n")
})

it("a worker that takes the place of another and does not serve in time is killed", async () => {
  const script = `
    import { writeFileSync } from "node:fs"
    const greeted = new Promise((resolve) => (process.stdout.write = resolve))
    void supervise(1, new Promise(() => undefined), { startWithin: 50 })
    await greeted
    writeFileSync(exec, "setInterval(() => undefined, 1000)")
    const [first] = Object.values(cluster.workers)
    const [next] = await Promise.all([once(cluster, "fork"), first.process.kill("SIGKILL")])
    const [, signal] = await once(next[0], "exit")
    process.stderr.write(signal)
    process.exit(0)
  `
  const { errors } = await run(script, { worker: ordinary })
  expect(errors).toContain("Worker 1 does not serve within 0 seconds of its start, and is killed\n")
  expect(errors).toContain("SIGKILL")
})

it("workers whose replacement is asked for during the start are replaced once they serve", async () => {
  const script = `
    let restart
    const replaced = new Promise((resolve) => {
      process.stderr.write = (line) => line.startsWith("All workers were replaced") && resolve()
    })
    process.stdout.write = () => true
    void supervise(2, new Promise(() => undefined), { onRestart: (listener) => (restart = listener) })
    const before = Object.values(cluster.workers).map(({ process }) => process.pid)
    restart()
    await replaced
    process.exit(Object.values(cluster.workers).some(({ process }) => before.includes(process.pid)) ? 2 : 0)
  `
  expect((await run(script, { worker: ordinary })).code).toBe(0)
})

it("workers end with a first process that is killed", async () => {
  const script = `
    void supervise(2, new Promise(() => undefined))
    let serving = 0
    cluster.on("message", (_worker, { kind }) => {
      if (kind !== "serves" || ++serving < 2) return
      process.kill(process.pid, "SIGKILL")
    })
  `
  // Their output is closed once all of them have ended
  expect(await run(script, { worker: ordinary })).toMatchObject({ code: null })
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
    const worker = cluster.fork({ CLUSTER_WORKER: JSON.stringify({ number: 1, directory }) })
    const [said, [code]] = await Promise.all([text(worker.process.stderr), once(worker, "exit")])
    // SQLite removes its log when the last connection is closed
    process.stdout.write(said.replaceAll(String(taken.address().port), "PORT") + existsSync(database) + existsSync(database + "-wal"))
    process.exit(code)
  `
  expect(await run(script)).toStrictEqual({
    code: 1,
    output: `The server could not start: --http-address "127.0.0.1:PORT": another program listens there: end it, or give another address\ntruefalse`,
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

it("a worker whose program has no more to do ends by itself", async () => {
  const script = `
    const { run } = await import("${module}")
    let serving = 0
    cluster.on("message", (_, { kind }) => kind === "serves" && ++serving === 2 && process.kill(process.pid, "SIGTERM"))
    process.exitCode = await run({ workers: 2, endWithin: 5000, serve: () => Promise.reject(new Error("this process serves nothing")) })
  `
  const worker = `
    import { createServer } from "node:net"
    import { run } from "${module}"
    const serve = async () => {
      const server = createServer().listen(0, "127.0.0.1")
      return { end: async () => void server.close() }
    }
    process.exitCode = await run({ workers: 2, serve })
  `
  const output = "SIGTERM: finishing what is under way; the workspaces keep running\n"
  expect(await run(script, { worker })).toStrictEqual({ code: 0, output, errors: "" })
})
