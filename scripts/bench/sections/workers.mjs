// The standalone server on PostgreSQL by one worker and by two: requests, and the processor time that one takes of all processes of the server. On Linux with two
// cores or more, each side has as many of them as workers, and shares them with all else: with the load, the database, agents and apps. So each worker has as
// much of all of them, and two workers answer twice as much as one if they cost nothing beside each other. A bare cluster of Node's is measured as a frame.
// PostgreSQL's processor time for a request says how many cores a machine needs for it beside the workers'.
import { builds, createClient, logins, users } from "@atelier/client"
import { execFile, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { WebSocket } from "ws"
import { median } from "../compare.mjs"
import { freePort } from "../databases.mjs"
import { authenticated, password } from "../deployment.mjs"
import { load, request } from "../load.mjs"
import { agentFrom, templateFrom, untilDeleted } from "./apps.mjs"
import { launch } from "../launch.mjs"

const admin = { email: "admin@example.com", password }
const rounds = 5

/** Connections of a load for each worker. */
const connections = 20

const sum = (values) => values.reduce((left, right) => left + right, 0)

/** Requests after which V8 has compiled what a worker runs for them. */
const warmUp = 4000

/** Has each process answer as many requests as its code needs. */
const warm = async ({ count, port, requests }, kind) => {
  for (let answered = 0; answered < count * warmUp;) {
    answered += (await load({ port, request: requests[kind], seconds: 1, warmup: 0 })).latencies.length
  }
}

const started = async (databases, count) => {
  const storage = await databases.fresh("postgres")
  const directory = await mkdtemp(join(databases.directory, "workspaces-"))
  const server = await launch(storage, directory, { args: ["--workers", String(count), "--dangerous-disable-rate-limits"] })
  await server.answered()
  const baseUrl = `http://127.0.0.1:${server.port}`
  const anonymous = createClient({ baseUrl })
  await users.createFirstUser(anonymous, { body: { ...admin, username: "admin" } })
  const { session_token: token } = await logins.logIn(anonymous, { body: admin })
  const client = createClient({ baseUrl, token, WebSocket })
  const pids = await processesOf(server.pid)
  const headers = { "Service-Session-Token": token }
  return {
    ...server,
    client,
    count,
    pids,
    requests: { caller: authenticated(token, "GET", "/users/me"), app: request("GET", "/@admin/dev/apps/site/", { headers }) }
  }
}

/** Starts a program that does no more than a query for each request. */
const startedBare = async (databases, count) => {
  const { location } = await databases.fresh("postgres")
  const child = fork(fileURLToPath(new URL("../bareCluster.mjs", import.meta.url)), [String(count), location])
  const [{ port, pids }] = await once(child, "message")
  return { port, pids, count, requests: { query: request("GET", "/") }, stop: () => child.disconnect() }
}

/** Starts a workspace whose agent one of the workers holds, and answers how to delete it. */
const withApp = async ({ client }) => {
  const { id } = await templateFrom(client, await freePort())
  const { workspace } = await agentFrom(client, id, "dev")
  return async () => {
    await builds.createWorkspaceBuild(client, { workspace, body: { transition: "delete" } })
    await untilDeleted(client, workspace)
  }
}

const run = promisify(execFile)

/** Ids of all processes, each with its parent's. */
const allProcesses = async () => {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid="])
  return stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number))
}

/** The server's processes: the one that was started, and its workers. */
const processesOf = async (pid) => [pid, ...(await allProcesses()).filter(([, parent]) => parent === pid).map(([child]) => child)]

/** A process and all that it has started, also by others. */
const familyOf = async (pid) => {
  const all = await allProcesses()
  const family = [pid]
  for (const member of family) family.push(...all.filter(([, parent]) => parent === member).map(([child]) => child))
  return family
}

/** The processes of PostgreSQL that this program has started. */
const postgresProcesses = async () => {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,comm="])
  const named = new Set(stdout.split("\n").flatMap((line) => (line.endsWith(" postgres") ? [Number.parseInt(line, 10)] : [])))
  return (await familyOf(process.pid)).filter((pid) => named.has(pid))
}

