/** Metrics of agents, for operators. An exporter puts the product's prefix before the names. agents-and-apps.md §3, §4. */
import { Effect, Metric, MetricBoundaries } from "effect"
import type { AgentWorkspace } from "./AgentWorkspace.js"

/** Seconds from an agent's creation to its first connection. */
const firstConnection = Metric.histogram(
  "agents_first_connection_seconds",
  MetricBoundaries.fromIterable([1, 10, 30, 60, 120, 300, 600, 1800, 3600]),
  "Time from an agent's creation to its first connection."
)

/** Seconds from a build's creation until its last agent was ready. */
const buildDuration = Metric.histogram(
  "template_workspace_build_duration_seconds",
  MetricBoundaries.fromIterable([1, 10, 30, 60, 300, 600, 1800, 3600]),
  "Time from a build's creation until its last agent was ready."
)

/** An agent connected for the first time; a clock that went back says nothing. */
export const observeFirstConnection = (agent: AgentWorkspace, millis: number): Effect.Effect<void> =>
  millis < 0
    ? Effect.void
    : Metric.update(
        firstConnection.pipe(Metric.tagged("template_name", agent.template_name), Metric.tagged("agent_name", agent.agent_name)),
        millis / 1000
      )

export interface BuildDuration {
  readonly millis: number
  readonly status: "success" | "error" | "timeout"
  readonly isPrebuild: boolean
}

/** All agents of a build have ended their start scripts. */
export const observeBuildDuration = (agent: AgentWorkspace, { isPrebuild, millis, status }: BuildDuration): Effect.Effect<void> =>
  Metric.update(
    buildDuration.pipe(
      Metric.tagged("template_name", agent.template_name),
      Metric.tagged("organization_name", agent.organization_name),
      Metric.tagged("transition", agent.build_transition),
      Metric.tagged("status", status),
      Metric.tagged("is_prebuild", String(isPrebuild))
    ),
    millis / 1000
  )
