/** The metrics that operators watch. notifications-audit-insights.md Part E. */
import { Clock, Context, Duration, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { gauges, type MetricFamily, metricsOfProcess, textOf } from "./MetricFamily.js"
import { PrebuildRepository } from "../../workspaces/prebuilds/PrebuildRepository.js"
import { MetricsRepository } from "./MetricsRepository.js"
import { joined, type ProcessMember, ProcessGroup } from "./ProcessGroup.js"
import { keptFor } from "../../platform/collections/Kept.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Forbidden } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import * as Background from "../../platform/background/Background.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { storeFamilies } from "./StoreFamilies.js"

/** How old the values of the store may be: several servers that read metrics cost as much as one. */
const validity = Duration.seconds(15)

/** What the process knows of itself beside the registry, such as its memory, given the prefix of the product's names. */
export class ProcessMetrics extends Context.Reference<ProcessMetrics>()("@atelier/core/ProcessMetrics", {
  defaultValue: (): ((prefix: string) => ReadonlyArray<MetricFamily>) => () => []
}) {}

/** The methods of {@link DeploymentMetrics}. */
export interface DeploymentMetricsService {
  /**
   * The metrics of this process, or of all that serve the same address, and of the deployment in the text format of Prometheus. No right is asked for:
   * an exporter has an address of its own, which the operator protects. A store that cannot answer leaves out its values.
   */
  readonly exposition: Effect.Effect<string>

  /** The same for a user. Fails with `Forbidden` unless the actor may read debugging information. */
  readonly read: Effect.Effect<string, Forbidden, CurrentActor>
}

const workFamilies = (prefix: string): Effect.Effect<ReadonlyArray<MetricFamily>> =>
  Effect.map(Background.health, (works) => {
    const value = (name: string, help: string, of: (work: Background.WorkHealth) => number) =>
      gauges(
        `${prefix}background_${name}`,
        help,
        works.map((work) => [{ work: work.name }, of(work)] as const)
      )
    const seconds = (at: Timestamp.Timestamp | null): number => (at === null ? 0 : Timestamp.toMillis(at) / 1000)
    return [
      value("failing", "Loops of background work whose last turn failed.", ({ failing }) => failing),
      value("consecutive_failures", "Turns of background work that failed since one succeeded.", (work) => work.consecutive_failures),
      value("last_success_seconds", "When a turn of background work last succeeded, in seconds since 1970; 0 before.", (work) =>
        seconds(work.last_success_at)
      )
    ]
  })

const memberFamilies = (prefix: string, members: ReadonlyArray<ProcessMember>): ReadonlyArray<MetricFamily> => {
  const value = (name: string, help: string, of: (member: ProcessMember) => number) =>
    gauges(
      `${prefix}worker_${name}`,
      help,
      members.map((member) => [{ worker: String(member.number) }, of(member)] as const)
    )
  return [
    value("serving", "Whether the worker serves requests.", ({ activity }) => (activity === "serving" ? 1 : 0)),
    value("starts", "Processes that were started for the worker.", ({ starts }) => starts)
  ]
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

  const { ofStore } = storeFamilies({
    options,
    repository,
    prefix,
    prometheusAggregateAgentStatsBy,
    licensed,
    prebuilds,
    prometheusCollectAgentStats
  })

  const kept = yield* keptFor(validity)(ofStore)

  const group = yield* ProcessGroup

  /** What each of several processes counts by itself. */
  const ofThis = Effect.map(workFamilies(prefix), (work) => [...metricsOfProcess(prefix), ...ofProcess(prefix), ...work])
  if (group !== undefined) yield* group.answer(ofThis)
  const ofProcesses = Effect.gen(function* () {
    if (group === undefined) return yield* ofThis
    const others = yield* group.measuredByOthers
    return [...joined({ number: group.number, families: yield* ofThis }, others), ...memberFamilies(prefix, yield* group.members)]
  })

  const exposition = Effect.gen(function* () {
    const started = yield* Clock.currentTimeNanos
    const store = yield* Effect.exit(kept)
    const seconds = Number((yield* Clock.currentTimeNanos) - started) / 1e9
    if (store._tag === "Failure") yield* Effect.logWarning("metrics of the store cannot be read", store.cause)
    return textOf([
      ...(yield* ofProcesses),
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
