// Every kind of list, report and tick in a large deployment: its time, and the rows of large tables that PostgreSQL reads for it one by one.
import { stat } from "node:fs/promises"
import pg from "pg"
import { percentile } from "../compare.mjs"
import { authenticated, startDeployment } from "../deployment.mjs"
import { load } from "../load.mjs"
import { idOf, sessionOf } from "../seed.mjs"

const day = 24 * 60 * 60 * 1000
const midnight = (daysAgo) => new Date(Math.floor((Date.now() - daysAgo * day) / day) * day).toISOString().replace(".000", "")

/** Operations by what they read; `m` marks a member's. */
const operations = (count) => {
  const workspace = idOf("workspace", 5001)
  const template = idOf("template", 3)
  const week = `start_time=${midnight(6)}&end_time=${midnight(0)}`
  const found = (q) => `/workspaces?limit=25&q=${encodeURIComponent(q)}`
  return {
    "the caller": "/users/me",
    "workspaces, first page": "/workspaces?limit=25",
    "workspaces, last page": `/workspaces?limit=25&offset=${count - 25}`,
    "workspaces, a member's": { path: "/workspaces?limit=25", session: sessionOf(42) },
    "workspaces by a part of a name": found("workspace77"),
    "workspaces that nothing matches": found("nothingofit"),
    "workspaces that failed": found("status:failed"),
    "workspaces that run": found("status:running"),
    "workspaces of a template": found("template:template3"),
    "workspaces of an organization": found("organization:default"),
    "outdated workspaces": found("outdated:true"),
    "dormant workspaces": found("dormant:true"),
    "shared workspaces": found("shared:true"),
    "workspaces of tasks": found("has-ai-task:true"),
    "workspaces with a connected agent": found("has-agent:connected"),
    "workspaces with a disconnected agent": found("has-agent:disconnected"),
    "workspaces with an agent that never connected": found("has-agent:connecting"),
    "a workspace": `/workspaces/${workspace}`,
    "builds of a workspace": `/workspaces/${workspace}/builds`,
    templates: "/templates",
    "versions of a template": `/templates/${template}/versions`,
    "users, first page": "/users?limit=25",
    "users by a text that one has": "/users?limit=25&q=user7777",
    "users by a text that all have": "/users?limit=25&q=user",
    "members, first page": "/organizations/default/paginated-members?limit=25",
    "jobs, first page": "/organizations/default/provisionerjobs?limit=50",
    "jobs that wait": "/organizations/default/provisionerjobs?status=pending",
    "audit log, first page": "/audit?limit=25",
    "connection log, first page": "/connectionlog?limit=25",
    "insights: active users": "/insights/daus?tz_offset=0",
    "insights: templates": `/insights/templates?${week}`,
    "insights: activity": `/insights/user-activity?${week}`,
    "insights: statuses": "/insights/user-status-counts?timezone=UTC",
    tasks: "/tasks",
    "a member's quota": { path: "/organizations/default/members/me/workspace-quota", session: sessionOf(42) },
    health: "/debug/health"
  }
}

/** Rows of tables above 5,000 rows that PostgreSQL has read without an index. */
const scannedRows = async (client) => {
  await client.query("SELECT pg_stat_clear_snapshot()")
  const { rows } = await client.query("SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE n_live_tup > 5000")
  return new Map(rows.map(({ relname, seq_tup_read }) => [relname, Number(seq_tup_read)]))
}

/** How long the server takes to tell the others of its reads. */
const told = () => new Promise((resolve) => setTimeout(resolve, 1_200))

/** The bytes that the database takes: of PostgreSQL, or of the file and the log of SQLite. */
const databaseSize = async (client, { location }) => {
  if (client !== undefined) return Number((await client.query("SELECT pg_database_size(current_database()) AS bytes")).rows[0].bytes)
  const sizes = await Promise.all(
    [location, `${location}-wal`].map((file) =>
      stat(file).then(
        (found) => found.size,
        () => 0
      )
    )
  )
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
}

/** The times of one operation, and the rows that PostgreSQL read for it without an index. */
const measureOperation = async (operation, { client, database, deployment, figure, report, seconds }) => {
  const { path, session = deployment.token } = typeof operation === "string" ? { path: operation } : operation
  const page = { port: deployment.port, request: authenticated(session, "GET", path), connections: 1 }
  await load({ ...page, seconds: 0, warmup: 0.2 })
  if (client !== undefined) await told()
  const before = client && (await scannedRows(client))
  const { latencies } = await load({ ...page, seconds: seconds(2), warmup: 0 })
  if (client !== undefined) await told()
  const after = client && (await scannedRows(client))
  const scanned = [...(after ?? [])]
    .map(([table, rows]) => [table, Math.round((rows - (before.get(table) ?? 0)) / latencies.length)])
    .filter(([, rows]) => rows > 1_000)
  const common = { database: database.name }
  report.add({ ...common, figure: `${figure}, p50`, value: percentile(latencies, 0.5), unit: "ms" })
  report.add({ ...common, figure: `${figure}, p99`, value: percentile(latencies, 0.99), unit: "ms", target: { atMost: 200 } })
  for (const [table, rows] of scanned) {
    report.add({ ...common, figure: `${figure}, read without an index from ${table}`, value: rows, unit: "rows" })
  }
}

/** What the deployment of this size takes, and how long a tick of the life-cycle worker with 50 due workspaces lasts. */
const measureDeployment = async ({ client, count, database, deployment, number, report, seeded, storage }) => {
  const of = `of ${count.toLocaleString("en")} workspaces`
  const { memory } = await deployment.ask("usage")
  const { milliseconds } = await deployment.ask("tick", { count, due: 50, number })
  const add = (figure, value, unit, target) => report.add({ figure, database: database.name, value, unit, target })
  add(`writing the rows ${of}`, seeded / 1_000, "s")
  add(`the database ${of}`, (await databaseSize(client, storage)) / 2 ** 20, "MiB")
  add(`resident memory of the server ${of}`, memory.rss / 2 ** 20, "MiB")
  add(`a tick that stops 50 ${of}`, milliseconds, "ms", { atMost: 200 })
}

export const size = {
  title: "a large deployment",
  isNamedOnly: true,
  run: async ({ database, databases, nodeArguments, report, seconds, sizes }) => {
    const storage = await databases.fresh(database.kind)
    const deployment = await startDeployment(storage, { isEntitled: true, nodeArguments })
    const client = database.kind === "postgres" ? new pg.Client(storage.location) : undefined
    try {
      await client?.connect()
      for (const [index, count] of sizes.entries()) {
        const begun = performance.now()
        await deployment.grow(count)
        const seeded = performance.now() - begun
        for (const [name, operation] of Object.entries(operations(count))) {
          const figure = `${name}, of ${count.toLocaleString("en")}`
          await measureOperation(operation, { client, database, deployment, figure, report, seconds })
        }
        await measureDeployment({ client, count, database, deployment, number: index + 1, report, seeded, storage })
      }
    } finally {
      await client?.end()
      await deployment.stop()
    }
  }
}
