/** The metrics that operators watch. notifications-audit-insights.md Part E. */
import { Clock, Context, Duration, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { inactivityTimeout, statusAt } from "../../agents/AgentStatus.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { gauges, type Labels, type MetricFamily, metricsOfProcess, textOf } from "./MetricFamily.js"
import { PrebuildRepository } from "../../workspaces/prebuilds/PrebuildRepository.js"
import { type MeasuredAgent, type MeasuredReport, MetricsRepository } from "./MetricsRepository.js"
import { prebuildFamilies } from "./PrebuildMetrics.js"
import { keptFor } from "../../platform/collections/Kept.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Forbidden } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** Rows of one list. Series of workspaces and agents beyond are left out. */
export const maximumRows = 10_000

/** How old the values of the store may be: several servers that read metrics cost as much as one. */
const validity = Duration.seconds(15)

/** The time in which users and agents count as active. */
const activeFor = Duration.hours(1)
const reportsFor = Duration.minutes(1)

/** What the process knows of itself beside the registry, such as its memory, given the prefix of the product's names. */
export class ProcessMetrics extends Context.Reference<ProcessMetrics>()("@atelier/core/ProcessMetrics", {
  defaultValue: (): ((prefix: string) => ReadonlyArray<MetricFamily>) => () => []
}) {}

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

/** The methods of {@link DeploymentMetrics}. */
export interface DeploymentMetricsService {
  /**
   * The metrics of this process and of the deployment in the text format of Prometheus. No right is asked for: an exporter has an address of
   * its own, which the operator protects. A store that cannot answer leaves out its values.
   */
  readonly exposition: Effect.Effect<string>

  /** The same for a user. Fails with `Forbidden` unless the actor may read debugging information. */
  readonly read: Effect.Effect<string, Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* MetricsRepository
  const prebuilds = yield* PrebuildRepository
  const options = yield* DeploymentOptions
  const { experiments, prometheusAggregateAgentStatsBy, prometheusCollectAgentStats } = options
  const licensed = yield* Entitlements
  const ofProcess = yield* ProcessMetrics
  const prefix = `${options.brand
    .trim()
    .toLowerCase()
    .replace(/[^0-9a-z]+/g, "_")}d_`
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

  const licenseFamilies = (): ReadonlyArray<MetricFamily> => {
    const granted = licensed.grants?.()
    if (granted === undefined) return []
    const { actual, enabled, limit } = granted.features.user_limit
    const value = (name: string, help: string, count: number) => gauges(`${prefix}license_${name}`, help, [[{}, count]])
    return [
      value("active_users", "Users that count against the license.", actual ?? 0),
      value("limit_users", "Users that the license permits.", limit ?? 0),
      value("user_limit_enabled", "Whether the license limits users.", enabled ? 1 : 0),
      value("warnings", "Warnings of the licenses.", granted.warnings.length),
      value("errors", "Errors of the licenses.", granted.errors.length)
    ]
  }

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

  const kept = yield* keptFor(validity)(ofStore)

  const exposition = Effect.gen(function* () {
    const started = yield* Clock.currentTimeNanos
    const store = yield* Effect.exit(kept)
    const seconds = Number((yield* Clock.currentTimeNanos) - started) / 1e9
    if (store._tag === "Failure") yield* Effect.logWarning("metrics of the store cannot be read", store.cause)
    return textOf([
      ...metricsOfProcess(prefix),
      ...ofProcess(prefix),
      ...(store._tag === "Success" ? store.value : []),
      ...licenseFamilies(),
      gauges(
        `${prefix}experiments`,
        "Experiments that are on.",
        experiments.map((experiment) => [{ experiment }, 1] as const)
      ),
      gauges(`${prefix}metrics_store_up`, "Whether the values of the store could be read.", [[{}, store._tag === "Success" ? 1 : 0]]),
      gauges(`${prefix}metrics_collection_seconds`, "How long the values of the store took to read.", [[{}, seconds]])
    ])
  })

  return {
    exposition,

    read: Effect.zipRight(Access.authorize("read", AccessObjects.bare("debug_info")), exposition)
  }
})

export class DeploymentMetrics extends Context.Tag("@atelier/core/DeploymentMetrics")<DeploymentMetrics, DeploymentMetricsService>() {
  static readonly layer = service(DeploymentMetrics, make)
}
