/** Metrics of agents, for operators. An exporter puts the product's prefix before the names. agents-and-apps.md §3, §4. */
import { Effect } from "effect"
import * as Measure from "../../platform/Measure.js"
import type { AgentWorkspace } from "../AgentWorkspace.js"

/** Seconds from an agent's creation to its first connection. */
const firstConnection = Measure.histogram(
  "agents_first_connection_seconds",
  "Time from an agent's creation to its first connection.",
  [1, 10, 30, 60, 120, 300, 600, 1800, 3600],
  ["template_name", "agent_name"]
)

/** Seconds from a build's creation until its last agent was ready. */
const buildDuration = Measure.histogram(
  "template_workspace_build_duration_seconds",
  "Time from a build's creation until its last agent was ready.",
  [1, 10, 30, 60, 300, 600, 1800, 3600],
  ["template_name", "organization_name", "transition", "status", "is_prebuild"]
)

/** An agent connected for the first time; a clock that went back says nothing. */
export const observeFirstConnection = (agent: AgentWorkspace, millis: number): Effect.Effect<void> =>
  Effect.sync(() => {
    if (millis >= 0) firstConnection(agent.template_name, agent.agent_name).update(millis / 1000)
  })

export interface BuildDuration {
  readonly millis: number
  readonly status: "success" | "error" | "timeout"
  readonly isPrebuild: boolean
}

/** All agents of a build have ended their start scripts. */
export const observeBuildDuration = (agent: AgentWorkspace, { isPrebuild, millis, status }: BuildDuration): Effect.Effect<void> =>
  Effect.sync(() =>
    buildDuration(agent.template_name, agent.organization_name, agent.build_transition, status, String(isPrebuild)).update(millis / 1000)
  )
