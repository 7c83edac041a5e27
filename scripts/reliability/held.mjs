// Measures load that is held: `npm run build && npm run load -- [--minutes 30] [--agents 2000] [--watchers 500] [--terminals 100] [--builds 20] [--build-seconds 5] [--warm-up 60] [--postgres]
// [--profile DIRECTORY] [--snapshot DIRECTORY]`; these write a profile of the server's processor time, and a snapshot of its heap at the end.
// Agents are connected by their protocol, and report metadata every ten seconds. Meanwhile clients watch workspaces, terminals print a line every second,
// builds follow each other, and a user asks who it is ten times a second. Prints the server's memory by thirds of the time, errors, and how long `users/me` took.
// At the end of each third the server collects its garbage, and the memory that is left counts. Exits with 1 if what is in use grows by more than 5 % in the last
// third, or resident memory by more than 10 %, or anything failed. Says on the standard error what it is at. Each preparation has ten minutes, and a run that
// does not end names the one that it is at.
import { AgentService, DrpcClient, ProvisionerDaemonService, Session, Timestamp } from "@atelier/agent-protocol"
import { Brand } from "@atelier/agent"
import { builds, workspaces } from "@atelier/client"
import { Deferred, Effect, Fiber, Logger, Option, Stream } from "effect"
import { fork } from "node:child_process"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { WebSocket } from "ws"
import { connect, emptyTraffic } from "../../packages/agent/dist/connection/WebSocketTransport.js"
import * as Marks from "../../packages/agent/dist/scripts/Marks.js"
import * as OwnPorts from "../../packages/agent/dist/streams/OwnPorts.js"
import { serve } from "../../packages/agent/dist/streams/ReverseStreams.js"
import * as Terminals from "../../packages/agent/dist/streams/Terminals.js"
import { percentile } from "../bench/compare.mjs"
import { makeDatabases } from "../bench/databases.mjs"
import { startDeployment } from "../bench/deployment.mjs"
import { openEvents, openMany } from "../bench/sections/held.mjs"
import { idOf, runningOf } from "../bench/seed.mjs"
import { clientOf, makeTemplate } from "./server.mjs"

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    agents: { type: "string", default: "2000" },
    watchers: { type: "string", default: "500" },
    terminals: { type: "string", default: "100" },
    builds: { type: "string", default: "20" },
    "build-seconds": { type: "string", default: "5" },
    "warm-up": { type: "string", default: "60" },
    profile: { type: "string" },
    snapshot: { type: "string" },
    postgres: { type: "boolean", default: false }
  }
})
const [minutes, agents, watchers, terminals, building] = ["minutes", "agents", "watchers", "terminals", "builds"].map((name) =>
  Number(values[name])
)

/** How long a daemon works on a build. The next one begins as soon as it has ended. */
const buildTime = `${Number(values["build-seconds"])} seconds`

/** Agents that have the terminals. */
const withTerminals = 10

/** Milliseconds of the load before memory counts: code is loaded, and pools and caches are filled. */
const warmUp = Number(values["warm-up"]) * 1000

/** The server's processor time is profiled for this long at most, in milliseconds. */
const longestProfile = 30_000

const errors = new Map()
const note = (name) => errors.set(name, (errors.get(name) ?? 0) + 1)
const load = { isOver: false }

/** What serves the terminals of an agent, and nothing else. */
const terminalServices = Effect.gen(function* () {
  const place = yield* Deferred.make()
  const variables = { PATH: process.env.PATH ?? "", PS1: "$ " }
  yield* Deferred.succeed(place, { directory: tmpdir(), variables, shell: "/bin/sh", resolve: (path) => path })
  const refused = (stream) => stream.reset
  const ended = { serve: refused, end: Effect.void }
  const terminal = yield* Terminals.make(place, Marks.make(Brand.make("Service")))
  return { terminals: terminal, api: ended, machine: ended, ssh: ended, ports: OwnPorts.all, token: refused }
})

/** An agent that stays connected, and connects again if it has to. */
const anAgent = (port, index) =>
  Effect.gen(function* () {
    const streams = index < withTerminals ? "&streams=3" : ""
    const transport = yield* connect({
      url: new URL(`ws://127.0.0.1:${port}/api/v2/workspaceagents/me/rpc?version=2.0&role=agent${streams}`),
      headers: { "Service-Session-Token": idOf("agentToken", runningOf(index)) },
      traffic: emptyTraffic()
    })
    const session = yield* Session.make(transport, { role: "client" })
    const client = DrpcClient.make(AgentService, session)
    yield* client.GetManifest({})
    yield* Effect.acquireRelease(
      Effect.sync(() => void (connected.count += 1)),
      () => Effect.sync(() => void (connected.count -= 1))
    )
    if (index < withTerminals) yield* Effect.forkScoped(serve(session, yield* terminalServices))
    let count = 0
    const report = Effect.suspend(() => {
      const result = { collected_at: Timestamp.fromMillis(Date.now()), value: `${count++}`, error: "" }
      return client.BatchUpdateMetadata({ metadata: [{ key: "load", result }] })
    })
    // Not all at once
    yield* Effect.sleep(Math.random() * 10_000)
    yield* Effect.raceFirst(Effect.forever(Effect.delay(report, "10 seconds")), Effect.zipRight(session.closed, Effect.fail("closed")))
  }).pipe(
    Effect.scoped,
    Effect.catchAllCause(() => Effect.sync(() => !load.isOver && note("agent"))),
    Effect.zipRight(Effect.sleep("1 second")),
    Effect.forever
  )

