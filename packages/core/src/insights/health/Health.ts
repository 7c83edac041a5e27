import { Clock, Context, Duration, Effect, Option, Schema } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { rightTo, type StreamRight } from "../../access/streams/StreamRights.js"
import * as Audit from "../../audit/Audit.js"
import { audited, auditedResource } from "../../audit/AuditedResource.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { DeploymentValues } from "../../deployment/DeploymentValues.js"
import { WorkspaceProxies } from "../../deployment/proxies/WorkspaceProxies.js"
import { RelayMaps } from "../../network/RelayMaps.js"
import { NotModified, type Forbidden, type UpstreamUnavailable } from "../../platform/Errors.js"
import * as Background from "../../platform/background/Background.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { transaction } from "../../platform/store/Transactor.js"
import { healthChecks } from "./HealthChecks.js"
import { type ProcessMember, ProcessGroup } from "../metrics/ProcessGroup.js"
import { HealthSection, type HealthReport } from "./HealthReport.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { Auditing } from "../../audit/Audit.js"

const settingsKey = "health_settings"
const Dismissed = Schema.parseJson(Schema.Array(HealthSection))

const debugInfo = Access.authorize("read", AccessObjects.bare("debug_info"))

const settingsAudit = auditedResource<{ readonly dismissed_healthchecks: ReadonlyArray<HealthSection> | null }>({
  type: "health_settings",
  endsRightsOf: "none",
  fields: { dismissed_healthchecks: audited }
})

/** The methods of {@link Health}. */
export interface HealthService {
  /**
   * The health of the deployment as this process sees it: a report of the last minutes, or a new one with `force`. The credential is what the caller
   * sent, with which WebSockets are checked. Fails with `Forbidden` unless the actor may read debugging information, and with
   * `UpstreamUnavailable` if the checks do not end.
   */
  readonly report: (
    force: boolean,
    credential: string | undefined
  ) => Effect.Effect<HealthReport, Forbidden | UpstreamUnavailable, CurrentActor>

  /** The state of this process's background work. Fails with `Forbidden` unless the actor may read debugging information. */
  readonly background: Effect.Effect<ReadonlyArray<Background.WorkHealth>, Forbidden, CurrentActor>

  /** The processes that serve this one's address; empty if it serves alone. Fails with `Forbidden` unless the actor may read debugging information. */
  readonly members: Effect.Effect<ReadonlyArray<ProcessMember>, Forbidden, CurrentActor>

  /** The dismissed checks. Fails with `Forbidden` unless the actor may read debugging information. */
  readonly settings: Effect.Effect<
    readonly ("DERP" | "Database" | "AccessURL" | "Websocket" | "WorkspaceProxy" | "ProvisionerDaemons")[],
    Forbidden,
    CurrentActor
  >

  /** Replaces the dismissed checks. Fails with `Forbidden` if the actor may not, and with `NotModified` for the stored ones. */
  readonly dismiss: (
    sections: ReadonlyArray<HealthSection>
  ) => Effect.Effect<
    readonly ("DERP" | "Database" | "AccessURL" | "Websocket" | "WorkspaceProxy" | "ProvisionerDaemons")[],
    Forbidden | NotModified,
    CurrentActor | Auditing
  >

  /** The right to the echo that checks WebSockets. */
  readonly echoRight: Effect.Effect<StreamRight, Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const values = yield* DeploymentValues
  const ids = yield* Ids
  const run = yield* healthChecks
  const { healthCheckRefresh } = yield* DeploymentOptions
  const group = yield* ProcessGroup

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

    settings: Effect.zipRight(debugInfo, dismissed),

    dismiss: Traced.fn("Health.dismiss")(function* (sections: ReadonlyArray<HealthSection>) {
      yield* debugInfo
      yield* Access.authorize("update", AccessObjects.bare("deployment_config"))
      const changed = yield* transaction(
        Effect.gen(function* () {
          if (JSON.stringify(yield* dismissed) === JSON.stringify(sections)) return false
          yield* Audit.audited(
            { action: "write", resource: settingsAudit, id: yield* ids.next, target: "" },
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

    background: Effect.zipRight(debugInfo, Background.health),

    members: Effect.zipRight(debugInfo, group === undefined ? Effect.succeed([]) : group.members),

    echoRight: Effect.map(
      rightTo("debug_info", () => debugInfo),
      ([right]) => right
    )
  }
})

/** The health of the deployment, as this process finds it. deployment.md §9. */
export class Health extends Context.Tag("@atelier/core/Health")<Health, HealthService>() {
  static readonly layer = standingOn(service(Health, make), WorkspaceProxies.layer, RelayMaps.layer)
}
