/** The checks of a health report, and one run of all of them. deployment.md §9. */
import { Cause, Duration, Effect } from "effect"
import { missingKeys } from "../../deployment/cryptoKeys/missingKeys.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { DeploymentValues } from "../../deployment/DeploymentValues.js"
import { WorkspaceProxies } from "../../deployment/proxies/WorkspaceProxies.js"
import { UpstreamUnavailable } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { MetricsRepository } from "../metrics/MetricsRepository.js"
import { HealthProbes, reachThrough } from "./HealthProbes.js"
import { failed, type HealthReport, type Outcome, worst } from "./HealthReport.js"
import { relayChecks } from "./RelayChecks.js"
import { reachChecks } from "./ReachChecks.js"
import { partChecks } from "./PartChecks.js"

/** How long a whole run may take. */
const runTimeout = Duration.seconds(30)

type Findings = Omit<HealthReport, "time" | "healthy" | "severity" | "coder_version">

/** Returns a function that runs all checks for a caller's credential, and fails with `UpstreamUnavailable` if they take too long. */
export const healthChecks = Effect.gen(function* () {
  const values = yield* DeploymentValues
  const repository = yield* MetricsRepository
  const checkRelays = yield* relayChecks
  const proxies = yield* WorkspaceProxies
  const probes = yield* HealthProbes
  const reach = reachThrough(probes)
  const { accessUrl, healthCheckThresholdDatabase } = yield* DeploymentOptions

  /** A check that dies is a finding too. */
  const orFailed = <A extends Outcome, R>(
    name: keyof Findings,
    progress: Set<string>,
    check: Effect.Effect<A, never, R>,
    empty: Omit<A, keyof Outcome>
  ) =>
    check.pipe(
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.interrupt
          : Effect.as(Effect.logError("a health check failed unexpectedly", cause), {
              ...failed("EUNKNOWN", "The check failed unexpectedly."),
              ...empty
            } as A)
      ),
      Effect.tap(() => Effect.sync(() => progress.delete(name)))
    )

  const { checkAccessUrl, checkWebSocket } = reachChecks({ accessUrl, reach, probes })

  const { checkDatabase, checkDaemons, checkProxies } = partChecks({
    healthCheckThresholdDatabase,
    missing: yield* missingKeys,
    values,
    repository,
    probes,
    proxies
  })

  return (credential: string | undefined) =>
    Effect.gen(function* () {
      const progress = new Set<string>(["access_url", "database", "derp", "provisioner_daemons", "websocket", "workspace_proxy"])
      const unknown = { dismissed: false }
      const nowhere = { ...unknown, access_url: accessUrl, reachable: false, status_code: 0, healthz_response: "" }
      const unmeasured = { ...unknown, reachable: false, latency: "0s", latency_ms: 0, threshold_ms: 0 }
      const findings: Findings = yield* Effect.all(
        {
          access_url: orFailed("access_url", progress, checkAccessUrl, nowhere),
          database: orFailed("database", progress, checkDatabase, unmeasured),
          derp: orFailed("derp", progress, checkRelays, { ...unknown, regions: {}, netcheck_logs: [] }),
          provisioner_daemons: orFailed("provisioner_daemons", progress, checkDaemons, { ...unknown, items: [] }),
          websocket: orFailed("websocket", progress, checkWebSocket(credential), { ...unknown, code: 0, body: "" }),
          workspace_proxy: orFailed("workspace_proxy", progress, checkProxies, { ...unknown, workspace_proxies: { regions: [] } })
        },
        { concurrency: "unbounded" }
      ).pipe(
        // A statement that the store does not answer cannot be interrupted
        Effect.disconnect,
        Effect.timeoutFail({
          duration: runTimeout,
          onTimeout: () => {
            const all = Object.keys({ access_url: 0, database: 0, derp: 0, provisioner_daemons: 0, websocket: 0, workspace_proxy: 0 })
            const ended = all.filter((name) => !progress.has(name))
            return new UpstreamUnavailable({
              message: "The health checks take too long.",
              detail: `Finished: ${ended.join(", ") || "none"}. Running: ${[...progress].join(", ")}.`
            })
          }
        })
      )
      const severities = Object.values(findings).map(({ severity }) => severity)
      return {
        ...findings,
        time: yield* Timestamp.now,
        severity: worst(severities),
        healthy: !severities.includes("error") && findings.access_url.severity === "ok",
        coder_version: probes.version
      } satisfies HealthReport
    })
})
