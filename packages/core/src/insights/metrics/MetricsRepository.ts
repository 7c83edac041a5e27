import { Context, type Effect } from "effect"
import type { AgentLifecycle } from "../../agents/AgentLifecycle.js"
import type { WorkspaceAgent } from "../../agents/WorkspaceAgent.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { ProvisionerDaemon } from "../../provisioning/daemons/ProvisionerDaemon.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { PrebuildPolicy } from "../../provisioning/engines/SourceDefinitions.js"
import type { PrebuildStatus } from "../../templates/versions/TemplateVersionDefinitions.js"

/** A number of things that are in one state. */
export interface StateCount {
  readonly status: string
  readonly count: number
}

/** Workspaces of one owner whose latest builds are alike. */
export interface LatestBuilds {
  readonly status: string
  readonly transition: string
  readonly template_name: string
  readonly template_version: string
  readonly workspace_owner: string
  readonly count: number
}

/** An agent of a workspace that was started last. */
export interface MeasuredAgent extends Pick<
  WorkspaceAgent,
  "created_at" | "first_connected_at" | "last_connected_at" | "disconnected_at" | "connection_timeout_seconds"
> {
  readonly id: Uuid
  readonly agent_name: string
  readonly lifecycle_state: AgentLifecycle
  readonly template_name: string
  readonly template_version: string
  readonly username: string
  readonly workspace_name: string
}

/** An app of such an agent. */
export interface MeasuredApp {
  readonly agent_id: Uuid
  readonly app_name: string
  readonly health: string
}

/** What one agent reported. */
export interface MeasuredReport {
  readonly agent_id: Uuid
  readonly rx_bytes: number
  readonly tx_bytes: number
  readonly connection_count: number
  readonly connection_median_latency_ms: number
  readonly session_counts: Readonly<Record<string, number>>
}

/** A preset that keeps workspaces ready, and what became of those. */
export interface MeasuredPreset {
  readonly template_name: string
  readonly preset_name: string
  readonly organization_name: string
  /** Where no schedule holds. */
  readonly desired: number
  readonly policy: PrebuildPolicy
  readonly status: PrebuildStatus
  /** Whether it is one of its template's active version. */
  readonly is_active: boolean
  readonly created: number
  readonly failed: number
  readonly claimed: number
  /** Unclaimed, and started; 0 for those of other versions, which are on their way out. */
  readonly running: number
  /** Of those, with agents that are all ready. */
  readonly eligible: number
}

/** What metrics and health of the whole deployment are made of. Lists are the first `limit` rows in the order of their ids. */
export class MetricsRepository extends Context.Tag("@atelier/core/MetricsRepository")<
  MetricsRepository,
  {
    /** Users by status, without those of the service itself. */
    readonly userCounts: Effect.Effect<ReadonlyArray<StateCount>>
    /** Users with a key that was used since an instant. */
    readonly activeUsers: (since: Timestamp) => Effect.Effect<number>
    /** Workspaces by the status of their latest build. */
    readonly latestBuilds: (limit: number) => Effect.Effect<ReadonlyArray<LatestBuilds>>
    readonly agents: (limit: number) => Effect.Effect<ReadonlyArray<MeasuredAgent>>
    readonly apps: (limit: number) => Effect.Effect<ReadonlyArray<MeasuredApp>>
    /** The presets of templates that are not deleted, those of active versions first. */
    readonly presets: (limit: number) => Effect.Effect<ReadonlyArray<MeasuredPreset>>
    /** Provisioner daemons of all organizations that were heard since an instant. */
    readonly daemons: (seenSince: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<ProvisionerDaemon>>
    /** Reports since an instant. */
    readonly reports: (since: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<MeasuredReport>>
  }
>() {}
