import { Cause, Clock, Context, Duration, Effect, Exit, Layer, Option, Schema } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { rightTo } from "../../access/StreamRights.js"
import * as Audit from "../../audit/Audit.js"
import { Deployment } from "../../deployment/Deployment.js"
import { DeploymentOptions } from "../../deployment/DeploymentOptions.js"
import { DeploymentValues } from "../../deployment/DeploymentValues.js"
import { ProxyHealth } from "../../deployment/proxies/ProxyHealth.js"
import { WorkspaceProxyRepository } from "../../deployment/proxies/WorkspaceProxy.js"
import { RelayMaps } from "../../network/RelayMaps.js"
import type { RelayNode, RelayRegion } from "../../network/RelayMap.js"
import { NotModified, UpstreamUnavailable } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { standingOn } from "../../platform/Standing.js"
import { transaction } from "../../platform/Transactor.js"
import { daemonTimeout, provisionerApiVersion } from "../../provisioning/ProvisionerDaemon.js"
import { MetricsRepository } from "../metrics/MetricsRepository.js"
import {
  daemonWarnings,
  failed,
  type HealthMessage,
  HealthSection,
  type HealthReport,
  type NodeReport,
  type Outcome,
  type RegionReport,
  spanText,
  well,
  worst
} from "./HealthReport.js"

/** The answer of an address. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** Port: how the service reaches itself and its relays from outside. Each fails with a reason in words. */
export class HealthProbes extends Context.Reference<HealthProbes>()("@atelier/core/HealthProbes", {
  defaultValue: (): {
    /** The version that the service tells of itself. */
    readonly version: string
    readonly get: (url: string) => Effect.Effect<Answer, Error>
    /** Sends a text to the echo of `/debug/ws` as the holder of a credential. The status is 101 if it came back. */
    readonly echo: (credential: string | undefined) => Effect.Effect<Answer, Error>
  } => ({
    version: "v0.0.0",
    get: () => Effect.fail(new Error("no addresses can be reached here")),
    echo: () => Effect.fail(new Error("no addresses can be reached here"))
  })
}) {}

const settingsKey = "health_settings"
const Dismissed = Schema.parseJson(Schema.Array(HealthSection))

/** How long a single check and a whole run may take. */
const checkTimeout = Duration.seconds(5)
const runTimeout = Duration.seconds(30)

/** Statements that measure the latency of the store. */
const pings = 5

/** Daemons of a report. */
const maximumDaemons = 1_000

/** Relays that are asked at once. */
const concurrency = 8

const debugInfo = Access.authorize("read", AccessObjects.bare("debug_info"))

type Findings = Omit<HealthReport, "time" | "healthy" | "severity" | "coder_version">

