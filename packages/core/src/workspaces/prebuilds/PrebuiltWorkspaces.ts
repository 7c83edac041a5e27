/** How prebuilt workspaces are made, and given to the users who ask for one. templates-and-provisioning.md §5. */
import { Context, Effect, Option, type Scope } from "effect"
import { prebuildsUserId } from "../../access/decisions/Decision.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { GroupMemberRepository } from "../../groups/GroupMemberRepository.js"
import { GroupRepository } from "../../groups/GroupRepository.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { MemberRepository } from "../../organizations/MemberRepository.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, transaction, type Transactor } from "../../platform/store/Transactor.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { BuildOrders, type PreparedBuild } from "../builds/BuildOrders.js"
import { BuildStates } from "../builds/BuildStates.js"
import { awake } from "../lifecycle/Dormancy.js"
import { HandOvers, type PreparedHandOver } from "./HandOvers.js"
import { type PrebuildPreset, PrebuildRepository } from "./PrebuildRepository.js"
import { takenWorkspace, type Workspace } from "../Workspace.js"
import { poolChanges, publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { WorkspaceRepository, type WorkspaceDetails } from "../WorkspaceRepository.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { Invalid, Forbidden, Duplicate, Conflict, TimedOut, Unacceptable } from "../../platform/Errors.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

const owner_id = Uuid.make(prebuildsUserId)

/** The letters of base32 (RFC 4648 §6) in lower case. */
const base32 = "abcdefghijklmnopqrstuvwxyz234567"

/** 15 letters of nine random bytes. */
const randomSuffix = (random: Uint8Array): string => {
  const bits = Array.from(random, (byte) => byte.toString(2).padStart(8, "0")).join("")
  return (bits.match(/.{1,5}/g) ?? []).map((group) => base32[Number.parseInt(group.padEnd(5, "0"), 2)]).join("")
}

/** A prebuilt workspace with its new owner. */
export interface Claimed {
  readonly workspace: WorkspaceDetails
  /** To be run after the commit; nothing where the workspace is built. */
  readonly settle: Effect.Effect<void>
}

/** What a claim stands on. */
export interface Claimable {
  readonly ready: PreparedHandOver | undefined
  /** As it is stored. It is locked in the caller's transaction. */
  readonly template: TemplateWithNames
}

/** The methods of {@link PrebuiltWorkspaces}. */
export interface PrebuiltWorkspacesService {
  /** Makes the owner of prebuilt workspaces a member of an organization and of its group there. */
  readonly join: (organization_id: Uuid) => Effect.Effect<void, never, EventBus | Transactor>

  /** Creates a workspace of a preset and queues its first build. Fails with `Invalid` if the preset's values make no workspace. */
  readonly create: (
    preset: PrebuildPreset
  ) => Effect.Effect<void, Invalid | Forbidden | Duplicate | Conflict | Unacceptable | TimedOut, CurrentActor | EventBus | Transactor>

  /** A workspace that waits for a creation and can be handed over as it runs; undefined without one. It is kept from others of this process for the scope. */
  readonly ready: (
    prepared: PreparedBuild,
    workspace: Workspace
  ) => Effect.Effect<PreparedHandOver | undefined, never, CurrentActor | Scope.Scope>

  /**
   * Gives a prebuilt workspace of the chosen preset to the owner of a new workspace: the ready one as it runs, if it still waits and the owner's
   * quota allows it, or else another one with a build that makes it the owner's. Runs in the caller's transaction. Returns the claimed workspace, and
   * what follows the commit; undefined if none waits. §5.4.
   */
  readonly claim: (
    prepared: PreparedBuild,
    workspace: Workspace,
    from: Claimable
  ) => Effect.Effect<Claimed | undefined, Conflict, CurrentActor | EventBus>
}

/** A prebuilt workspace as it is stored before its first build. */
const newPrebuild = (
  preset: PrebuildPreset,
  { id, now, suffix }: { readonly id: Uuid; readonly now: Timestamp.Timestamp; readonly suffix: string }
): Workspace => ({
  ...awake,
  id,
  created_at: now,
  updated_at: now,
  owner_id,
  organization_id: preset.organization_id,
  template_id: preset.template_id,
  deleted: false,
  name: `prebuild-${suffix}`,
  autostart_schedule: null,
  next_start_at: null,
  ttl_ms: null,
  expires_at: null,
  automatic_updates: "never",
  last_used_at: now,
  favorite: false,
  user_acl: {},
  group_acl: {},
  task_id: null
})

const make = Effect.gen(function* () {
  const repository = yield* PrebuildRepository
  const workspaces = yield* WorkspaceRepository
  const templates = yield* TemplateRepository
  const users = yield* UserRepository
  const members = yield* MemberRepository
  const groups = yield* GroupRepository
  const groupMembers = yield* GroupMemberRepository
  const orders = yield* BuildOrders
  const states = yield* BuildStates
  const handOvers = yield* HandOvers
  const features = yield* Entitlements
  const cryptography = yield* Cryptography
  const ids = yield* Ids
  const { brand } = yield* DeploymentOptions

  /** The preset whose pool a creation takes from. */
  const poolOf = ({ chosen }: PreparedBuild) =>
    (chosen?.desired_prebuild_instances ?? 0) > 0 && features.has("workspace_prebuilds") ? chosen : undefined

  /** The group whose allowance administrators raise for prebuilt workspaces. §5.2. */
  const groupName = `${brand.toLowerCase()}prebuiltworkspaces`

  return {
    join: (organization_id: Uuid) =>
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
      ),

    create: (preset: PrebuildPreset) =>
      Effect.gen(function* () {
        const stored = Option.getOrUndefined(yield* templates.byId(preset.template_id))
        const owner = Option.getOrUndefined(yield* users.byId(owner_id))
        if (stored === undefined || owner === undefined) return
        const now = yield* Timestamp.now
        const workspace = newPrebuild(preset, { id: yield* ids.next, suffix: randomSuffix(yield* cryptography.randomBytes(9)), now })
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
      }),

    ready: (prepared: PreparedBuild, workspace: Workspace) =>
      poolOf(prepared) === undefined ? Effect.succeed(undefined) : handOvers.prepare(prepared, workspace),

    claim: (prepared: PreparedBuild, wanted: Workspace, { ready, template }: Claimable) =>
      Effect.gen(function* () {
        const chosen = poolOf(prepared)
        if (chosen === undefined) return undefined
        const { autostart_schedule, expires_at, last_used_at, name, next_start_at, owner_id: claimant, ttl_ms } = wanted
        const settings = { name, autostart_schedule, next_start_at, ttl_ms, expires_at }
        const fields = { owner_id: claimant, ...settings, last_used_at, updated_at: last_used_at }
        const taken = (choice: Parameters<PrebuildRepository["Type"]["claim"]>[2]) =>
          Effect.catchTag(repository.claim(chosen.id, fields, choice), "Duplicate", () => takenWorkspace(name)).pipe(
            Effect.tap((id) => (Option.isSome(id) ? publish(poolChanges, {}) : Effect.void)),
            Effect.flatMap(Option.match({ onNone: () => Effect.succeedNone, onSome: workspaces.details })),
            Effect.map(Option.getOrUndefined)
          )

        const running = ready !== undefined && (yield* handOvers.affords(wanted, ready)) ? yield* taken(ready.prebuild) : undefined
        if (ready !== undefined && running !== undefined) {
          yield* handOvers.store(prepared, running, { ready, template })
          return { workspace: running, settle: ready.settle }
        }
        // Others of this process are about to take those that they have prepared
        const claimed = yield* taken({ except: handOvers.reserved(ready) })
        if (claimed === undefined) return undefined
        yield* orders.enqueue({
          ...prepared,
          target: { ...prepared.target, workspace: claimed, previous: claimed.latest_build },
          order: { ...prepared.order, prebuilt_workspace_stage: 2 },
          state: yield* states.of(claimed.latest_build.id)
        })
        yield* publishWorkspaceEvent(owner_id, { kind: "state_change", workspace_id: claimed.id })
        return { workspace: claimed, settle: Effect.void }
      })
  }
})

/** Prebuilt workspaces, from their creation to the users who claim them. */
export class PrebuiltWorkspaces extends Context.Tag("@atelier/core/PrebuiltWorkspaces")<PrebuiltWorkspaces, PrebuiltWorkspacesService>() {
  static readonly layer = standingOn(service(PrebuiltWorkspaces, make), BuildOrders.layer, BuildStates.layer, HandOvers.layer)
}
