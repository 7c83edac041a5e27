// Every kind of list, report and tick in a large deployment: its time, and the rows of large tables that PostgreSQL reads for it one by one.
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

export const size = {
  title: "a large deployment",
  isNamedOnly: true,
  run: async ({ database, databases, nodeArguments, report, seconds, workspaces }) => {
    const storage = await databases.fresh(database.kind)
    const deployment = await startDeployment(storage, { isEntitled: true, nodeArguments })
    const client = database.kind === "postgres" ? new pg.Client(storage.location) : undefined
    try {
      await client?.connect()
      await deployment.grow(workspaces)
      for (const [name, operation] of Object.entries(operations(workspaces))) {
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
        const figure = `${name}, of ${workspaces.toLocaleString("en")}`
        report.add({ figure: `${figure}, p50`, database: database.name, value: percentile(latencies, 0.5), unit: "ms" })
        report.add({
          figure: `${figure}, p99`,
          database: database.name,
          value: percentile(latencies, 0.99),
          unit: "ms",
          target: { atMost: 200 }
        })
        for (const [table, rows] of scanned) {
          report.add({ figure: `${figure}, read without an index from ${table}`, database: database.name, value: rows, unit: "rows" })
        }
      }
    } finally {
      await client?.end()
      await deployment.stop()
    }
  }
}
