import { Clock, Context, Duration, Effect, Option, Schema } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { rightTo } from "../../access/streams/StreamRights.js"
import * as Audit from "../../audit/Audit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { DeploymentValues } from "../../deployment/DeploymentValues.js"
import { WorkspaceProxies } from "../../deployment/proxies/WorkspaceProxies.js"
import { RelayMaps } from "../../network/RelayMaps.js"
import { NotModified } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { transaction } from "../../platform/store/Transactor.js"
import { healthChecks } from "./HealthChecks.js"
import { HealthSection, type HealthReport } from "./HealthReport.js"
import * as Traced from "../../platform/wiring/Traced.js"

const settingsKey = "health_settings"
const Dismissed = Schema.parseJson(Schema.Array(HealthSection))

const debugInfo = Access.authorize("read", AccessObjects.bare("debug_info"))

const make = Effect.gen(function* () {
  const values = yield* DeploymentValues
  const ids = yield* Ids
  const run = yield* healthChecks
  const { healthCheckRefresh } = yield* DeploymentOptions

  const dismissed = Effect.map(values.get(settingsKey), (stored) =>
    Option.getOrElse(Option.flatMap(stored, Schema.decodeOption(Dismissed)), (): ReadonlyArray<HealthSection> => [])
  )

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
    report: Traced.fn("Health.report")(function* (force: boolean, credential: string | undefined) {
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
    dismiss: Traced.fn("Health.dismiss")(function* (sections: ReadonlyArray<HealthSection>) {
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

/** The health of the deployment, as this process finds it. deployment.md §9. */
export class Health extends Context.Tag("@atelier/core/Health")<Health, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(service(Health, make), WorkspaceProxies.layer, RelayMaps.layer)
}
