// Compares this checkout with another built one, such as a worktree of a former commit: both serve the same deployment from the same database
// server, and the same requests load them in turns.
import { mkdtemp } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { median, spreadOf } from "./compare.mjs"
import { authenticated, password, startDeployment } from "./deployment.mjs"
import { load, request } from "./load.mjs"
import { start } from "./sections/start.mjs"
import { openEvents, openMany } from "./sections/watchers.mjs"
import { idOf, runningOf, sessionOf } from "./seed.mjs"

const workspaces = 10_000
const starts = 3
const rounds = 5
/** V8 has compiled what a request runs after some 4,000 of `GET /users/me`: before that, it takes up to three times the processor time. */
const warmUpSeconds = 2
const watchers = 500
const linesPerCall = 100
/** An agent's log holds 1 MiB: after so many calls of about 8 kB its place is taken by the next one. */
const callsPerAgent = 100

const output = "a line of a build's output, as long as such lines are on the average of all builds.."

/** Calls of `PATCH /workspaceagents/me/logs`, each agent's log filled after the other. */
const logCalls = ({ seed: { idOf } }) => {
  let calls = 0
  return () => {
    const number = runningOf(Math.floor(calls++ / callsPerAgent))
    const created_at = new Date().toISOString()
    return authenticated(idOf("agentToken", number), "PATCH", "/workspaceagents/me/logs", {
      log_source_id: idOf("logSource", number),
      logs: Array.from({ length: linesPerCall }, () => ({ created_at, output, level: "info" }))
    })
  }
}

/** A user has 10,000 tokens at most, so that some users take turns. */
const tokens = () => {
  let made = 0
  return () =>
    authenticated(sessionOf(1 + (made % 20)), "POST", "/users/me/keys/tokens", {
      token_name: `token-${made++}`,
      lifetime: 3_600_000_000_000
    })
}

const logins = () => {
  let made = 0
  return () => {
    const body = { email: `user${1 + (made++ % (workspaces / 10))}@example.com`, password }
    return request("POST", "/api/v2/users/login", { body })
  }
}

const checks = {
  checks: {
    users: { object: { resource_type: "user" }, action: "read" },
    templates: { object: { resource_type: "template" }, action: "update" },
    own: { object: { resource_type: "workspace", owner_id: "me" }, action: "create" },
    one: { object: { resource_type: "workspace", resource_id: idOf("workspace", 1) }, action: "read" },
    audit: { object: { resource_type: "audit_log" }, action: "read" }
  }
}

/**
 * What both servers are asked, and how many times as often as the other checkout this one has to answer on PostgreSQL. A quick comparison takes those that are
 * frequent.
 */
export const requests = {
  // First: later the workers may have stopped workspaces of the seed
  "PATCH /workspaceagents/me/logs, 100 lines": { of: logCalls, connections: 8, atLeast: 3.3 },
  "GET /buildinfo": { isFrequent: true, of: () => request("GET", "/api/v2/buildinfo"), atLeast: 1.3 },
  "GET /users/me": { isFrequent: true, of: ({ token }) => authenticated(token, "GET", "/users/me"), atLeast: 1.3 },
  "GET /users?limit=25": { of: ({ token }) => authenticated(token, "GET", "/users?limit=25"), atLeast: 1 },
  "GET /workspaces/{id}": { of: ({ token }) => authenticated(token, "GET", `/workspaces/${idOf("workspace", 1)}`), atLeast: 1 },
  "GET /workspaces?q=owner:me": { isFrequent: true, of: () => authenticated(sessionOf(1), "GET", "/workspaces?q=owner:me"), atLeast: 1.6 },
  "GET /workspaces?limit=25": { isFrequent: true, of: ({ token }) => authenticated(token, "GET", "/workspaces?limit=25"), atLeast: 1.9 },
  "POST /authcheck, 5 checks": { isFrequent: true, of: ({ token }) => authenticated(token, "POST", "/authcheck", checks), atLeast: 2 },
  "POST /users/me/keys/tokens": { of: tokens, expect: 201, atLeast: 3.4 },
  "POST /users/login": { of: logins, expect: 201, atLeast: 1 }
}

const processorSeconds = async (server) => {
  const { system, user } = await server.ask("cpu")
  return (user + system) / 1e6
}

/** Requests per second, and milliseconds of the server's processor time per request. */
const round = async (server, { connections, expect, request }, seconds) => {
  const before = await processorSeconds(server)
  // All requests count for the processor time, so none may be left out as a warm-up
  const { latencies, perSecond } = await load({ port: server.port, connections, expect, request, seconds, warmup: 0 })
  return { perSecond, processor: ((await processorSeconds(server)) - before) / latencies.length }
}

/** The goals hold on PostgreSQL. SQLite keeps pace: nothing may be worse than in the other checkout. */
const targetOn = ({ kind }, { atLeast, atMost }) => {
  if (kind === "postgres") return atLeast === undefined ? { atMost } : { atLeast }
  return atLeast === undefined ? { atMost: 1 } : { atLeast: 1 }
}

