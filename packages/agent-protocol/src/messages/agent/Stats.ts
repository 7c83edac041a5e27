/** How a workspace is used. agents-and-apps.md §14. */
import { Duration } from "../Duration.js"
import { double, enumeration, field, int53, map, repeated, string, type TypeOf } from "../Protobuf.js"
import { agent } from "./agent.js"

export const MetricLabel = agent("Stats.Metric.Label", { name: field(1, string), value: field(2, string) })
export type MetricLabel = TypeOf<typeof MetricLabel>

export const Metric = agent("Stats.Metric", {
  name: field(1, string),
  type: field(2, enumeration({ UNSPECIFIED: 0, COUNTER: 1, GAUGE: 2 })),
  value: field(3, double),
  labels: repeated(4, MetricLabel)
})
export type Metric = TypeOf<typeof Metric>

export const Stats = agent("Stats", {
  connections_by_proto: map(1, string, int53),
  connection_count: field(2, int53),
  connection_median_latency_ms: field(3, double),
  rx_packets: field(4, int53),
  rx_bytes: field(5, int53),
  tx_packets: field(6, int53),
  tx_bytes: field(7, int53),
  session_count_vscode: field(8, int53),
  session_count_jetbrains: field(9, int53),
  session_count_reconnecting_pty: field(10, int53),
  session_count_ssh: field(11, int53),
  metrics: repeated(12, Metric),
  session_counts: map(13, string, int53)
})
export type Stats = TypeOf<typeof Stats>

export const UpdateStatsRequest = agent("UpdateStatsRequest", { stats: field(1, Stats) })
export type UpdateStatsRequest = TypeOf<typeof UpdateStatsRequest>

export const UpdateStatsResponse = agent("UpdateStatsResponse", { report_interval: field(1, Duration) })
export type UpdateStatsResponse = TypeOf<typeof UpdateStatsResponse>
