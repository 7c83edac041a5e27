import { AgentStatRepository } from "@atelier/core/agents"
import { Effect } from "effect"
import { insertAll } from "../../platform/Batch.js"
import { run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { Statements } from "../../platform/Statements.js"

export const layer = service(
  AgentStatRepository,
  Effect.map(Statements, (sql) =>
    AgentStatRepository.of({
      insert: (stats) =>
        run(
          insertAll(
            sql,
            "workspace_agent_stats",
            stats.map((stat) => ({
              ...stat,
              connections_by_proto: JSON.stringify(stat.connections_by_proto),
              session_counts: JSON.stringify(stat.session_counts)
            }))
          )
        )
    })
  )
)
