import { Context, Effect } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { type AgentStat, AgentStatRepository, normalizeCounts } from "./AgentStat.js"
import type { AgentWorkspace } from "../AgentWorkspace.js"
import { makeBatch } from "./Batch.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"

/** The counts of an agent since its last report. */
export interface SentStat {
  readonly connections_by_proto: ReadonlyMap<string, number>
  readonly connection_count: number
  /** Milliseconds. */
  readonly connection_median_latency_ms: number
  readonly rx_packets: number
  readonly rx_bytes: number
  readonly tx_packets: number
  readonly tx_bytes: number
  /** By the kind of program. */
  readonly session_counts: ReadonlyMap<string, number>
}

/** A count as it is stored. Negative and infinite numbers of agents count as 0. */
const count = (value: number): number => (Number.isFinite(value) && value > 0 ? value : 0)

/** The methods of {@link StatReports}. */
export interface StatReportsService {
  /** Accepts a report, which is stored within a second unless the deployment keeps no statistics. agents-and-apps.md §9. */
  readonly add: (agent: AgentWorkspace, sent: SentStat) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const repository = yield* AgentStatRepository
  const ids = yield* Ids
  const { statsCollectionUsageStatsEnable } = yield* DeploymentOptions

  const batch = yield* makeBatch<AgentStat>({
    name: "agent statistics",
    key: ({ id }) => id,
    every: "1 second",
    threshold: 1024,
    capacity: 4096,
    write: repository.insert
  })

  return {
    add: Traced.fn("StatReports.add")(function* (agent: AgentWorkspace, sent: SentStat) {
      if (!statsCollectionUsageStatsEnable) return
      yield* batch.add({
        id: yield* ids.next,
        created_at: yield* Timestamp.now,
        user_id: agent.owner_id,
        agent_id: agent.agent_id,
        workspace_id: agent.workspace_id,
        template_id: agent.template_id,
        connections_by_proto: normalizeCounts(sent.connections_by_proto),
        connection_count: count(sent.connection_count),
        connection_median_latency_ms: count(sent.connection_median_latency_ms),
        rx_packets: count(sent.rx_packets),
        rx_bytes: count(sent.rx_bytes),
        tx_packets: count(sent.tx_packets),
        tx_bytes: count(sent.tx_bytes),
        session_counts: normalizeCounts(sent.session_counts)
      })
    })
  }
})

/** How workspaces are used, as their agents count it. */
export class StatReports extends Context.Tag("@atelier/core/StatReports")<StatReports, StatReportsService>() {
  static readonly layer = service(StatReports, make)
}