const pin = async (pids, cores) => {
  // A process that has ended needs no core
  for (const pid of pids) await run("taskset", ["-acp", cores, String(pid)]).catch(() => undefined)
}

const hasTaskset = () =>
  run("taskset", ["--version"])
    .then(() => true)
    .catch(() => false)

/** Milliseconds of processor time that each of some processes has taken, on Linux. Undefined for one that has ended. */
const processorTime = (pids) =>
  Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined)
      if (stat === undefined) return
      const fields = stat.split(") ")[1].split(" ")
      // In hundredths of a second
      return (Number(fields[11]) + Number(fields[12])) * 10
    })
  )

/** A turn of one kind of request: its rate, and the processor time of the server's processes for each. */
const measured = async ({ count, pids, port, requests }, kind, seconds) => {
  const all = [...pids, ...(await postgresProcesses())]
  const before = await processorTime(all)
  const { latencies, perSecond } = await load({ port, request: requests[kind], seconds, warmup: 0, connections: connections * count })
  const taken = (await processorTime(all)).map((time = 0, at) => (time - Math.min(time, before[at] ?? 0)) / latencies.length)
  return { perSecond, each: sum(taken.slice(0, pids.length)), first: taken[0], postgres: sum(taken.slice(pids.length)) }
}

/** Measures one kind of request in turns, and answers a median of each side's. */
const inTurns = async (sides, kind, seconds, isPinned) => {
  for (const side of sides) await warm(side, kind)
  const all = isPinned ? await familyOf(process.pid) : []
  const turns = []
  for (let round = 0; round < rounds; round++) {
    for (const [at, side] of sides.entries()) {
      await pin(all, `0-${side.count - 1}`)
      turns.push({ at, ...(await measured(side, kind, seconds)) })
    }
  }
  return (name) => sides.map((_, at) => median(turns.filter((turn) => turn.at === at).map((turn) => turn[name])))
}

export const workers = {
  title: "several workers",
  run: async ({ database, databases, report, seconds }) => {
    if (database.kind !== "postgres") return
    const cores = availableParallelism()
    const isPinned = cores > 1 && (await hasTaskset())
    const all = []
    const deletions = []
    const start = async (starting) => {
      const server = await starting
      all.push(server)
      return server
    }
    const medians = {}
    try {
      const sides = [await start(started(databases, 1)), await start(started(databases, 2))]
      const bare = [await start(startedBare(databases, 1)), await start(startedBare(databases, 2))]
      for (const server of sides) deletions.push(await withApp(server))
      for (const kind of ["caller", "app"]) medians[kind] = await inTurns(sides, kind, seconds(3), isPinned)
      medians.query = await inTurns(bare, "query", seconds(1), isPinned)
    } finally {
      if (isPinned) await pin(await familyOf(process.pid), `0-${cores - 1}`)
      for (const remove of deletions) await remove()
      for (const { stop } of all) await stop()
    }
    const target = isPinned ? { atLeast: 0.85 * 2 } : undefined
    const add = (figure, [one, two], [first, second], unit, target) => {
      report.add({ database: database.name, figure: `${figure}, ${first}`, value: one, unit })
      report.add({ database: database.name, figure: `${figure}, ${second}`, value: two, unit, ratio: two / one, target })
    }
    const both = (figure, of, names, target) => {
      add(figure, of("perSecond"), names, "/s", target)
      add(`processor time of ${figure}`, of("each"), names, "ms")
    }
    both("GET /users/me", medians.caller, ["one worker", "two workers"], target)
    both("a small page of an app", medians.app, ["one worker", "two workers"], target)
    both("a bare query", medians.query, ["one process", "two processes"])
    for (const [figure, of] of [
      ["of the process that was started", "first"],
      ["of PostgreSQL", "postgres"]
    ]) {
      const [, value] = medians.caller(of)
      report.add({ database: database.name, figure: `of two workers' GET /users/me, ${figure}`, value, unit: "ms" })
    }
  }
}
