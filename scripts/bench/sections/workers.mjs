// The standalone server on PostgreSQL by one worker and by two: requests, and the processor time that one takes of all processes of the server. On Linux, the
// server has cores of its own: one for each of two workers where the machine has four, or else one for all, on which two workers answer as much as one
// if they cost nothing beside each other. The load and the database have the others.
import { builds, createClient, logins, users } from "@atelier/client"
import { execFile } from "node:child_process"
import { mkdtemp, readFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { join } from "node:path"
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

/** Requests after which V8 has compiled what a worker runs for them. */
const warmUp = 4000

/** Has each worker answer as many requests as its code needs. */
const warm = async ({ port, request }, count) => {
  for (let answered = 0; answered < count * warmUp;) {
    answered += (await load({ port, request, seconds: 1, warmup: 0 })).latencies.length
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
    pids,
    requests: { caller: authenticated(token, "GET", "/users/me"), app: request("GET", "/@admin/dev/apps/site/", { headers }) },
    rounds: { caller: [], app: [] }
  }
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

const pin = async (pids, cores) => {
  // A process that has ended meanwhile needs no core
  for (const pid of pids) await run("taskset", ["-acp", cores, String(pid)]).catch(() => undefined)
}

/** Gives the servers cores of their own, and what else this run has started, agents and apps too, the others. Answers how many cores a server with two workers has; undefined without. */
const keepApart = async (servers) => {
  const cores = availableParallelism()
  const isPossible =
    cores > 1 &&
    (await run("taskset", ["--version"])
      .then(() => true)
      .catch(() => false))
  if (!isPossible) return undefined
  const isWide = cores >= 4
  await pin(await familyOf(process.pid), isWide ? `2-${cores - 1}` : `1-${cores - 1}`)
  for (const [at, { pids }] of servers.entries()) await pin(pids, isWide && at === 1 ? "0,1" : "0")
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

/** A turn of one kind of request: its rate, and the processor time of the server's processes for each. */
const measured = async ({ pids, port, requests }, kind, seconds) => {
  const before = await processorTime(pids)
  const { latencies, perSecond } = await load({ port, request: requests[kind], seconds, warmup: 0 })
  const taken = (await processorTime(pids)).map((time, at) => time - before[at])
  return { perSecond, each: taken.reduce((sum, one) => sum + one, 0) / latencies.length, first: taken[0] / latencies.length }
}

/** Adds the processor time of one kind of request by one worker and by two. */
const reportTimes = ({ database, figure, kind, report, sides, target }) => {
  const [one, two] = sides.map(({ rounds }) => median(rounds[kind].map(({ each }) => each)))
  const common = { database: database.name, unit: "ms" }
  report.add({ ...common, figure: `processor time of ${figure}, one worker`, value: one })
  report.add({ ...common, figure: `processor time of ${figure}, two workers`, value: two, ratio: two / one, target })
}

export const workers = {
  title: "several workers",
  run: async ({ database, databases, report, seconds }) => {
    if (database.kind !== "postgres") return
    const sides = []
    const deletions = []
    let ownCores
    try {
      for (const count of [1, 2]) sides.push(await started(databases, count))
      for (const side of sides) deletions.push(await withApp(side))
      ownCores = await keepApart(sides)
      for (const kind of ["caller", "app"]) {
        for (const [at, side] of sides.entries()) await warm({ port: side.port, request: side.requests[kind] }, at + 1)
        for (let round = 0; round < rounds; round++) {
          for (const side of sides) side.rounds[kind].push(await measured(side, kind, seconds(3)))
        }
      }
    } finally {
      for (const remove of deletions) await remove()
      for (const { stop } of sides) await stop()
      if (ownCores !== undefined) await pin(await familyOf(process.pid), `0-${availableParallelism() - 1}`)
    }
    const [one, two] = sides.map(({ rounds }) => median(rounds.caller.map(({ perSecond }) => perSecond)))
    report.add({ figure: "GET /users/me, one worker", database: database.name, value: one, unit: "/s" })
    const where = ownCores === undefined ? "" : ` on ${ownCores === 1 ? "the same core" : "a core each"}`
    const target = ownCores === undefined ? undefined : { atLeast: 0.85 * ownCores }
    report.add({ figure: `GET /users/me, two workers${where}`, database: database.name, value: two, unit: "/s", ratio: two / one, target })
    reportTimes({ database, figure: "GET /users/me", kind: "caller", report, sides })
    const handedOver = median(sides[1].rounds.caller.map(({ first }) => first))
    report.add({ figure: "of it, of the process that was started", database: database.name, value: handedOver, unit: "ms" })
    // The load, the agent and the app have more to do than the server, so what counts is what the server takes: N workers answer as much as one for each
    // share that a request takes more
    reportTimes({ database, figure: "a small page of an app", kind: "app", report, sides, target: { atMost: 1.18 } })
  }
}
