// Measures many agents that come back at once, as after the start of a server: `npm run build && node scripts/reliability/herd.mjs [--agents 2000] [--postgres]`.
// All connect within the longest pause of an agent whose server was killed, fetch their manifests, and try again as agents do. Meanwhile a user asks who it is, in a
// process of its own, and renames itself. Prints when the agents were connected, the server's processor time, and how long the user waited. Exits with 1 if a call of the user
// failed.
import { Effect } from "effect"
import { fork } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as Backoff from "../../packages/agent/dist/connection/Backoff.js"
import { percentile } from "../bench/compare.mjs"
import { makeDatabases } from "../bench/databases.mjs"
import { startDeployment } from "../bench/deployment.mjs"
import { idOf, runningOf } from "../bench/seed.mjs"
import { attempt } from "./plainAgent.mjs"

const { values } = parseArgs({ options: { agents: { type: "string", default: "2000" }, postgres: { type: "boolean", default: false } } })
const agents = Number(values.agents)

/** Milliseconds after a lost connection in which an agent makes its next attempt, at most. */
const spread = 600

/** Milliseconds after which a run without all agents ends. */
const longest = 120_000

/** Milliseconds from the begin until each agent had its manifest. */
const connected = []
/** Attempts that were refused, by the answer. */
const refused = new Map()

/** An agent that tries until it is connected, and stays so. */
const anAgent = async (port, index, begun) => {
  await sleep(Math.random() * spread)
  for (let tries = { ...Backoff.first, lostAt: Date.now() }; ; tries = Backoff.next(tries)) {
    const { refusal, retryAfter } = await attempt(port, idOf("agentToken", runningOf(index)), () =>
      connected.push(performance.now() - begun)
    )
    refused.set(refusal, (refused.get(refusal) ?? 0) + 1)
    const limit = Backoff.longestPause({ now: Date.now(), launchedAt: undefined, lostAt: tries.lostAt, isHurried: false })
    await Effect.runPromise(Backoff.wait(tries.attempt, limit, retryAfter === undefined ? 0 : Backoff.askedPause(retryAfter, Date.now())))
  }
}

const databases = await makeDatabases()
let failed = true
try {
  const deployment = await startDeployment(await databases.fresh(values.postgres ? "postgres" : "sqlite"), { isEntitled: true })
  await deployment.grow(Math.ceil((agents * 10) / 6 / 1000) * 1000)
  await deployment.ask("seedConnectable", { count: agents })
  const load = { isOver: false }
  const errors = new Map()
  const note = (name) => errors.set(name, (errors.get(name) ?? 0) + 1)

  /** Milliseconds of each change of a name that a user makes, one after the other until the load is over. */
  const rename = async () => {
    const times = []
    for (let number = 0; !load.isOver; number++) {
      const asked = performance.now()
      const answer = await fetch(`http://127.0.0.1:${deployment.port}/api/v2/users/me/profile`, {
        method: "PUT",
        headers: { "Service-Session-Token": deployment.token, "Content-Type": "application/json" },
        body: JSON.stringify({ username: "admin", name: `Number ${number}` })
      }).catch(() => undefined)
      await answer?.text()
      if (answer?.status !== 200) note(`a change of a name: ${answer?.status ?? "no answer"}`)
      times.push(performance.now() - asked)
      await sleep(Math.max(0, 100 - times.at(-1)))
    }
    return times
  }
  const reads = { kept: [], new: [] }
  // Beside the agents, their work would count as the server's
  const probe = fork(fileURLToPath(new URL("probe.mjs", import.meta.url)), [`${deployment.port}`, deployment.token])
  probe.on("message", ({ isAnswered, kind, took }) => {
    if (!isAnswered) note("GET /users/me")
    reads[kind].push(took)
  })
  const writing = rename()
  await sleep(2_000)
  for (const times of Object.values(reads)) times.length = 0
  const before = await deployment.ask("cpu")
  const ownBefore = process.cpuUsage()
  const begun = performance.now()
  for (let index = 0; index < agents; index++) void anAgent(deployment.port, index, begun)
  while (connected.length < agents && performance.now() - begun < longest) await sleep(50)
  load.isOver = true
  probe.disconnect()
  const own = process.cpuUsage(ownBefore)
  const after = await deployment.ask("cpu")
  const processor = (after.user + after.system - before.user - before.system) / 1000
  const shown = (times) =>
    `half within ${percentile(times, 0.5).toFixed(0)}, p99 ${percentile(times, 0.99).toFixed(0)}, at most ${Math.max(...times).toFixed(0)} ms`
  const writes = await writing
  process.stdout.write(
    [
      `${connected.length} of ${agents} agents, ${values.postgres ? "PostgreSQL" : "SQLite"}: connected ${shown(connected)}`,
      `attempts that were refused: ${refused.size === 0 ? "none" : [...refused].map(([name, number]) => `${name} ${number}`).join(", ")}`,
      `the server's processor time: ${(processor / 1000).toFixed(1)} s, ${(processor / connected.length).toFixed(1)} ms for each agent that connected; that of all agents: ${((own.user + own.system) / 1e6).toFixed(1)} s`,
      `${reads.kept.length} calls of users/me by one connection: ${shown(reads.kept)}`,
      `${reads.new.length} by new connections: ${shown(reads.new)}`,
      `${writes.length} changes of a name: ${shown(writes)}`,
      `errors: ${errors.size === 0 ? "none" : [...errors].map(([name, number]) => `${name} ${number}`).join(", ")}`,
      ""
    ].join("\n")
  )
  failed = errors.size > 0 || connected.length < agents
  await deployment.stop()
} finally {
  await databases.close()
}
process.exit(failed ? 1 : 0)
