// The standalone server on PostgreSQL by one worker and by two: requests, and the processor time that one takes of all processes of the server. On Linux, the
// server has cores of its own: one for each of two workers where the machine has four, or else one for all, on which two workers answer as much as one
// if they cost nothing beside each other. The load and the database have the others. Two frames are measured in the same turns: two servers of one worker each,
// which have nothing in common and half of the connections each, and a bare cluster of Node's.
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

/** Connections of a load: all servers of a side share them. */
const connections = 20

const sum = (values) => values.reduce((left, right) => left + right, 0)

/** Requests after which V8 has compiled what a worker runs for them. */
const warmUp = 4000

/** Has each process answer as many requests as its code needs. */
const warm = async ({ servers }, kind) => {
  for (const { count, port, requests } of servers) {
    for (let answered = 0; answered < count * warmUp;) {
      answered += (await load({ port, request: requests[kind], seconds: 1, warmup: 0 })).latencies.length
    }
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

/** Servers that share the connections of a load. */
const sideOf = (...servers) => ({ servers, pids: servers.flatMap(({ pids }) => pids) })

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

const pin = async (pids, cores) => {
  // A process that has ended meanwhile needs no core
  for (const pid of pids) await run("taskset", ["-acp", cores, String(pid)]).catch(() => undefined)
}

/** Gives the servers cores of their own, and what else this run has started, agents and apps too, the others. Answers how many cores two workers have; undefined without. */
const keepApart = async (sides) => {
  const cores = availableParallelism()
  const isPossible =
    cores > 1 &&
    (await run("taskset", ["--version"])
      .then(() => true)
      .catch(() => false))
  if (!isPossible) return undefined
  const isWide = cores >= 4
  await pin(await familyOf(process.pid), isWide ? `2-${cores - 1}` : `1-${cores - 1}`)
  for (const { pids } of sides) await pin(pids, isWide && pids.length > 1 ? "0,1" : "0")
  return isWide ? 2 : 1
}

/** Milliseconds of processor time that each of some processes has taken, on Linux. */
const processorTime = (pids) =>
  Promise.all(
    pids.map(async (pid) => {
      const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1].split(" ")
      // In hundredths of a second
      return (Number(fields[11]) + Number(fields[12])) * 10
    })
  )

/** A turn of one kind of request: its rate, and the processor time of the servers' processes for each. */
const measured = async ({ pids, servers }, kind, seconds) => {
  const before = await processorTime(pids)
  const loads = servers.map(({ port, requests }) =>
    load({ port, request: requests[kind], seconds, warmup: 0, connections: connections / servers.length })
  )
  const answers = await Promise.all(loads)
  const taken = (await processorTime(pids)).map((time, at) => time - before[at])
  const answered = sum(answers.map(({ latencies }) => latencies.length))
  return { perSecond: sum(answers.map(({ perSecond }) => perSecond)), each: sum(taken) / answered, first: taken[0] / answered }
}

/** Measures one kind of request in turns, and answers a median of each side's. */
const inTurns = async (sides, kind, seconds) => {
  for (const side of sides) await warm(side, kind)
  const turns = []
  for (let round = 0; round < rounds; round++) {
    for (const [at, side] of sides.entries()) turns.push({ at, ...(await measured(side, kind, seconds)) })
  }
  return (name) => sides.map((_, at) => median(turns.filter((turn) => turn.at === at).map((turn) => turn[name])))
}

/** Adds the processor time of one kind of request, as the ratio to that of the first of `names`. */
const reportTimes = ({ database, figure, names, of, report, target }) => {
  const times = of("each")
  for (const [at, name] of names.entries()) {
    const ratio = at === 0 ? {} : { ratio: times[at] / times[0], target: at === 1 ? target : undefined }
    report.add({ figure: `processor time of ${figure}, ${name}`, database: database.name, value: times[at], unit: "ms", ...ratio })
  }
}

export const workers = {
  title: "several workers",
  run: async ({ database, databases, report, seconds }) => {
    if (database.kind !== "postgres") return
    const all = []
    const deletions = []
    const start = async (starting) => {
      const server = await starting
      all.push(server)
      return server
    }
    const medians = {}
    let ownCores
    try {
      const sides = [
        sideOf(await start(started(databases, 1))),
        sideOf(await start(started(databases, 2))),
        sideOf(await start(started(databases, 1)), await start(started(databases, 1)))
      ]
      const bare = [sideOf(await start(startedBare(databases, 1))), sideOf(await start(startedBare(databases, 2)))]
      for (const server of sides.flatMap(({ servers }) => servers)) deletions.push(await withApp(server))
      ownCores = await keepApart([...sides, ...bare])
      for (const kind of ["caller", "app"]) medians[kind] = await inTurns(sides, kind, seconds(3))
      medians.query = await inTurns(bare, "query", seconds(1))
    } finally {
      for (const remove of deletions) await remove()
      for (const { stop } of all) await stop()
      if (ownCores !== undefined) await pin(await familyOf(process.pid), `0-${availableParallelism() - 1}`)
    }
    const [one, two, apart] = medians.caller("perSecond")
    const common = { database: database.name, unit: "/s" }
    const where = ownCores === undefined ? "" : ` on ${ownCores === 1 ? "the same core" : "a core each"}`
    const target = ownCores === undefined ? undefined : { atLeast: 0.85 * ownCores }
    report.add({ ...common, figure: "GET /users/me, one worker", value: one })
    report.add({ ...common, figure: `GET /users/me, two workers${where}`, value: two, ratio: two / one, target })
    report.add({ ...common, figure: `GET /users/me, two servers${where}`, value: apart, ratio: apart / one })
    const names = ["one worker", "two workers", "two servers"]
    reportTimes({ database, figure: "GET /users/me", names, of: medians.caller, report })
    report.add({ ...common, unit: "ms", figure: "of it, of the process that was started", value: medians.caller("first")[1] })
    // The load, the agent and the app have more to do than the server, so what counts is what the server takes: N workers answer as much as one for each
    // share that a request takes more
    reportTimes({ database, figure: "a small page of an app", names, of: medians.app, report, target: { atMost: 1.18 } })
    reportTimes({ database, figure: "a bare query", names: ["one process", "a bare cluster of two"], of: medians.query, report })
  }
}
