// Rows that a deployment gathers over months, and the workers that sum them up and delete them, run at once and on request.
import { usageRollup } from "@atelier/core/insights"
import { retentionWorker } from "@atelier/core/retention"
import { Effect } from "effect"

/** An id of its own for each number, by its first digits. */
const id = (kind, prefix, number) =>
  kind === "postgres"
    ? `CAST('${prefix}000000-0000-7000-8000-' || lpad(to_hex(${number}), 12, '0') AS uuid)`
    : `'${prefix}000000-0000-7000-8000-' || printf('%012x', ${number})`

/** So many seconds before now. */
const ago = (kind, seconds) =>
  kind === "postgres"
    ? `date_trunc('milliseconds', now()) - (${seconds}) * interval '1 second'`
    : `strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (${seconds}) || ' seconds')`

const day = 24 * 60 * 60

const json = (kind, text) => (kind === "postgres" ? `CAST('${text}' AS jsonb)` : `'${text}'`)

/** Rows of one transaction: a single one of a million would keep the server from all else. */
const perTransaction = 50_000

const insert = (sql, kind, table, { from, to }, columns) =>
  Effect.gen(function* () {
    for (let first = from; first <= to; first += perTransaction) {
      yield* sql.unsafe(`WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.min(to, first + perTransaction - 1)})
        INSERT INTO ${table} (${Object.keys(columns).join(", ")}) SELECT ${Object.values(columns).join(", ")} FROM n`)
    }
    if (kind === "postgres") yield* sql.unsafe(`VACUUM ANALYZE ${table}`)
  })

/** Audit entries, one a second before now; `connect` is an action whose entries are deleted after 90 days. */
export const seedAudit = (sql, kind, { action = "write", from, olderThanDays = 0, to }) =>
  insert(
    sql,
    kind,
    "audit_logs",
    { from, to },
    {
      id: id(kind, "70", "i"),
      time: ago(kind, `${olderThanDays * day} + i`),
      user_id: id(kind, "10", "1 + i % 1000"),
      organization_id: id(kind, "00", "0"),
      ip: "'192.0.2.1'",
      user_agent: "'bench'",
      resource_type: "'user'",
      resource_id: id(kind, "10", "1 + i % 1000"),
      resource_target: "'user' || (1 + i % 1000)",
      action: `'${action}'`,
      diff: json(kind, "{}"),
      status_code: "200",
      additional_fields: json(kind, "{}"),
      request_id: id(kind, "00", "0")
    }
  )

/** Reports of as many agents as users, every 30 seconds for some hours. */
export const seedReports = (sql, kind, { hours, users }) =>
  insert(
    sql,
    kind,
    "workspace_agent_stats",
    { from: 1, to: users * hours * 120 },
    {
      id: id(kind, "71", "i"),
      created_at: ago(kind, `(i / ${users}) * 30`),
      user_id: id(kind, "10", `1 + i % ${users}`),
      agent_id: id(kind, "20", `1 + i % ${users}`),
      workspace_id: id(kind, "a0", `1 + i % ${users}`),
      template_id: id(kind, "d0", "1 + i % 20"),
      connections_by_proto: json(kind, "{}"),
      connection_count: "1",
      connection_median_latency_ms: "10",
      rx_packets: "1",
      rx_bytes: "1",
      tx_packets: "1",
      tx_bytes: "1",
      session_counts: json(kind, '{"vscode":1}')
    }
  )

/** Runs a worker once; answers its milliseconds, and by how many bytes the heap grew at most while it ran. */
const timed = (worker) => async (runtime) => {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().heapUsed)), 20)
  const began = performance.now()
  await runtime.runPromise(worker.run)
  clearInterval(watch)
  return { millis: performance.now() - began, grown: most - before }
}

export const rollUp = timed(usageRollup)
export const purge = timed(retentionWorker)