/** A daemon that takes builds, one at a time. */
const aDaemon = ({ port, token }, number) =>
  Effect.gen(function* () {
    const query = `provisioner=terraform&name=d${number}&version=1.18`
    const transport = yield* connect({
      url: new URL(`ws://127.0.0.1:${port}/api/v2/organizations/default/provisionerdaemons/serve?${query}`),
      headers: { "Service-Session-Token": token },
      traffic: emptyTraffic()
    })
    const client = DrpcClient.make(ProvisionerDaemonService, yield* Session.make(transport, { role: "client" }))
    for (;;) {
      const job = Option.getOrUndefined(yield* Stream.runHead(client.AcquireJobWithCancel(Stream.never)))
      if (job === undefined || job.job_id === "") continue
      yield* Effect.sleep(buildTime)
      yield* client.CompleteJob({ job_id: job.job_id, type: { case: job.type.case, value: {} } })
    }
  }).pipe(
    Effect.scoped,
    Effect.catchAllCause(() => Effect.sync(() => !load.isOver && note("daemon"))),
    Effect.zipRight(Effect.sleep("1 second")),
    Effect.forever
  )

/** A terminal that prints a line every second. */
const aTerminal = ({ port, token }, index) =>
  new Promise((resolve, reject) => {
    const agent = idOf("agent", runningOf(index % withTerminals))
    const command = encodeURIComponent("while :; do date; sleep 1; done")
    const path = `/api/v2/workspaceagents/${agent}/pty?reconnect=${crypto.randomUUID()}&command=${command}`
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { "Service-Session-Token": token } })
    socket.once("error", reject)
    socket.once("message", () => resolve(() => socket.terminate()))
    socket.on("close", () => !load.isOver && note("terminal"))
  })

/** Stops and starts a workspace in turns. */
const keepBuilding = async (client, workspace) => {
  let count = 0
  while (!load.isOver) {
    try {
      const { latest_build } = await workspaces.getWorkspace(client, { workspace })
      if (["pending", "running", "canceling"].includes(latest_build.job.status)) await sleep(200)
      else {
        if (latest_build.job.status !== "succeeded") note(`build: ${latest_build.job.error}`)
        const transition = latest_build.transition === "start" ? "stop" : "start"
        await builds.createWorkspaceBuild(client, { workspace, body: { transition } })
        count += 1
      }
    } catch (error) {
      note(`build: ${error.message}`)
      await sleep(1_000)
    }
  }
  return count
}

const begunAt = performance.now()

/** Milliseconds that one preparation, or the end, may take: on a machine with much other work, 2,000 agents take minutes. */
const longest = 600_000

/** Does a part of the run, and says how long it took. */
const phase = async (name, work) => {
  const from = performance.now()
  const late = sleep(longest, undefined, { ref: false }).then(() => {
    throw new Error(`${name}: takes longer than ${longest / 60_000} minutes`)
  })
  const result = await Promise.race([work(), late])
  const now = performance.now()
  process.stderr.write(`${((now - begunAt) / 1000).toFixed(0)} s: ${name} took ${((now - from) / 1000).toFixed(1)} s\n`)
  return result
}

/** Tries again for a minute: an agent may have lost its connection to a server that has little of the processor, and comes back. */
const patiently = async (open, index) => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await open(index)
    } catch (error) {
      if (attempt === 30) throw error
      await sleep(2_000)
    }
  }
}

/** Agents that are connected. */
const connected = { count: 0 }

const rss = async (pid) => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))[1]) / 1024

/** MiB that the server has in use and that are resident after a collection. What waits to be collected depends on when V8 collects. */
const collectedOf = async (deployment) => {
  const { memory } = await deployment.ask("usage")
  return { inUse: (memory.heapUsed + memory.external) / 1024 / 1024, resident: memory.rss / 1024 / 1024 }
}

/** How much of each may be added in the last third. */
const growth = { inUse: 1.05, resident: 1.1 }

const titles = { inUse: "in use", resident: "resident" }

