/** How many workspaces are kept that are made before their users ask for them. templates-and-provisioning.md §5. */
import { Array as Arr, Context, Duration, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { audited, auditedResource } from "../../audit/AuditedResource.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements, requireFeature } from "../../deployment/licenses/Entitlements.js"
import * as Background from "../../platform/background/Background.js"
import { type EventBus, listen } from "../../platform/events/EventBus.js"
import { NotModified, type Forbidden, type NotFound } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Measure from "../../platform/Measure.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, transaction } from "../../platform/store/Transactor.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { missingTemplate, type TemplateId } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { visibleTemplate } from "../../templates/VisibleTemplate.js"
import { PrebuildRepository, type PresetNames } from "./PrebuildRepository.js"
import { PrebuiltWorkspaces } from "./PrebuiltWorkspaces.js"
import { ownAddress } from "../builds/OwnAddress.js"
import { WorkspaceBuildCreation } from "../builds/WorkspaceBuildCreation.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { Auditing } from "../../audit/Audit.js"
import { poolChanges } from "../watching/WorkspaceEvents.js"
import { poolActions } from "./PoolActions.js"
import { quietAfter } from "./QuietAfter.js"
import type { Worker } from "../../platform/background/Worker.js"

/** Presets that are worked on at once. */
const concurrency = 5

const cycleSeconds = Measure.histogram(
  "prebuilds_reconciliation_duration_seconds",
  "How long the reconciliation of prebuilt workspaces took.",
  [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
  []
)

const settingsAudit = auditedResource<{ readonly reconciliation_paused: boolean }>({
  type: "prebuilds_settings",
  endsRightsOf: "none",
  fields: { reconciliation_paused: audited }
})

/** The methods of {@link Prebuilds}. */
export interface PrebuildsService {
  /** Whether the reconciliation is paused. §5.5. */
  readonly settings: () => Effect.Effect<{ readonly reconciliation_paused: boolean }, Forbidden>

  /**
   * Pauses or resumes the reconciliation; claims go on. Fails with `Forbidden` if the actor may not change the deployment, and with
   * `NotModified` for what is stored. §5.5.
   */
  readonly changeSettings: (
    reconciliation_paused: boolean
  ) => Effect.Effect<{ readonly reconciliation_paused: boolean }, Forbidden | NotModified, CurrentActor | Auditing>

  /**
   * Has the prebuilt workspaces of a template's active version replaced. Returns the names of its presets. Fails with `NotFound` if the
   * actor may not change the template. §5.5.
   */
  readonly invalidate: (
    id: TemplateId
  ) => Effect.Effect<{ readonly invalidated: ReadonlyArray<PresetNames> }, Forbidden | NotFound, CurrentActor | EventBus>

  readonly worker: Worker<Auditing>
}

const make = Effect.gen(function* () {
  const repository = yield* PrebuildRepository
  const templates = yield* TemplateRepository
  const prebuilt = yield* PrebuiltWorkspaces
  const jobs = yield* ProvisionerJobs
  const builds = yield* WorkspaceBuildCreation
  const features = yield* Entitlements
  const options = yield* DeploymentOptions
  const ids = yield* Ids

  const changes = yield* quietAfter
  // Every replica hears of it: also the one whose run is under way, which others wait for in vain
  yield* listen(poolChanges, changes.change)
  // Creations at once have the machine for themselves until then
  const { isSettling: isWanted, settled: wanted } = changes

  const { act } = poolActions({ options, builds, prebuilt, repository, jobs })

  const cycle = Effect.gen(function* () {
    if (!features.has("workspace_prebuilds")) return
    if (Option.getOrElse(yield* repository.isPaused, () => false)) return
    const presets = yield* repository.presets
    if (presets.length === 0) return
    const existing = Arr.groupBy(yield* repository.existing, ({ preset_id }) => preset_id)
    const organizations = new Set(presets.map(({ organization_id }) => organization_id))
    yield* Background.each("prebuild_reconciliation", organizations, prebuilt.join)
    const now = yield* Timestamp.now
    yield* Background.each("prebuild_reconciliation", presets, (preset) => act(preset, existing[preset.id] ?? [], now), { concurrency })
  }).pipe(Access.actingAs({ ...SystemActor.prebuildsOrchestrator, ip: ownAddress }))

  const measured = Effect.map(Effect.timed(cycle), ([took]) => cycleSeconds().update(Duration.toSeconds(took)))

  return {
    settings: Traced.fn("Prebuilds.settings")(function* () {
      yield* requireFeature("workspace_prebuilds")
      return { reconciliation_paused: Option.getOrElse(yield* repository.isPaused, () => false) }
    }),

    changeSettings: Traced.fn("Prebuilds.changeSettings")(function* (reconciliation_paused: boolean) {
      yield* requireFeature("workspace_prebuilds")
      yield* Access.authorize("update", AccessObjects.bare("deployment_config"))
      const isChanged = yield* transaction(
        Effect.gen(function* () {
          const before = Option.getOrElse(yield* repository.lockPaused, () => false)
          if (before === reconciliation_paused) return false
          yield* Audit.audited(
            { action: "write", resource: settingsAudit, id: yield* ids.next, target: "" },
            Effect.as(repository.setPaused(reconciliation_paused), {
              value: undefined,
              // An entry shows the new value alone, against that of a deployment without one
              before: { reconciliation_paused: false },
              after: { reconciliation_paused }
            })
          )
          return true
        })
      )
      if (!isChanged) return yield* new NotModified()
      if (!reconciliation_paused) yield* publish(poolChanges, {})
      return { reconciliation_paused }
    }),

    invalidate: Traced.fn("Prebuilds.invalidate")(function* (id: TemplateId) {
      yield* requireFeature("workspace_prebuilds")
      const template = yield* Effect.flatMap(templates.byId(id), visibleTemplate)
      yield* Access.authorizeOrHide("update", AccessObjects.template(template), missingTemplate)
      const invalidated = yield* repository.invalidate(id, yield* Timestamp.now)
      yield* publish(poolChanges, {})
      return { invalidated }
    }),

    worker: { name: "prebuild_reconciliation", every: options.workspacePrebuildsReconciliationInterval, run: measured, wanted, isWanted }
  }
})

/** Prebuilt workspaces: how many there are, and whether they are kept at all. */
export class Prebuilds extends Context.Tag("@atelier/core/Prebuilds")<Prebuilds, PrebuildsService>() {
  static readonly layer = standingOn(
    service(Prebuilds, make),
    PrebuiltWorkspaces.layer,
    ProvisionerJobs.layer,
    WorkspaceBuildCreation.layer
  )
}
