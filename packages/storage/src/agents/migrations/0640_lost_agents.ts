import { Uuid } from "@atelier/core/platform"
import { Effect, Schedule } from "effect"
import { type Indexes, indexes } from "../../platform/Indexes.js"
import { Statements } from "../../platform/Statements.js"

/** Rows of one statement, at most: agents that give a sign of life wait for it. */
const batchSize = 1_000

/** Tells the jobs of agents by the periods of their last signs of life. It replaces the index of these periods. */
const withJobs = indexes(
  { workspace_agents_seen_jobs: "workspace_agents (seen_in, seen_job_id) WHERE NOT deleted AND seen_in IS NOT NULL" },
  ["workspace_agents_seen"]
)

/** Tells the states of a build's agents. SQLite has no columns of former signs. */
const withSigns = indexes(
  {
    workspace_resources_by_job_and_id: "workspace_resources (job_id, id)",
    workspace_agents_with_signs: "workspace_agents (resource_id, last_connected_at, disconnected_at, first_connected_at, deleted)"
  },
  ["workspace_resources_by_job", "workspace_agents_by_resource"]
)

/**
 * Has the trigger of the migration 0610 fill its columns for agents that have given no sign of life since then. A row that another transaction holds is left for
 * the next round: two that waited for each other's rows would not end.
 */
const fill = Effect.gen(function* () {
  const sql = yield* Statements
  const isLeft = sql`seen_in IS NULL AND last_connected_at IS NOT NULL`
  const batch = (after: string) =>
    sql<{ readonly id: string }>`WITH filled AS (
        UPDATE workspace_agents SET last_connected_at = last_connected_at WHERE id IN (
          SELECT id FROM workspace_agents WHERE id > ${after} AND ${isLeft} ORDER BY id LIMIT ${batchSize} FOR UPDATE SKIP LOCKED
        ) RETURNING id
      ) SELECT id FROM filled ORDER BY id DESC LIMIT 1`
  const round = Effect.iterate(Uuid.nil as string, {
    while: (after) => after !== "",
    body: (after) => Effect.map(batch(after), ([last]) => last?.id ?? "")
  })
  const rest = sql`SELECT 1 FROM workspace_agents WHERE ${isLeft} LIMIT 1`
  yield* Effect.repeat(Effect.zipRight(round, rest), { until: (rows) => rows.length === 0, schedule: Schedule.spaced("1 second") })
})

/** Indexes by which workspaces with disconnected agents are counted without reading the agents or their resources. */
const lostAgents: Indexes = {
  inTransaction: Effect.flatMap(Statements, (sql) =>
    sql.dialect({ postgres: () => withJobs.inTransaction, sqlite: () => withSigns.inTransaction })
  ),
  concurrently: Effect.zipRight(fill, withJobs.concurrently)
}

export default lostAgents
