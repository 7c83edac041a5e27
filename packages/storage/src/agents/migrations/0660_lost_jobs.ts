import { Effect } from "effect"
import { type Indexes, indexes } from "../../platform/Indexes.js"
import { Statements } from "../../platform/Statements.js"

/**
 * Tells the jobs of agents in the order of the index of started workspaces, so that PostgreSQL merges the two. It would keep the jobs of all lost agents in
 * memory otherwise, and on disk where they are many. SQLite has no such columns.
 */
const byJob = indexes({ workspace_agents_lost_jobs: "workspace_agents (seen_job_id, seen_in) WHERE NOT deleted AND seen_in IS NOT NULL" })

const lostJobs: Indexes = {
  inTransaction: Effect.flatMap(Statements, (sql) => sql.dialect({ postgres: () => byJob.inTransaction, sqlite: () => Effect.void })),
  concurrently: byJob.concurrently
}

export default lostJobs
