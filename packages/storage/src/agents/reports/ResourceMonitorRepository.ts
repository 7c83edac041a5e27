import { type ResourceMonitor, ResourceMonitorRepository, type WorkspaceAgentId } from "@atelier/core/agents"
import { Effect } from "effect"
import { boolean, number, row, text, timestamp } from "../../platform/Row.js"
import { all, run } from "../../platform/Statement.js"
import { service } from "@atelier/core/platform"
import { locking } from "../../platform/Dialect.js"
import { type Fragment, Statements } from "../../platform/Statements.js"

const monitor = row({
  path: text(),
  enabled: boolean,
  threshold: number,
  state: text<ResourceMonitor["state"]>(),
  debounced_until: timestamp
})

export const layer = service(
  ResourceMonitorRepository,
  Effect.map(Statements, (sql) => {
    const ofAgent = (id: WorkspaceAgentId, lock: Fragment) =>
      all(
        monitor,
        sql`SELECT path, enabled, threshold, state, debounced_until FROM workspace_agent_monitors
          WHERE workspace_agent_id = ${id} ORDER BY path ${lock}`
      )
    const forUpdate = locking(sql, "FOR UPDATE")

    return ResourceMonitorRepository.of({
      ofAgent: (id) => ofAgent(id, sql``),
      lockOfAgent: (id) => ofAgent(id, forUpdate),
      update: (id, { debounced_until, path, state }) =>
        run(sql`UPDATE workspace_agent_monitors SET state = ${state}, debounced_until = ${debounced_until}
          WHERE workspace_agent_id = ${id} AND path = ${path}`)
    })
  })
)
