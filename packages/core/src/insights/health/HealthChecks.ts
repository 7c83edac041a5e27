/** The checks of a health report, and one run of all of them. deployment.md §9. */
import { Cause, Duration, Effect, Exit } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { DeploymentValues } from "../../deployment/DeploymentValues.js"
import { WorkspaceProxies } from "../../deployment/proxies/WorkspaceProxies.js"
import { primaryName } from "../../deployment/proxies/PrimaryProxy.js"
import { proxyView } from "../../deployment/proxies/WorkspaceProxyView.js"
import { UpstreamUnavailable } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { daemonTimeout, provisionerApiVersion } from "../../provisioning/daemons/ProvisionerDaemon.js"
import { MetricsRepository } from "../metrics/MetricsRepository.js"
import { type Answer, checkTimeout, HealthProbes, reachThrough, timed } from "./HealthProbes.js"
import { daemonWarnings, failed, type HealthMessage, type HealthReport, type Outcome, spanText, well, worst } from "./HealthReport.js"
import { relayChecks } from "./RelayChecks.js"

/** How long a whole run may take. */
const runTimeout = Duration.seconds(30)

/** Statements that measure the latency of the store. */
const pings = 5

/** Daemons of a report. */
const maximumDaemons = 1_000

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

  const checkAccessUrl = Effect.gen(function* () {
    const found = (outcome: Outcome, answer?: Answer) => ({
      ...outcome,
      dismissed: false,
      access_url: accessUrl,
      reachable: answer !== undefined,
      status_code: answer?.status ?? 0,
      healthz_response: answer?.body ?? ""
    })
    if (accessUrl === "") return found(failed("EACS01", "The access URL is not set."))
    if (!URL.canParse(accessUrl)) return found(failed("EACS02", "The access URL is not valid."))
    const answer = yield* Effect.either(reach(`${accessUrl}/healthz`))
    if (answer._tag === "Left") return found(failed("EACS03", `The access URL cannot be reached: ${answer.left.message}`))
    const { body, status } = answer.right
    const wrong = status === 200 ? [] : [{ code: "EACS04", message: `The access URL answers ${status} instead of 200.` }]
    return found({ ...well(wrong), healthy: wrong.length === 0 }, { status, body })
  })

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
    const all = yield* Effect.exit(Effect.timeout(Effect.all(Array.from({ length: pings }, () => ping)), checkTimeout))
    if (Exit.isFailure(all)) return found(failed("EDB01", "The database does not answer."), false, 0)
    const latency = all.value.toSorted((one, other) => one - other)[Math.floor(pings / 2)] ?? 0
    const isSlow = latency >= threshold
    return found(
      well(isSlow ? [{ code: "EDB02", message: `The median latency of the database is ${spanText(latency)}.` }] : []),
      true,
      latency
    )
  })

  const checkWebSocket = (credential: string | undefined) =>
    Effect.gen(function* () {
      const found = (outcome: Outcome, { body, status }: Answer = { status: 0, body: "" }) => ({
        ...outcome,
        dismissed: false,
        code: status,
        body
      })
      if (credential === undefined) {
        return found(well([{ code: "EWS01", message: "WebSockets are checked for callers with a session or a token of the service." }]))
      }
      const answer = yield* Effect.either(
        Effect.timeoutFail(probes.echo(credential), {
          duration: checkTimeout,
          onTimeout: () => new Error("nothing comes back within 5 seconds")
        })
      )
      if (answer._tag === "Left") return found(failed("EWS02", `A message does not come back: ${answer.left.message}`))
      if (answer.right.status === 101) return found(well(), answer.right)
      return found(failed("EWS03", `A WebSocket is refused with ${answer.right.status}.`), answer.right)
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
