/** Workspaces that are made before their users ask for them. templates-and-provisioning.md §5. */
import { Array as Arr, Context, Effect, Layer, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { prebuildsUserId } from "../access/Decision.js"
import { SystemActor } from "../access/SystemActor.js"
import * as Audit from "../audit/Audit.js"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import { Entitlements, requireFeature } from "../deployment/Entitlements.js"
import { GroupMemberRepository } from "../groups/GroupMemberRepository.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import { MemberRepository } from "../organizations/MemberRepository.js"
import { Cryptography } from "../platform/Cryptography.js"
import { Invalid, NotModified } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import { standingOn } from "../platform/Standing.js"
import * as Timestamp from "../platform/Timestamp.js"
import { transaction } from "../platform/Transactor.js"
import { Uuid } from "../platform/Uuid.js"
import { ProvisionerJobs } from "../provisioning/ProvisionerJobs.js"
import { effectiveTemplate } from "../templates/EffectiveTemplate.js"
import { missingTemplate, type TemplateId } from "../templates/Template.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { visibleTemplate } from "../templates/VisibleTemplate.js"
import { BuildOrders } from "./BuildOrders.js"
import { awake } from "./Dormancy.js"
import { reconcile } from "./PrebuildReconciliation.js"
import { type PrebuildPreset, PrebuildRepository } from "./PrebuildRepository.js"
import type { Workspace } from "./Workspace.js"
import { WorkspaceBuildCreation } from "./WorkspaceBuildCreation.js"
import { publishWorkspaceEvent } from "./WorkspaceEvents.js"
import { WorkspaceRepository } from "./WorkspaceRepository.js"

const owner_id = Uuid.make(prebuildsUserId)

/** Presets that are worked on at once. */
const concurrency = 5

/** The address of builds that no request caused. */
const ownAddress = "127.0.0.1"

/** The letters of base32 (RFC 4648 §6) in lower case. */
const base32 = "abcdefghijklmnopqrstuvwxyz234567"

/** 15 letters of nine random bytes. */
const randomSuffix = (random: Uint8Array): string => {
  const bits = Array.from(random, (byte) => byte.toString(2).padStart(8, "0")).join("")
  return (bits.match(/.{1,5}/g) ?? []).map((group) => base32[Number.parseInt(group.padEnd(5, "0"), 2)]).join("")
}

const make = Effect.gen(function* () {
  const repository = yield* PrebuildRepository
  const workspaces = yield* WorkspaceRepository
  const templates = yield* TemplateRepository
  const users = yield* UserRepository
  const members = yield* MemberRepository
  const groups = yield* GroupRepository
  const groupMembers = yield* GroupMemberRepository
  const jobs = yield* ProvisionerJobs
  const orders = yield* BuildOrders
  const builds = yield* WorkspaceBuildCreation
  const features = yield* Entitlements
  const options = yield* DeploymentOptions
  const cryptography = yield* Cryptography
  const ids = yield* Ids

  const limits = {
    backoffInterval: options.workspacePrebuildsReconciliationBackoffInterval,
    lookback: options.workspacePrebuildsReconciliationBackoffLookbackPeriod,
    hardLimit: options.workspacePrebuildsFailureHardLimit
  }

  /** The group whose allowance administrators raise for prebuilt workspaces. §5.2. */
  const groupName = `${options.brand.toLowerCase()}prebuiltworkspaces`

  /** Makes the owner of prebuilt workspaces a member of an organization and of its group there. */
  const join = (organization_id: Uuid) =>
    transaction(
      Effect.gen(function* () {
        const now = yield* Timestamp.now
        yield* members.insert({ organization_id, user_id: owner_id, created_at: now, updated_at: now, roles: [] })
        yield* groupMembers.lock(organization_id, [owner_id])
        if (!(yield* groups.lockOrganization(organization_id))) return
        const found = Option.getOrUndefined(yield* groups.byName(organization_id, groupName))
        const id = found?.id ?? (yield* ids.next)
        if (found === undefined) {
          yield* groups.insert({
            id,
            organization_id,
            name: groupName,
            display_name: "Prebuilt Workspaces",
            avatar_url: "",
            quota_allowance: 0,
            source: "user"
          })
        }
        if ((yield* groupMembers.ids(id, [owner_id])).length === 0) yield* groupMembers.add(id, [owner_id])
      })
    ).pipe(
      // A replica or an administrator was faster
      Effect.catchTag("Duplicate", () => Effect.void)
    )

  /** Creates a workspace of a preset and queues its first build. Fails with `Invalid` if the preset's values make no workspace. */
  const create = (preset: PrebuildPreset) =>
    Effect.gen(function* () {
      const stored = Option.getOrUndefined(yield* templates.byId(preset.template_id))
      const owner = Option.getOrUndefined(yield* users.byId(owner_id))
      if (stored === undefined || owner === undefined) return
      const now = yield* Timestamp.now
      const workspace: Workspace = {
        ...awake,
        id: yield* ids.next,
        created_at: now,
        updated_at: now,
        owner_id,
        organization_id: preset.organization_id,
        template_id: preset.template_id,
        deleted: false,
        name: `prebuild-${randomSuffix(yield* cryptography.randomBytes(9))}`,
        autostart_schedule: null,
        next_start_at: null,
        ttl_ms: null,
        automatic_updates: "never",
        last_used_at: now,
        favorite: false,
        user_acl: {},
        group_acl: {},
        task_id: null
      }
      const prepared = yield* orders.prepare(
        { workspace, template: effectiveTemplate(stored, features), owner, previous: null },
        {
          transition: "start",
          reason: "initiator",
          template_version_id: preset.template_version_id,
          template_version_preset_id: preset.id,
          rich_parameter_values: preset.parameters,
          prebuilt_workspace_stage: 1
        }
      )
      yield* transaction(
        Effect.gen(function* () {
          if (Option.isNone(yield* templates.lockShared(preset.template_id))) return
          if (!(yield* workspaces.insert(workspace))) return
          yield* orders.enqueue(prepared)
          yield* publishWorkspaceEvent(owner_id, { kind: "state_change", workspace_id: workspace.id })
        })
      )
    })

  const remove = (id: Uuid, orphan: boolean) => builds.create(id, { transition: "delete", rich_parameter_values: [], orphan })

  /** Logs why an action did not succeed; the next cycle decides again. */
  const attempted = <A, E extends { readonly _tag: string }, R>(action: Effect.Effect<A, E, R>) =>
    action.pipe(
      Effect.asVoid,
      // A user was faster
      Effect.catchIf(
        ({ _tag }) => _tag === "Conflict",
        () => Effect.void
      ),
      Effect.catchAllCause((cause) => Effect.logWarning("a prebuilt workspace could not be changed and is tried again", cause))
    )

  /** Creates workspaces until one is refused, which stops further attempts with this version. */
  const createAll = (preset: PrebuildPreset, count: number) =>
    Effect.gen(function* () {
      for (let made = 0; made < count; made++) {
        const refusal = yield* create(preset).pipe(
          Effect.as(undefined),
          Effect.catchIf(
            (error): error is Invalid => error._tag === "Invalid",
            (error) => Effect.succeed(error)
          )
        )
        if (refusal === undefined) continue
        yield* Effect.logWarning("prebuilt workspaces of a preset are refused", refusal)
        return yield* repository.setStatus(preset.id, "validation_failed")
      }
    })

  const act = (preset: PrebuildPreset, existing: Effect.Effect.Success<typeof repository.existing>, now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const actions = reconcile(preset, existing, limits, now)
      if (actions.status !== preset.status) yield* repository.setStatus(preset.id, actions.status)
      const jobOf = new Map(existing.map(({ id, job_id }) => [id, job_id]))
      yield* Effect.forEach(
        actions.abandon,
        (id) => {
          const job = jobOf.get(id)
          return job === undefined
            ? Effect.void
            : attempted(Effect.zipRight(jobs.cancel(job, { expectStatus: "pending" }), remove(id, true)))
        },
        { discard: true }
      )
      yield* Effect.forEach(actions.delete, (id) => attempted(remove(id, false)), { discard: true })
      yield* attempted(createAll(preset, actions.create))
    }).pipe(Effect.annotateLogs({ preset: preset.id, template: preset.template_id }))

  const cycle = Effect.gen(function* () {
    if (!features.has("workspace_prebuilds")) return
    if (Option.getOrElse(yield* repository.isPaused, () => false)) return
    const presets = yield* repository.presets
    if (presets.length === 0) return
    const existing = Arr.groupBy(yield* repository.existing, ({ preset_id }) => preset_id)
    const organizations = new Set(presets.map(({ organization_id }) => organization_id))
    yield* Effect.forEach(organizations, join, { discard: true })
    const now = yield* Timestamp.now
    yield* Effect.forEach(presets, (preset) => act(preset, existing[preset.id] ?? [], now), { concurrency, discard: true })
  }).pipe(Access.actingAs({ ...SystemActor.prebuildsOrchestrator, ip: ownAddress }))

  return {
    /** Whether the reconciliation is paused. §5.5. */
    settings: Effect.fn("Prebuilds.settings")(function* () {
      yield* requireFeature("workspace_prebuilds")
      return { reconciliation_paused: Option.getOrElse(yield* repository.isPaused, () => false) }
    }),

    /**
     * Pauses or resumes the reconciliation; claims go on. Fails with `Forbidden` if the actor may not change the deployment, and with
     * `NotModified` for what is stored. §5.5.
     */
    changeSettings: Effect.fn("Prebuilds.changeSettings")(function* (reconciliation_paused: boolean) {
      yield* requireFeature("workspace_prebuilds")
      yield* Access.authorize("update", AccessObjects.bare("deployment_config"))
      const changed = yield* transaction(
        Effect.gen(function* () {
          const before = Option.getOrElse(yield* repository.lockPaused, () => false)
          if (before === reconciliation_paused) return false
          yield* Audit.audited(
            { action: "write", type: "prebuilds_settings", id: yield* ids.next, target: "" },
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
      if (!changed) return yield* new NotModified()
      return { reconciliation_paused }
    }),

    /**
     * Has the prebuilt workspaces of a template's active version replaced. Returns the names of its presets. Fails with `NotFound` if the
     * actor may not change the template. §5.5.
     */
    invalidate: Effect.fn("Prebuilds.invalidate")(function* (id: TemplateId) {
      yield* requireFeature("workspace_prebuilds")
      const template = yield* Effect.flatMap(templates.byId(id), visibleTemplate)
      yield* Access.authorizeOrHide("update", AccessObjects.template(template), missingTemplate)
      return { invalidated: yield* repository.invalidate(id, yield* Timestamp.now) }
    }),

    worker: { name: "prebuild_reconciliation", every: options.workspacePrebuildsReconciliationInterval, run: cycle }
  }
})

/** Prebuilt workspaces: how many there are, and whether they are kept at all. */
export class Prebuilds extends Context.Tag("@atelier/core/Prebuilds")<Prebuilds, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(Prebuilds, make), BuildOrders.layer, ProvisionerJobs.layer, WorkspaceBuildCreation.layer)
}
