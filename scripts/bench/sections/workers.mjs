// The standalone server on PostgreSQL by one worker and by two: requests, and the processor time that one takes of all processes of the server. On Linux, the
// server has cores of its own: one for each of two workers where the machine has four, or else one for all, on which two workers answer as much as one
// if they cost nothing beside each other. The load and the database have the others.
import { createClient, logins, users } from "@atelier/client"
import { execFile } from "node:child_process"
import { mkdtemp, readFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { median } from "../compare.mjs"
import { authenticated, password } from "../deployment.mjs"
import { load } from "../load.mjs"
import { launch } from "./start.mjs"

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
  const anonymous = createClient({ baseUrl: `http://127.0.0.1:${server.port}` })
  await users.createFirstUser(anonymous, { body: { ...admin, username: "admin" } })
  const { session_token } = await logins.logIn(anonymous, { body: admin })
  return { ...server, request: authenticated(session_token, "GET", "/users/me"), rounds: [] }
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

/** Gives the servers cores of their own, and what else this run has started the others. Answers how many cores a server with two workers has; undefined without. */
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
  for (const [at, { pid }] of servers.entries()) await pin(await familyOf(pid), isWide && at === 1 ? "0,1" : "0")
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

const measured = async ({ pid, port, request }, seconds) => {
  const pids = await processesOf(pid)
  const before = await processorTime(pids)
  const { latencies, perSecond } = await load({ port, request, seconds, warmup: 0 })
  const taken = (await processorTime(pids)).map((time, at) => time - before[at])
  return { perSecond, each: taken.reduce((sum, one) => sum + one, 0) / latencies.length, first: taken[0] / latencies.length }
}

export const workers = {
  title: "several workers",
  run: async ({ database, databases, report, seconds }) => {
    if (database.kind !== "postgres") return
    const sides = []
    let ownCores
    try {
      for (const count of [1, 2]) sides.push(await started(databases, count))
      ownCores = await keepApart(sides)
      for (const [at, side] of sides.entries()) await warm(side, at + 1)
      for (let round = 0; round < rounds; round++) for (const side of sides) side.rounds.push(await measured(side, seconds(3)))
    } finally {
      for (const { stop } of sides) await stop()
      if (ownCores !== undefined) await pin(await familyOf(process.pid), `0-${availableParallelism() - 1}`)
    }
    const of = (name) => sides.map(({ rounds }) => median(rounds.map((round) => round[name])))
    const [one, two] = of("perSecond")
    report.add({ figure: "GET /users/me, one worker", database: database.name, value: one, unit: "/s" })
    const where = ownCores === undefined ? "" : ` on ${ownCores === 1 ? "the same core" : "a core each"}`
    const target = ownCores === undefined ? undefined : { atLeast: 0.85 * ownCores }
    report.add({ figure: `GET /users/me, two workers${where}`, database: database.name, value: two, unit: "/s", ratio: two / one, target })
    const [eachOfOne, eachOfTwo] = of("each")
    report.add({ figure: "processor time of GET /users/me, one worker", database: database.name, value: eachOfOne, unit: "ms" })
    report.add({
      figure: "processor time of GET /users/me, two workers",
      database: database.name,
      value: eachOfTwo,
      unit: "ms",
      ratio: eachOfTwo / eachOfOne
    })
    report.add({ figure: "of it, of the process that was started", database: database.name, value: of("first")[1], unit: "ms" })
  }
}
