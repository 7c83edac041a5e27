/** Whether an agent is connected, and whether it is well: computed whenever it is read, never stored. agents-and-apps.md §3. */
import { Duration, Schema } from "effect"
import { type Timestamp, toMillis } from "../platform/time/Timestamp.js"
import { type AgentLifecycle, isShuttingDown } from "./AgentLifecycle.js"
import type { WorkspaceAgent } from "./WorkspaceAgent.js"

export const AgentStatus = Schema.Literal("connecting", "connected", "disconnected", "timeout")
export type AgentStatus = typeof AgentStatus.Type

/** What a user is told who needs an agent that is not connected. */
export const notConnectedMessages: Readonly<Record<Exclude<AgentStatus, "connected">, string>> = {
  connecting: "The workspace's agent has not connected yet. Try again in a moment.",
  timeout: "The workspace's agent has not connected in time. The log of the workspace's build may say why.",
  disconnected: "The workspace's agent has lost its connection. Try again in a moment, or restart the workspace."
}

export const AgentHealth = Schema.Struct({
  healthy: Schema.Boolean,
  /** Why it is not; absent when it is. */
  reason: Schema.optional(Schema.String)
}).annotations({ identifier: "WorkspaceAgentHealth" })
export interface AgentHealth extends Schema.Schema.Type<typeof AgentHealth> {}

/** What the status of an agent is computed from. */
export type AgentConnectionTimes = Pick<
  WorkspaceAgent,
  "created_at" | "first_connected_at" | "last_connected_at" | "disconnected_at" | "connection_timeout_seconds"
>

/** How long after its last sign of life an agent counts as disconnected: twice the interval of those signs, at least 2 s. */
export const inactivityTimeout = (updateInterval: Duration.Duration): Duration.Duration =>
  Duration.max(Duration.times(updateInterval, 2), Duration.seconds(2))

/** The status at an instant, and since when the agent is disconnected. */
export const statusAt = (
  agent: AgentConnectionTimes,
  now: Timestamp,
  inactive: Duration.Duration
): { readonly status: AgentStatus; readonly disconnected_at: Timestamp | null } => {
  const { connection_timeout_seconds: timeout, created_at, disconnected_at, first_connected_at, last_connected_at } = agent
  if (first_connected_at === null || last_connected_at === null) {
    const overdue = timeout > 0 && toMillis(now) - toMillis(created_at) > timeout * 1000
    return { status: overdue ? "timeout" : "connecting", disconnected_at }
  }
  if (disconnected_at !== null && disconnected_at >= last_connected_at) return { status: "disconnected", disconnected_at }
  return toMillis(now) - toMillis(last_connected_at) > Duration.toMillis(inactive)
    ? { status: "disconnected", disconnected_at: last_connected_at }
    : { status: "connected", disconnected_at }
}

const sick = (reason: string): AgentHealth => ({ healthy: false, reason })

/** Whether the agent is well; an agent whose start scripts take long still is. */
export const healthOf = (status: AgentStatus, lifecycle: AgentLifecycle): AgentHealth => {
  if (status !== "connected" && lifecycle === "off") return sick("agent is not running")
  switch (status) {
    case "connecting":
      return sick("agent has not yet connected")
    case "timeout":
      return sick("agent is taking too long to connect")
    case "disconnected":
      return sick("agent has lost connection")
    case "connected":
      if (lifecycle === "start_error") return sick("agent startup script exited with an error")
      return isShuttingDown(lifecycle) ? sick("agent is shutting down") : { healthy: true }
  }
}
