// The standalone server on PostgreSQL by one worker and by two: requests, and the processor time that one takes of all processes of the server.
import { createClient, logins, users } from "@atelier/client"
import { execFile } from "node:child_process"
import { mkdtemp, readFile } from "node:fs/promises"
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

/** The server's processes: the one that was started, and its workers. */
const processesOf = async (pid) => {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="])
  const all = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number))
  return [pid, ...all.filter(([, parent]) => parent === pid).map(([child]) => child)]
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
    try {
      for (const count of [1, 2]) {
        const side = await started(databases, count)
        sides.push(side)
        await warm(side, count)
      }
      for (let round = 0; round < rounds; round++) for (const side of sides) side.rounds.push(await measured(side, seconds(3)))
    } finally {
      for (const { stop } of sides) await stop()
    }
    const of = (name) => sides.map(({ rounds }) => median(rounds.map((round) => round[name])))
    const [one, two] = of("perSecond")
    report.add({ figure: "GET /users/me, one worker", database: database.name, value: one, unit: "/s" })
    report.add({ figure: "GET /users/me, two workers", database: database.name, value: two, unit: "/s", ratio: two / one })
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
