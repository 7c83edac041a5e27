import { Effect, Option } from "effect"
import * as Audit from "../../audit/Audit.js"
import type { Entitlements } from "../../deployment/licenses/Entitlements.js"
import type { UserRepository } from "../../identity/users/UserRepository.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { hurriedTransaction } from "../../platform/store/Transactor.js"
import { nil } from "../../platform/texts/Uuid.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import type { TemplateRepository } from "../../templates/TemplateRepository.js"
import type { BuildOrders, BuildTarget } from "../builds/BuildOrders.js"
import { asleep, isDormant } from "./Dormancy.js"
import { type AutomaticBuild, dueAction, type LifeCycleAction, scheduledStart } from "./LifeCycleRules.js"
import type { Workspace, WorkspaceId } from "../Workspace.js"
import { workspaceSubject } from "../WorkspaceAudit.js"
import type { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import type { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import type { WorkspaceRepository } from "../WorkspaceRepository.js"

const isSame = (one: LifeCycleAction | null, other: LifeCycleAction | null): boolean =>
  one?.dormant === other?.dormant && one?.build?.transition === other?.build?.transition && one?.build?.reason === other?.build?.reason

export const actionOf = (
  { owner, template, workspace }: Pick<BuildTarget, "owner" | "template" | "workspace">,
  build: NonNullable<BuildTarget["previous"]>,
  now: Timestamp.Timestamp
) => dueAction({ workspace, build, policy: template, owner }, now)

/** A start moves the workspace to the active version if its owner or its template wants that. */
const versionOf = ({ template, workspace }: BuildTarget, { transition }: AutomaticBuild) =>
  transition === "start" && (template.require_active_version || workspace.automatic_updates === "always")
    ? template.active_version_id
    : undefined

/** The audit entry of a workspace that should have become dormant. */
export const recordFailedDormancy = (workspace: Workspace) =>
  Audit.record({ ...workspaceSubject(workspace, "write"), status_code: 500, request_id: nil })

interface TargetNeeds {
  readonly workspaces: WorkspaceRepository["Type"]
  readonly templates: TemplateRepository["Type"]
  readonly users: UserRepository["Type"]
  readonly features: Entitlements["Type"]
}

/** A workspace and what decides about it, as they are stored now. */
export const lifeCycleTarget =
  ({ workspaces, templates, users, features }: TargetNeeds) =>
  (id: WorkspaceId) =>
    Effect.gen(function* () {
      const workspace = yield* workspaces.details(id)
      const stored = Option.isSome(workspace) ? yield* templates.byId(workspace.value.template_id) : Option.none()
      const owner = Option.isSome(workspace) ? yield* users.byId(workspace.value.owner_id) : Option.none()
      if (Option.isNone(workspace) || Option.isNone(stored) || Option.isNone(owner)) return undefined
      const template = effectiveTemplate(stored.value, features)
      return { workspace: workspace.value, template, owner: owner.value, previous: workspace.value.latest_build }
    })

interface Needs extends TargetNeeds {
  readonly notifications: WorkspaceNotifications["Type"]
  readonly orders: BuildOrders["Type"]
  readonly builds: WorkspaceBuildRepository["Type"]
}

/** What the service does to a workspace by itself: its builds, its dormancy, and its next start. */
export const automaticActions = ({ workspaces, templates, users, features, notifications, orders, builds }: Needs) => {
  const targetOf = lifeCycleTarget({ workspaces, templates, users, features })

  /** Stores the next start of a scheduled workspace that has none stored, so that later ticks find it when it is due. */
  const schedule = (id: WorkspaceId, template: TemplateWithNames, build: NonNullable<BuildTarget["previous"]>) =>
    hurriedTransaction(
      Effect.gen(function* () {
        const workspace = Option.getOrUndefined(yield* workspaces.lock(id))
        if (workspace === undefined || workspace.next_start_at !== null || isDormant(workspace)) return
        const next = scheduledStart({ workspace, build, policy: template })
        if (next !== null) yield* workspaces.setNextStart(id, next)
      })
    )

  const makeDormant = (workspace: Workspace, template: TemplateWithNames) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const sleeping = { ...asleep(workspace, template, now), updated_at: now }
      yield* workspaces.updateSettings(sleeping)
      yield* Audit.record({
        ...workspaceSubject(workspace, "write"),
        status_code: 200,
        before: workspace,
        after: sleeping,
        request_id: nil
      })
      yield* notifications.dormant(sleeping, "the workspace was not used for the time that its template allows")
    })

  /**
   * Carries out an action that was decided on, unless the workspace needs another one by now. The rows that decide are locked, so of two
   * replicas one acts, and activity that was written before counts.
   */
  const carryOut = (target: BuildTarget & { readonly previous: NonNullable<BuildTarget["previous"]> }, action: LifeCycleAction) =>
    Effect.gen(function* () {
      const { id, owner_id } = target.workspace
      const prepared =
        action.build === null
          ? undefined
          : yield* orders.prepare(target, {
              ...action.build,
              template_version_id: versionOf(target, action.build),
              rich_parameter_values: []
            })
      yield* hurriedTransaction(
        Effect.gen(function* () {
          const stored = Option.getOrUndefined(yield* templates.lockShared(target.template.id))
          const workspace = Option.getOrUndefined(yield* workspaces.lock(id))
          const build = Option.getOrUndefined(yield* builds.lockLatest(id))
          const owner = Option.getOrUndefined(yield* users.byId(owner_id))
          if (stored === undefined || workspace === undefined || owner === undefined || build?.id !== target.previous.id) return
          const template = effectiveTemplate(stored, features)
          if (!isSame(actionOf({ workspace, template, owner }, build, yield* Timestamp.now), action)) return
          if (action.dormant) yield* makeDormant(workspace, template)
          if (prepared !== undefined) {
            yield* orders.enqueue(prepared)
            yield* notifications.buildQueued(prepared)
          }
          yield* publishWorkspaceEvent(owner_id, { kind: prepared === undefined ? "mtd_update" : "state_change", workspace_id: id })
        })
      )
    })

  return { targetOf, schedule, carryOut }
}
