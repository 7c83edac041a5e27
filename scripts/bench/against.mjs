// Compares this checkout with another built one, such as a worktree of a former commit. Each one's standalone server serves the same deployment, and
// the same requests load them in turns. Only the other's program is run, and nothing of its benchmark: it may be older than what is measured.
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { SqlClient } from "@effect/sql"
import { Effect, Redacted } from "effect"
import { mkdtemp } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { median, spreadOf } from "./compare.mjs"
import { authenticated, firstSession, password } from "./deployment.mjs"
import { launch } from "./launch.mjs"
import { load, request } from "./load.mjs"
import { start } from "./sections/start.mjs"
import { openEvents, openMany } from "./sections/held.mjs"
import { idOf, runningOf, seed, sessionOf } from "./seed.mjs"

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
const logCalls = () => {
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

/**
 * What a ratio has to reach. The goals are those against one commit, on PostgreSQL. SQLite keeps pace: nothing may be worse than in the other checkout. Against
 * another commit, the spread tells whether a ratio says anything.
 */
const targetOn = ({ kind }, isKnown, { atLeast, atMost }) => {
  if (!isKnown) return undefined
  if (kind === "postgres") return atLeast === undefined ? { atMost } : { atLeast }
  return atLeast === undefined ? { atMost: 1 } : { atLeast: 1 }
}

/** Runs a part for one side. A failure tells whose it is. */
const on = async (side, run) => {
  try {
    return await run(side)
  } catch (error) {
    throw new Error(`${side.name}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** Reports a figure that one of the commits could not give, and goes on with the next. */
const attempt = async ({ database, report }, figure, run) => {
  try {
    await run()
    return true
  } catch (error) {
    report.fail({ figure, database: database.name, reason: error.message })
    return false
  }
}

const measureRequest = async ({ database, isKnown, report, seconds, sides }, figure, { atLeast, connections = 20, expect = 200, of }) => {
  const subjects = sides.map((side) => ({ side, load: { connections, expect, request: of(side) }, rounds: [] }))
  for (const { load, side } of subjects) await on(side, () => round(side, load, Math.max(warmUpSeconds, seconds / 2)))
  for (let turn = 0; turn < rounds; turn++) {
    for (const { load, rounds, side } of subjects) rounds.push(await on(side, () => round(side, load, seconds)))
  }
  const [ours, theirs] = subjects.map(({ rounds }) => rounds)
  const ratios = (name) => ours.map((one, turn) => one[name] / theirs[turn][name])
  const add = (figure, name, factor, more) =>
    report.add({
      figure,
      database: database.name,
      value: median(ours.map((one) => one[name])) * factor,
      other: median(theirs.map((one) => one[name])) * factor,
      ratio: median(ratios(name)),
      spread: spreadOf(ratios(name)),
      ...more
    })
  add(figure, "perSecond", 1, { unit: "/s", target: targetOn(database, isKnown, { atLeast }) })
  // Rates differ from run to run by what else the machine does, so that the processor time is what a later run is compared with
  const target = isKnown ? { atMost: 1 } : undefined
  add(`${figure}: processor time`, "processor", 1000, { unit: "ms", target, isLess: true, isRecorded: true })
}

const measureStart = async ({ database, databases, isKnown, report, sides }) => {
  const runs = sides.map((side) => ({ empty: [], existing: [], side }))
  for (let turn = 0; turn < starts; turn++) {
    for (const run of runs) {
      run.storage = await databases.fresh(database.kind)
      run.directory = await mkdtemp(join(databases.directory, "workspaces-"))
      run.empty.push(await on(run.side, ({ from }) => start(run.storage, run.directory, from)))
    }
  }
  for (let turn = 0; turn < starts; turn++) {
    for (const { directory, existing, side, storage } of runs) existing.push(await on(side, ({ from }) => start(storage, directory, from)))
  }
  const [ours, theirs] = runs
  const add = (figure, runs, name, divisor, unit, atMost) => {
    const [value, other] = [ours, theirs].map((side) => median(side[runs].map((run) => run[name])) / divisor)
    const ratios = ours[runs].map((run, turn) => run[name] / theirs[runs][turn][name])
    report.add({
      figure,
      database: database.name,
      value,
      other,
      unit,
      ratio: value / other,
      spread: spreadOf(ratios),
      target: targetOn(database, isKnown, { atMost }),
      isLess: true,
      isRecorded: true
    })
  }
  add("start to first answer, empty database", "empty", "milliseconds", 1000, "s", 0.87)
  add("start to first answer, existing database", "existing", "milliseconds", 1000, "s", 0.38)
  add("resident memory when idle", "existing", "bytes", 1024 * 1024, "MiB", 0.64)
}

/** Nothing that the workers do is measured, and workspaces of the seed stay as they are. */
const options = ["--dangerous-disable-rate-limits", "--autobuild-poll-interval", "24h"]

const serve = async ({ from }, { nodeArguments, storage, workspacesDirectory }) => {
  const server = await launch(storage, workspacesDirectory, { args: options, from, isAsked: true, nodeArguments })
  try {
    await server.answered()
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

const clientOf = ({ kind, location }) =>
  kind === "postgres" ? PgClient.layer({ url: Redacted.make(location) }) : SqliteClient.layer({ filename: location })

/** Fills a database from outside: a server of an earlier commit has no command for it. */
const fill = (storage) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => seed(sql, storage.kind, { from: 1, to: workspaces })).pipe(
    Effect.provide(clientOf(storage)),
    Effect.runPromise
  )

/** Serves a deployment with workspaces, and answers the server with its owner's session. */
const deploy = async (side, { database, databases, nodeArguments }) => {
  const storage = await databases.fresh(database.kind)
  const workspacesDirectory = await mkdtemp(join(databases.directory, "workspaces-"))
  const place = { nodeArguments: [], storage, workspacesDirectory }
  const first = await serve(side, place)
  let token
  try {
    token = await firstSession(`http://127.0.0.1:${first.port}`)
  } finally {
    await first.stop()
  }
  await fill(storage)
  return { ...side, ...(await serve(side, { ...place, nodeArguments })), token }
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
  return (after.rss - before.rss) / watchers / 1024
}

const measureWatchers = async ({ database, isKnown, report, sides }) => {
  const figure = "memory of an idle SSE watcher"
  const [value, other] = [await on(sides[0], watcherMemory), await on(sides[1], watcherMemory)]
  const target = targetOn(database, isKnown, { atMost: 0.7 })
  report.add({ figure, database: database.name, value, other, unit: "KiB", ratio: value / other, target })
}

/**
 * Measures everything on one kind of database. `other` is the URL of the other checkout's directory, `own` that of a copy of this one, and `isKnown`
 * tells whether the goals are those against the other.
 */
export const against = async ({ database, databases, isKnown, isQuick, nodeArguments, other, own, report, seconds }) => {
  console.log(`against ${other.pathname}, ${database.name}`)
  const both = { database, databases, isKnown, nodeArguments, report, seconds: seconds(2) }
  const checkouts = [
    { name: "this one", from: own },
    { name: "the other one", from: other }
  ]
  const sides = []
  await attempt(both, "starts", () => measureStart({ ...both, sides: checkouts }))
  try {
    const isServed = await attempt(both, `requests, of ${workspaces.toLocaleString("en")} workspaces`, async () => {
      for (const checkout of checkouts) sides.push(await on(checkout, () => deploy(checkout, both)))
    })
    if (!isServed) return
    for (const [figure, one] of Object.entries(requests)) {
      if (!isQuick || one.isFrequent) await attempt(both, figure, () => measureRequest({ ...both, sides }, figure, one))
    }
    if (!isQuick) await attempt(both, "memory of an idle SSE watcher", () => measureWatchers({ ...both, sides }))
  } finally {
    for (const side of sides) await side.stop()
  }
}
