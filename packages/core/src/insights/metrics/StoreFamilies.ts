import { Duration, Effect, Option } from "effect"
import { inactivityTimeout, statusAt } from "../../agents/AgentStatus.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { gauges, type Labels } from "./MetricFamily.js"
import type { PrebuildRepository } from "../../workspaces/prebuilds/PrebuildRepository.js"
import type { MeasuredAgent, MeasuredReport, MetricsRepository } from "./MetricsRepository.js"
import { prebuildFamilies } from "./PrebuildMetrics.js"

/** Rows of one list. Series of workspaces and agents beyond are left out. */
export const maximumRows = 10_000

/** The time in which users and agents count as active. */
const activeFor = Duration.hours(1)

const reportsFor = Duration.minutes(1)

const labelsOf = ({ agent_name, template_name, username, workspace_name }: MeasuredAgent): Labels => ({
  agent_name,
  template_name,
  username,
  workspace_name
})

/** Values of the same labels, added up. */
const addedUp = (values: Iterable<readonly [Labels, number]>): ReadonlyArray<readonly [Labels, number]> => {
  const sums = new Map<string, [Labels, number]>()
  for (const [labels, value] of values) {
    const key = JSON.stringify(labels)
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, [labels, value])
    else sum[1] += value
  }
  return Array.from(sums.values())
}

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]]
  return low === undefined || high === undefined ? 0 : (low + high) / 2
}

const reported = {
  rx_bytes: ["Bytes that agents received in the last minute.", ({ rx_bytes }) => rx_bytes],
  tx_bytes: ["Bytes that agents sent in the last minute.", ({ tx_bytes }) => tx_bytes],
  connection_count: ["Connections that agents reported in the last minute.", ({ connection_count }) => connection_count],
  session_count_ssh: ["SSH sessions.", ({ session_counts }) => session_counts["ssh"] ?? 0],
  session_count_vscode: ["VS Code sessions.", ({ session_counts }) => session_counts["vscode"] ?? 0],
  session_count_jetbrains: ["JetBrains sessions.", ({ session_counts }) => session_counts["jetbrains"] ?? 0],
  session_count_reconnecting_pty: ["Terminal sessions.", ({ session_counts }) => session_counts["reconnecting_pty"] ?? 0]
} satisfies Record<string, readonly [help: string, value: (report: MeasuredReport) => number]>

interface Needs {
  readonly options: DeploymentOptions["Type"]
  readonly repository: MetricsRepository["Type"]
  readonly prefix: string
  readonly prometheusAggregateAgentStatsBy: DeploymentOptions["Type"]["prometheusAggregateAgentStatsBy"]
  readonly licensed: Entitlements["Type"]
  readonly prebuilds: PrebuildRepository["Type"]
  readonly prometheusCollectAgentStats: boolean
}

/** The families of metrics that are read from the store. */
export const storeFamilies = ({
  options,
  repository,
  prefix,
  prometheusAggregateAgentStatsBy,
  licensed,
  prebuilds,
  prometheusCollectAgentStats
}: Needs) => {
  const inactive = inactivityTimeout(options.agentConnectionUpdateInterval)

  const agentFamilies = (agents: ReadonlyArray<MeasuredAgent>, now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const states = agents.map((agent) => ({ agent, ...statusAt(agent, now, inactive) }))
      const byId = new Map(agents.map((agent) => [agent.id, agent]))
      const apps = yield* repository.apps(maximumRows)
      const up = states.map(({ agent: { template_name, template_version, username, workspace_name } }) => {
        return [{ template_name, template_version, username, workspace_name }, 1] as const
      })
      return [
        gauges(`${prefix}agents_up`, "Agents of workspaces that were started last.", addedUp(up)),
        gauges(
          `${prefix}agents_connections`,
          "Agents by the state of their connection.",
          states.map(({ agent, status }) => {
            const { agent_name, lifecycle_state, username, workspace_name } = agent
            return [{ agent_name, username, workspace_name, status, lifecycle_state }, 1] as const
          })
        ),
        gauges(
          `${prefix}agents_apps`,
          "Apps of agents by their health.",
          apps.flatMap(({ agent_id, app_name, health }) => {
            const agent = byId.get(agent_id)
            if (agent === undefined) return []
            const { agent_name, username, workspace_name } = agent
            return [[{ agent_name, username, workspace_name, app_name, health }, 1] as const]
          })
        )
      ]
    })

  const reportFamilies = (agents: ReadonlyArray<MeasuredAgent>, now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const byId = new Map(agents.map((agent) => [agent.id, labelsOf(agent)]))
      const reports = (yield* repository.reports(Timestamp.minus(now, reportsFor), maximumRows)).flatMap((report) => {
        const all = byId.get(report.agent_id)
        if (all === undefined) return []
        const labels = Object.fromEntries(prometheusAggregateAgentStatsBy.map((name) => [name, all[name] ?? ""]))
        return [{ report, labels }]
      })
      const latencies = new Map<string, { readonly labels: Labels; readonly values: Array<number> }>()
      for (const { labels, report } of reports) {
        if (report.connection_median_latency_ms <= 0) continue
        const key = JSON.stringify(labels)
        const found = latencies.get(key) ?? { labels, values: [] }
        latencies.set(key, found)
        found.values.push(report.connection_median_latency_ms / 1000)
      }
      return [
        ...Object.entries(reported).map(([name, [help, valueOf]]) =>
          gauges(`${prefix}agentstats_${name}`, help, addedUp(reports.map(({ labels, report }) => [labels, valueOf(report)] as const)))
        ),
        gauges(
          `${prefix}agentstats_connection_median_latency_seconds`,
          "The median latency that agents reported in the last minute.",
          Array.from(latencies.values(), ({ labels, values }) => [labels, median(values)] as const)
        )
      ]
    })

  /** The values that all processes share, from the store. */
  const ofStore = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const users = yield* repository.userCounts
    const active = yield* repository.activeUsers(Timestamp.minus(now, activeFor))
    const builds = yield* repository.latestBuilds(maximumRows)
    const agents = yield* repository.agents(maximumRows)
    return [
      gauges(
        `${prefix}api_total_user_count`,
        "Users by status.",
        users.map(({ count, status }) => [{ status }, count] as const)
      ),
      gauges(`${prefix}api_active_users_duration_hour`, "Users that called the API within the last hour.", [[{}, active]]),
      gauges(
        `${prefix}api_workspace_latest_build`,
        "Workspaces by the status of their latest build.",
        addedUp(builds.map(({ count, status }) => [{ status }, count] as const))
      ),
      gauges(
        `${prefix}workspace_latest_build_status`,
        "Workspaces by owner, template and the status of their latest build.",
        builds.map(({ count, status, template_name, template_version, transition, workspace_owner }) => [
          { status, template_name, template_version, workspace_owner, workspace_transition: transition },
          count
        ])
      ),
      ...(yield* agentFamilies(agents, now)),
      ...(licensed.has("workspace_prebuilds")
        ? prebuildFamilies(
            prefix,
            yield* repository.presets(maximumRows),
            Option.getOrElse(yield* prebuilds.isPaused, () => false),
            now
          )
        : []),
      ...(prometheusCollectAgentStats ? yield* reportFamilies(agents, now) : [])
    ]
  })

  return { ofStore }
}
