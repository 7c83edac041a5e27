import { Duration, Effect, Exit } from "effect"
import { missingKeyText } from "../../deployment/cryptoKeys/missingKeys.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { DeploymentValues } from "../../deployment/DeploymentValues.js"
import type { WorkspaceProxies } from "../../deployment/proxies/WorkspaceProxies.js"
import { primaryName } from "../../deployment/proxies/PrimaryProxy.js"
import { proxyView } from "../../deployment/proxies/WorkspaceProxyView.js"
import * as Background from "../../platform/background/Background.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { daemonTimeout, provisionerApiVersion } from "../../provisioning/daemons/ProvisionerDaemon.js"
import type { MetricsRepository } from "../metrics/MetricsRepository.js"
import { checkTimeout, type HealthProbes, timed } from "./HealthProbes.js"
import { daemonWarnings, failed, type HealthMessage, type Outcome, spanText, well } from "./HealthReport.js"

/** Statements that measure the latency of the store. */
const pings = 5

/** Daemons of a report. */
const maximumDaemons = 1_000

interface Needs extends Pick<DeploymentOptions["Type"], "healthCheckThresholdDatabase"> {
  readonly values: DeploymentValues["Type"]
  readonly repository: MetricsRepository["Type"]
  readonly probes: HealthProbes["Type"]
  readonly proxies: WorkspaceProxies["Type"]
  /** The ids of encryption keys that stored values need and this process does not have. */
  readonly missing: Effect.Effect<ReadonlyArray<string>>
}

/** Whether the store, the daemons and the proxies work. */
export const partChecks = ({ healthCheckThresholdDatabase, missing, values, repository, probes, proxies }: Needs) => {
  const checkDatabase = Effect.gen(function* () {
    const threshold = Duration.toMillis(healthCheckThresholdDatabase)
    const found = (outcome: Outcome, reachable: boolean, latency: number) => ({
      ...outcome,
      dismissed: false,
      reachable,
      latency: spanText(latency),
      latency_ms: Math.floor(latency),
      threshold_ms: Math.floor(threshold)
    })
    const ping = Effect.map(timed(values.get("health")), ({ millis }) => millis)
    const all = yield* Effect.exit(
      Effect.flatten(Background.leftAfter(checkTimeout)(Effect.all(Array.from({ length: pings }, () => ping))))
    )
    if (Exit.isFailure(all)) return found(failed("EDB01", "The database does not answer."), false, 0)
    const latency = all.value.toSorted((one, other) => one - other)[Math.floor(pings / 2)] ?? 0
    const isSlow = latency >= threshold
    const keys = yield* Background.leftAfter(checkTimeout)(missing).pipe(
      Effect.flatten,
      Effect.orElseSucceed(() => [])
    )
    return found(
      well([
        ...(isSlow ? [{ code: "EDB02", message: `The median latency of the database is ${spanText(latency)}.` }] : []),
        ...keys.map((id) => ({ code: "EDB03", message: missingKeyText(id) }))
      ]),
      true,
      latency
    )
  })

  const checkDaemons = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const daemons = yield* repository.daemons(Timestamp.minus(now, daemonTimeout), maximumDaemons)
    const items = daemons.map((daemon) => ({
      provisioner_daemon: { ...daemon, key_name: null, status: null, current_job: null, previous_job: null },
      warnings: daemonWarnings(daemon, { version: probes.version, apiVersion: provisionerApiVersion })
    }))
    const warnings = items.flatMap((item): ReadonlyArray<HealthMessage> => item.warnings)
    const hasInvalid = warnings.some(({ code }) => code === "EUNKNOWN")
    const outcome =
      items.length === 0
        ? failed("EPD01", "No provisioner daemon was seen lately.")
        : hasInvalid
          ? { ...failed("EUNKNOWN", "A provisioner daemon has no valid version."), warnings }
          : well(warnings)
    return { ...outcome, dismissed: false, items }
  })

  const checkProxies = Effect.gen(function* () {
    const regions = (yield* proxies.observed).map(proxyView)
    const found = regions.filter(({ name }) => name !== primaryName)
    const broken = found.filter(({ healthy }) => !healthy)
    const warnings = [
      ...broken.map(({ name, status }) => ({
        code: "EWP04",
        message: `The proxy ${name} is ${status.status}. ${status.report.errors.join(" ")}`.trim()
      })),
      ...found.flatMap(({ status }) => status.report.warnings.map((message) => ({ code: "EWP04", message })))
    ]
    const outcome =
      found.length > 0 && broken.length === found.length ? { ...failed("EWP04", "No proxy works."), warnings } : well(warnings)
    return { ...outcome, dismissed: false, workspace_proxies: { regions } }
  })

  return { checkDatabase, checkDaemons, checkProxies }
}