const make = Effect.gen(function* () {
  const values = yield* DeploymentValues
  const repository = yield* MetricsRepository
  const relays = yield* RelayMaps
  const proxies = yield* WorkspaceProxyRepository
  const proxyHealth = yield* ProxyHealth
  const probes = yield* HealthProbes
  const ids = yield* Ids
  const { id: deploymentId } = yield* Deployment
  const { accessUrl, healthCheckRefresh, healthCheckThresholdDatabase, wildcardAccessUrl } = yield* DeploymentOptions

  const dismissed = Effect.map(values.get(settingsKey), (stored) =>
    Option.getOrElse(Option.flatMap(stored, Schema.decodeOption(Dismissed)), (): ReadonlyArray<HealthSection> => [])
  )

  const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const begun = yield* Clock.currentTimeNanos
      const value = yield* effect
      return { value, millis: Number((yield* Clock.currentTimeNanos) - begun) / 1e6 }
    })

  const reach = (url: string) =>
    Effect.timeoutFail(probes.get(url), { duration: checkTimeout, onTimeout: () => new Error("there is no answer within 5 seconds") })

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

  const checkNode = (node: RelayNode): Effect.Effect<NodeReport> =>
    Effect.gen(function* () {
      const isEncrypted = node.ForceHTTP !== true
      const port = node.DERPPort === undefined || node.DERPPort === 0 ? "" : `:${node.DERPPort}`
      const host = node.HostName.includes(":") ? `[${node.HostName}]` : node.HostName
      const asked = yield* Effect.either(timed(reach(`${isEncrypted ? "https" : "http"}://${host}${port}/derp/latency-check`)))
      const found = (outcome: Outcome, latency: number, errors: ReadonlyArray<string>): NodeReport => ({
        ...outcome,
        node,
        can_exchange_messages: errors.length === 0,
        round_trip_ping: spanText(latency),
        round_trip_ping_ms: Math.floor(latency),
        uses_websocket: false,
        client_logs: [],
        client_errs: errors.length === 0 ? [] : [errors],
        stun: { Enabled: (node.STUNPort ?? 0) >= 0, CanSTUN: false, Error: null }
      })
      if (asked._tag === "Left") return found(failed("EDERP02", asked.left.message), 0, [asked.left.message])
      const { millis, value } = asked.right
      const reason = `The relay answers ${value.status}.`
      return value.status === 200 ? found(well(), millis, []) : found(failed("EDERP02", reason), millis, [reason])
    })

  const checkRegion = (region: RelayRegion): Effect.Effect<RegionReport> =>
    Effect.gen(function* () {
      const node_reports = yield* Effect.forEach(
        region.Nodes.filter(({ STUNOnly }) => STUNOnly !== true),
        checkNode,
        { concurrency }
      )
      const broken = node_reports.filter(({ healthy }) => !healthy)
      if (broken.length === 0) return { ...well(), region, node_reports }
      if (broken.length === node_reports.length) return { ...failed("EDERP01", "No relay of the region answers."), region, node_reports }
      return { ...well([{ code: "EDERP01", message: `${broken.length} relays of the region do not answer.` }]), region, node_reports }
    })

  const checkRelays = Effect.gen(function* () {
    const known = Object.entries((yield* relays.current).Regions)
    const regions = yield* Effect.forEach(known, ([id, region]) => Effect.map(checkRegion(region), (report) => [id, report] as const), {
      concurrency
    })
    const severity = worst(regions.map(([, report]) => report.severity))
    return {
      healthy: severity !== "error",
      severity,
      warnings: regions.flatMap(([, { warnings }]) => warnings),
      dismissed: false,
      ...(severity === "error" ? { error: "EDERP01: A region has no relay that answers." } : {}),
      regions: Object.fromEntries(regions),
      netcheck_logs: []
    }
  })

  const checkDaemons = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const daemons = yield* repository.daemons(Timestamp.minus(now, daemonTimeout), maximumDaemons)
    const items = daemons.map((provisioner_daemon) => ({
      provisioner_daemon,
      warnings: daemonWarnings(provisioner_daemon, { version: probes.version, apiVersion: provisionerApiVersion })
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

  const primary = {
    id: deploymentId,
    name: "primary",
    display_name: "Default",
    healthy: true,
    path_app_url: accessUrl,
    wildcard_hostname: wildcardAccessUrl
  }

  const checkProxies = Effect.gen(function* () {
    const found = yield* Effect.forEach(yield* proxies.list, (proxy) => Effect.map(proxyHealth.of(proxy), (status) => ({ proxy, status })))
    const broken = found.filter(({ status }) => status.status !== "ok")
    const warnings = [
      ...broken.map(({ proxy, status }) => ({
        code: "EWP04",
        message: `The proxy ${proxy.name} is ${status.status}. ${status.report.errors.join(" ")}`.trim()
      })),
      ...found.flatMap(({ status }) => status.report.warnings.map((message) => ({ code: "EWP04", message })))
    ]
    const outcome =
      found.length > 0 && broken.length === found.length ? { ...failed("EWP04", "No proxy works."), warnings } : well(warnings)
    const regions = found.map(({ proxy, status }) => ({
      id: proxy.id,
      name: proxy.name,
      display_name: proxy.display_name,
      healthy: status.status === "ok",
      path_app_url: proxy.url,
      wildcard_hostname: proxy.wildcard_hostname,
      status
    }))
    return { ...outcome, dismissed: false, workspace_proxies: { regions: [primary, ...regions] } }
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

  const run = (credential: string | undefined) =>
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

  const alone = yield* Effect.makeSemaphore(1)
  let last: { readonly report: HealthReport; readonly endedAt: number } | undefined

  /** The last report while it is fresh enough; callers that wait for one run share its report. */
  const current = (force: boolean, credential: string | undefined) =>
    Effect.gen(function* () {
      const asked = yield* Clock.currentTimeMillis
      const fresh = force ? asked : asked - Duration.toMillis(healthCheckRefresh)
      const kept = last
      if (!force && kept !== undefined && kept.endedAt > fresh) return kept.report
      return yield* alone.withPermits(1)(
        Effect.gen(function* () {
          const shared = last
          if (shared !== kept && shared !== undefined && shared.endedAt >= fresh) return shared.report
          const report = yield* run(credential)
          last = { report, endedAt: yield* Clock.currentTimeMillis }
          return report
        })
      )
    })

  return {
    /**
     * The health of the deployment as this process sees it: a report of the last minutes, or a new one with `force`. The credential is what the caller
     * sent, with which WebSockets are checked. Fails with `Forbidden` unless the actor may read debugging information, and with
     * `UpstreamUnavailable` if the checks do not end.
     */
    report: Effect.fn("Health.report")(function* (force: boolean, credential: string | undefined) {
      yield* debugInfo
      const report = yield* current(force, credential)
      const names = new Set(yield* dismissed)
      const shown = <A extends object>(name: HealthSection, section: A) => ({ ...section, dismissed: names.has(name) })
      return {
        ...report,
        access_url: shown("AccessURL", report.access_url),
        database: shown("Database", report.database),
        derp: shown("DERP", report.derp),
        websocket: shown("Websocket", report.websocket),
        workspace_proxy: shown("WorkspaceProxy", report.workspace_proxy)
      } satisfies HealthReport
    }),

    /** The dismissed checks. Fails with `Forbidden` unless the actor may read debugging information. */
    settings: Effect.zipRight(debugInfo, dismissed),

    /** Replaces the dismissed checks. Fails with `Forbidden` if the actor may not, and with `NotModified` for the stored ones. */
    dismiss: Effect.fn("Health.dismiss")(function* (sections: ReadonlyArray<HealthSection>) {
      yield* debugInfo
      yield* Access.authorize("update", AccessObjects.bare("deployment_config"))
      const changed = yield* transaction(
        Effect.gen(function* () {
          if (JSON.stringify(yield* dismissed) === JSON.stringify(sections)) return false
          yield* Audit.audited(
            { action: "write", type: "health_settings", id: yield* ids.next, target: "" },
            Effect.as(values.put(settingsKey, Schema.encodeSync(Dismissed)(sections)), {
              value: undefined,
              // An entry shows the new value alone
              before: { dismissed_healthchecks: null },
              after: { dismissed_healthchecks: sections }
            })
          )
          return true
        })
      )
      if (!changed) return yield* new NotModified()
      return sections
    }),

    /** The right to the echo that checks WebSockets. */
    echoRight: Effect.map(rightTo("debug_info", debugInfo), ([right]) => right)
  }
})

/** The deployment's opinion of its health. deployment.md §9. */
export class Health extends Context.Tag("@atelier/core/Health")<Health, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(Health, make), Deployment.layer, ProxyHealth.layer, RelayMaps.layer)
}