const databases = await makeDatabases()
let failed = true
try {
  const kind = values.postgres ? "postgres" : "sqlite"
  const deployment = await startDeployment(await databases.fresh(kind), { isEntitled: true })
  await phase("the workspaces", async () => {
    // Six of ten workspaces have an agent
    await deployment.grow(Math.ceil((agents * 10) / 6 / 1000) * 1000)
    await deployment.ask("seedConnectable", { count: agents })
  })
  const fibers = Array.from({ length: building }, (_, number) => Effect.runFork(aDaemon(deployment, number)))
  await phase("connecting the agents", async () => {
    for (let index = 0; index < agents; index++) {
      fibers.push(Effect.runFork(Effect.provide(anAgent(deployment.port, index), Logger.remove(Logger.defaultLogger))))
      if (index % 20 === 19) await sleep(50)
      // No more than some at a time wait for an answer
      while (connected.count < index - 200) await sleep(50)
    }
    while (connected.count < agents) await sleep(200)
  })
  // Agents that had to try again before the load are not its errors
  errors.delete("agent")
  const paths = (index) => `/api/v2/workspaces/${idOf("workspace", runningOf(index % agents))}/watch`
  const watching = (index) => openEvents(deployment.port, deployment.token, paths(index))
  const closeWatchers = await phase("opening the watchers", () => openMany((index) => patiently(watching, index), watchers))
  const inTerminal = (index) => aTerminal(deployment, index)
  const closeTerminals = await phase("opening the terminals", () => openMany((index) => patiently(inTerminal, index), terminals))
  errors.delete("terminal")
  const client = clientOf(`http://127.0.0.1:${deployment.port}`, deployment.token)
  // Without builds there is no daemon that would import it
  const template_id = building === 0 ? undefined : (await makeTemplate(client, "held", "agents: []\n")).id
  const builders = []
  for (let index = 0; index < building; index++) {
    const { id } = await workspaces.createWorkspace(client, { user: "me", body: { name: `held-${index}`, template_id } })
    builders.push(keepBuilding(client, id))
  }

  const begun = performance.now()
  let sampled = begun
  const memory = []
  const times = []
  const collected = []
  const processor = []
  let profiled
  /** What a call of `users/me` that waits for a collection takes says nothing. */
  let isCollecting = false
  let hasCollected = false
  const probe = fork(fileURLToPath(new URL("probe.mjs", import.meta.url)), [`${deployment.port}`, deployment.token])
  probe.on("message", ({ isAnswered, took }) => {
    if (!isAnswered) note("users/me")
    if (collected.length > 0 && !isCollecting && !hasCollected) times.push(took)
    hasCollected = false
  })
  while (collected.length < 4) {
    const asked = performance.now()
    if (asked >= begun + warmUp + (collected.length * minutes * 60_000) / 3) {
      isCollecting = true
      collected.push(await collectedOf(deployment))
      isCollecting = false
      hasCollected = true
      processor.push({ at: performance.now(), cpu: await deployment.ask("cpu") })
      if (values.profile !== undefined && profiled === undefined) {
        const milliseconds = Math.min(longestProfile, (minutes * 60_000) / 3)
        profiled = deployment.ask("profile", { file: join(values.profile, "server.cpuprofile"), milliseconds })
      }
      continue
    }
    if (collected.length > 0 && asked - sampled > 5_000) {
      sampled = asked
      memory.push(await rss(deployment.pid))
    }
    await sleep(100)
  }
  probe.disconnect()
  await profiled
  load.isOver = true
  // The server stands still for a minute: agents and builds that fail then are no errors of the load
  if (values.snapshot !== undefined) await deployment.ask("snapshot", { file: join(values.snapshot, "server.heapsnapshot") })
  process.stderr.write(`${((performance.now() - begunAt) / 1000).toFixed(0)} s: the load is over\n`)
  const count = (await phase("the last builds", () => Promise.all(builders))).reduce((sum, one) => sum + one, 0)
  closeWatchers()
  closeTerminals()
  await Effect.runPromise(Effect.timeoutOption(Fiber.interruptAll(fibers), "20 seconds"))
  const third = Math.floor(memory.length / 3)
  const mean = (figures) => figures.reduce((sum, one) => sum + one, 0) / figures.length
  const thirds = [0, 1, 2].map((number) => mean(memory.slice(number * third, (number + 1) * third)))
  const p99 = percentile(times, 0.99)
  const shares = processor.slice(1).map(({ at, cpu }, index) => {
    const before = processor[index]
    return (cpu.user + cpu.system - before.cpu.user - before.cpu.system) / (at - before.at) / 10
  })
  process.stdout.write(
    [
      `${minutes} minutes, ${agents} agents, ${watchers} watchers, ${terminals} terminals, ${building} builds at once, ${values.postgres ? "PostgreSQL" : "SQLite"}`,
      `resident memory by thirds: ${thirds.map((one) => one.toFixed(0)).join(", ")} MiB`,
      ...["inUse", "resident"].map(
        (name) =>
          `${titles[name]} after a collection, before and at the end of each third: ${collected.map((one) => one[name].toFixed(1)).join(", ")} MiB`
      ),
      `${times.length} calls of users/me: half below ${percentile(times, 0.5).toFixed(1)}, p99 ${p99.toFixed(1)} ms`,
      `processor time of the server by thirds: ${shares.map((one) => one.toFixed(0)).join(", ")} % of a core`,
      `${count} builds`,
      `errors: ${errors.size === 0 ? "none" : [...errors].map(([name, number]) => `${name} ${number}`).join(", ")}`,
      ""
    ].join("\n")
  )
  const hasGrown = Object.entries(growth).some(([name, most]) => collected[3][name] > collected[2][name] * most)
  failed = errors.size > 0 || hasGrown
  await deployment.stop()
} finally {
  await databases.close()
}
process.exit(failed ? 1 : 0)