const measureRequests = async ({ database, isQuick, report, seconds, sides }) => {
  for (const [figure, { atLeast, connections = 20, expect = 200, isFrequent = false, of }] of Object.entries(requests)) {
    if (isQuick && !isFrequent) continue
    const subjects = Object.entries(sides).map(([name, server]) => ({
      name,
      server,
      load: { connections, expect, request: of(server) },
      rounds: []
    }))
    for (const { load, server } of subjects) await round(server, load, Math.max(warmUpSeconds, seconds / 2))
    for (let turn = 0; turn < rounds; turn++) {
      for (const { load, rounds, server } of subjects) rounds.push(await round(server, load, seconds))
    }
    const [ours, theirs] = subjects.map(({ rounds }) => rounds)
    const ratios = (name) => ours.map((one, turn) => one[name] / theirs[turn][name])
    report.add({
      figure,
      database: database.name,
      value: median(ours.map(({ perSecond }) => perSecond)),
      unit: "/s",
      ratio: median(ratios("perSecond")),
      spread: spreadOf(ratios("perSecond")),
      target: targetOn(database, { atLeast })
    })
    const processor = median(ours.map(({ processor }) => processor)) * 1000
    // Rates differ from run to run by what else the machine does, so that the processor time is what a later run is compared with
    report.add({
      figure: `${figure}: processor time`,
      database: database.name,
      value: processor,
      unit: "ms",
      ratio: median(ratios("processor")),
      spread: spreadOf(ratios("processor")),
      target: { atMost: 1 },
      isRecorded: true
    })
  }
}

const measureStart = async ({ database, databases, other, report }) => {
  const runs = [undefined, other].map((from) => ({ empty: [], existing: [], from }))
  for (let turn = 0; turn < starts; turn++) {
    for (const run of runs) {
      run.storage = await databases.fresh(database.kind)
      run.directory = await mkdtemp(join(databases.directory, "workspaces-"))
      run.empty.push(await start(run.storage, run.directory, run.from))
    }
  }
  for (let turn = 0; turn < starts; turn++) {
    for (const { directory, existing, from, storage } of runs) existing.push(await start(storage, directory, from))
  }
  const [ours, theirs] = runs
  const add = (figure, runs, name, divisor, unit, atMost) => {
    const [mine, other] = [ours, theirs].map((side) => median(side[runs].map((run) => run[name])) / divisor)
    const ratios = ours[runs].map((run, turn) => run[name] / theirs[runs][turn][name])
    report.add({
      figure,
      database: database.name,
      value: mine,
      unit,
      ratio: mine / other,
      spread: spreadOf(ratios),
      target: targetOn(database, { atMost }),
      isRecorded: true
    })
  }
  add("start to first answer, empty database", "empty", "milliseconds", 1000, "s", 0.87)
  add("start to first answer, existing database", "existing", "milliseconds", 1000, "s", 0.38)
  add("resident memory when idle", "existing", "bytes", 1024 * 1024, "MiB", 0.64)
}

/** KiB of resident memory of each of many idle watchers. */
const watcherMemory = async (server) => {
  const one = (index) => openEvents(server.port, server.token, `/api/v2/workspaces/${idOf("workspace", 1 + index)}/watch`)
  const closeFirst = await openMany(one, 50)
  closeFirst()
  await sleep(500)
  const before = await server.ask("usage")
  const close = await openMany(one, watchers)
  const after = await server.ask("usage")
  close()
  return (after.memory.rss - before.memory.rss) / watchers / 1024
}

/** Measures everything on one kind of database. `other` is the URL of the other checkout's directory. */
export const against = async ({ database, databases, isQuick, nodeArguments, other, report, seconds }) => {
  console.log(`against ${other.pathname}, ${database.name}`)
  await measureStart({ database, databases, other, report })
  const ours = await startDeployment(await databases.fresh(database.kind), { nodeArguments })
  const seed = { ours: await import("./seed.mjs"), theirs: await import(new URL("scripts/bench/seed.mjs", other).href) }
  const theirs = await startDeployment(await databases.fresh(database.kind), { nodeArguments, bench: new URL("scripts/bench/", other) })
  const sides = { ours: { ...ours, seed: seed.ours }, theirs: { ...theirs, seed: seed.theirs } }
  try {
    for (const side of Object.values(sides)) await side.grow(workspaces)
    await measureRequests({ database, isQuick, report, seconds: seconds(2), sides })
    if (isQuick) return
    const [mine, other] = [await watcherMemory(ours), await watcherMemory(theirs)]
    const figure = "memory of an idle SSE watcher"
    report.add({
      figure,
      database: database.name,
      value: mine,
      unit: "KiB",
      ratio: mine / other,
      target: targetOn(database, { atMost: 0.7 })
    })
  } finally {
    for (const side of Object.values(sides)) await side.stop()
  }
}
