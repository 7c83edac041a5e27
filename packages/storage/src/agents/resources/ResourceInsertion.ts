import { type BuildResourceRepository, ForeignApp, type HandedOverAgent, type NewAgent } from "@atelier/core/agents"
import { Effect } from "effect"
import { insertAll } from "../../platform/Batch.js"
import { dialectOf } from "../../platform/Dialect.js"
import { row, uuid } from "../../platform/Row.js"
import { run } from "../../platform/Statement.js"
import { orDefect } from "../../platform/Unavailability.js"
import type { Statements } from "../../platform/Statements.js"
import { app } from "../columns.js"
import { resourceRows } from "./ResourceRows.js"

const identified = row({ id: uuid })

/** The columns of an app that a later build replaces. */
const replaced = Object.keys(app)
  .filter((column) => column !== "id")
  .map((column) => `${column} = excluded.${column}`)
  .join(", ")

/** Stores what a build has made. */
export const resourceInsertion = (sql: Statements): Pick<BuildResourceRepository["Type"], "handOver" | "insert"> => {
  const rows = resourceRows(dialectOf(sql).boolean)

  /** Inserts apps, or replaces those that an earlier build of the same workspace made; an app of another one is left alone. */
  const upsertApps = (jobId: string, agents: ReadonlyArray<Pick<NewAgent, "apps">>) =>
    Effect.gen(function* () {
      const stored = agents.flatMap(rows.ofApps)
      const answers = yield* orDefect(
        insertAll(
          sql,
          "workspace_apps",
          stored,
          sql`ON CONFLICT (id) DO UPDATE SET ${sql.literal(replaced)}
              WHERE EXISTS (SELECT 1 FROM workspace_agents a
                JOIN workspace_resources r ON r.id = a.resource_id
                JOIN workspace_builds b ON b.job_id = r.job_id
                JOIN workspace_builds mine ON mine.workspace_id = b.workspace_id
                WHERE a.id = workspace_apps.agent_id AND mine.job_id = ${jobId})
              RETURNING id`
        )
      )
      const written = new Set(answers.map((answer) => identified(answer).id))
      const foreign = stored.find(({ id }) => !written.has(id))
      if (foreign !== undefined) return yield* new ForeignApp({ id: foreign.id })
    })

  const insert = (table: string, values: ReadonlyArray<Readonly<Record<string, unknown>>>) => run(insertAll(sql, table, values))

  /** Moves an agent to a new resource, with what its new owner's build gives it. */
  const moveAgent = (agent: HandedOverAgent) =>
    Effect.gen(function* () {
      const { metadata, row, scripts } = agent
      yield* run(sql`UPDATE workspace_agents SET ${sql.update(rows.ofMovedAgent(agent))} WHERE id = ${row.id} AND NOT deleted`)
      const change = ({ id, script }: HandedOverAgent["scripts"][number]) =>
        run(
          sql`UPDATE workspace_agent_scripts SET ${sql.update(rows.ofScript(script))} WHERE id = ${id} AND workspace_agent_id = ${row.id}`
        )
      yield* Effect.forEach(scripts, change, { discard: true })
      if (metadata.length > 0) yield* run(sql`DELETE FROM workspace_agent_metadata WHERE workspace_agent_id = ${row.id}`)
    })

  return {
    handOver: ({ agents, job_id, resources }) =>
      Effect.gen(function* () {
        yield* insert("workspace_resources", resources.map(rows.ofResource))
        yield* Effect.forEach(agents, moveAgent, { discard: true })
        yield* insert("workspace_agent_metadata", agents.flatMap(rows.ofMetadata))
        yield* upsertApps(job_id, agents)
      }),
    insert: ({ agents, created_at, job_id, resources }) =>
      Effect.gen(function* () {
        yield* insert("workspace_resources", resources.map(rows.ofResource))
        yield* insert("workspace_agents", agents.map(rows.ofAgent))
        yield* insert(
          "workspace_agent_log_sources",
          agents.flatMap((agent) => rows.ofLogSources(agent, created_at))
        )
        yield* insert(
          "workspace_agent_scripts",
          agents.flatMap((agent) => rows.ofScripts(agent, created_at))
        )
        yield* insert("workspace_agent_metadata", agents.flatMap(rows.ofMetadata))
        yield* insert("workspace_agent_monitors", agents.flatMap(rows.ofMonitors))
        yield* insert(
          "workspace_agent_devcontainers",
          agents.flatMap((agent) => rows.ofDevcontainers(agent, created_at))
        )
        yield* upsertApps(job_id, agents)
      })
  }
}
