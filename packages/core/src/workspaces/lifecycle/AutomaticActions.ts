import { Array as Arr, Effect, Option } from "effect"
import * as Audit from "../../audit/Audit.js"
import type { Entitlements } from "../../deployment/licenses/Entitlements.js"
import type { UserRepository } from "../../identity/users/UserRepository.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { hurriedTransaction } from "../../platform/store/Transactor.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import type { TemplateRepository } from "../../templates/TemplateRepository.js"
import type { BuildOrders, BuildTarget, PreparedBuild } from "../builds/BuildOrders.js"
import type { BuildReads } from "../builds/BuildReads.js"
import { actingForOwner, actorFor } from "./AutomaticWork.js"
import { asleep, isDormant } from "./Dormancy.js"
import { type AutomaticBuild, dueAction, type LifeCycleAction, scheduledStart } from "./LifeCycleRules.js"
import type { Workspace, WorkspaceId } from "../Workspace.js"
import { workspaceSubject } from "../WorkspaceAudit.js"
import type { BuildDetails, WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
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

/** A workspace and what decides about it. */
export interface LifeCycleTarget extends BuildTarget {
  readonly previous: NonNullable<BuildTarget["previous"]>
}

/** Each id once. */
const distinct = (ids: ReadonlyArray<Uuid>): ReadonlyArray<Uuid> => [...new Set(ids)]

const byId = <A extends { readonly id: Uuid }>(rows: ReadonlyArray<A>): ReadonlyMap<Uuid, A> => new Map(rows.map((row) => [row.id, row]))

/** Workspaces and what decides about them, as they are stored now. Three statements, for any number of workspaces. */
export const lifeCycleTargets =
  ({ workspaces, templates, users, features }: TargetNeeds) =>
  (ids: ReadonlyArray<WorkspaceId>): Effect.Effect<ReadonlyArray<LifeCycleTarget>> =>
    Effect.gen(function* () {
      const found = yield* workspaces.detailsOf(ids)
      if (found.length === 0) return []
      const stored = byId(yield* templates.byIds(distinct(found.map(({ template_id }) => template_id))))
      const owners = byId(yield* users.byIds(distinct(found.map(({ owner_id }) => owner_id))))
      return found.flatMap((workspace) => {
        const template = stored.get(workspace.template_id)
        const owner = owners.get(workspace.owner_id)
        if (template === undefined || owner === undefined) return []
        return [{ workspace, template: effectiveTemplate(template, features), owner, previous: workspace.latest_build }]
      })
    })

/** A workspace and what decides about it, as they are stored now. */
export const lifeCycleTarget = (needs: TargetNeeds) => {
  const targetsOf = lifeCycleTargets(needs)
  return (id: WorkspaceId) => Effect.map(targetsOf([id]), ([target]) => target)
}

/** An action that was decided on, with the build that it queues. */
export interface PreparedAction {
  readonly target: LifeCycleTarget
  readonly action: LifeCycleAction
  readonly prepared: PreparedBuild | undefined
}

interface Needs extends TargetNeeds {
  readonly notifications: WorkspaceNotifications["Type"]
  readonly orders: BuildOrders["Type"]
  readonly builds: WorkspaceBuildRepository["Type"]
}

/** What the service does to a workspace by itself: its builds, its dormancy, and its next start. */
export const automaticActions = ({ workspaces, templates, users, features, notifications, orders, builds }: Needs) => {
  const targetsOf = lifeCycleTargets({ workspaces, templates, users, features })

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

  const prepare = (target: LifeCycleTarget, action: LifeCycleAction, reads: BuildReads) =>
    Effect.gen(function* () {
      if (action.build === null) return { target, action, prepared: undefined } satisfies PreparedAction
      const order = { ...action.build, template_version_id: versionOf(target, action.build), rich_parameter_values: [] }
      return { target, action, prepared: yield* orders.prepare(target, order, reads) } satisfies PreparedAction
    })

  /** The templates, locked against deletion in the order of their ids, so that transactions with several do not wait for each other. */
  const lockedTemplates = (actions: ReadonlyArray<PreparedAction>) =>
    Effect.map(Effect.forEach(distinct(actions.map(({ target }) => target.template.id)).toSorted(), templates.lockShared), (found) =>
      byId(Arr.getSomes(found))
    )

  interface Locked {
    readonly found: ReadonlyArray<Workspace>
    readonly latest: ReadonlyArray<BuildDetails>
  }

  /**
   * Carries out actions that were decided on, unless a workspace needs another one by now, in one transaction. The rows that decide are locked, so of two
   * replicas one acts, and activity that was written before counts. Answers the workspaces that are not among the locked ones. If one action fails, none
   * is carried out.
   */
  const carryOutOn = (lock: Effect.Effect<Locked>, actions: ReadonlyArray<PreparedAction>) =>
    hurriedTransaction(
      Effect.gen(function* () {
        const stored = yield* lockedTemplates(actions)
        const locked = yield* lock
        const found = byId(locked.found)
        const latest = new Map(locked.latest.map((build) => [build.workspace_id, build]))
        const owners = byId(yield* users.byIds(distinct(actions.map(({ target }) => target.workspace.owner_id))))
        const now = yield* Timestamp.now
        const carriedOut: Array<PreparedAction> = []
        const leftOut: Array<WorkspaceId> = []
        for (const one of actions) {
          const { action, target } = one
          const { id, owner_id } = target.workspace
          const [row, workspace, build, owner] = [stored.get(target.template.id), found.get(id), latest.get(id), owners.get(owner_id)]
          if (workspace === undefined || build === undefined) leftOut.push(id)
          if (row === undefined || workspace === undefined || owner === undefined || build?.id !== target.previous.id) continue
          const template = effectiveTemplate(row, features)
          if (!isSame(actionOf({ workspace, template, owner }, build, now), action)) continue
          if (action.dormant) yield* actingForOwner(owner_id)(makeDormant(workspace, template))
          carriedOut.push(one)
        }
        const ordered = carriedOut.flatMap(({ prepared, target }) =>
          prepared === undefined ? [] : [{ prepared, actor: actorFor(target.workspace.owner_id) }]
        )
        if (ordered.length > 0) yield* orders.enqueueAll(ordered)
        for (const { prepared, target } of carriedOut) {
          const { id, owner_id } = target.workspace
          if (prepared !== undefined) yield* actingForOwner(owner_id)(notifications.buildQueued(prepared))
          yield* publishWorkspaceEvent(owner_id, { kind: prepared === undefined ? "mtd_update" : "state_change", workspace_id: id })
        }
        return leftOut
      })
    )

  /** Carries out an action once no other transaction has the workspace locked. */
  const carryOut = (action: PreparedAction) => {
    const { id } = action.target.workspace
    const lock = Effect.all({
      found: Effect.map(workspaces.lock(id), Option.toArray),
      latest: Effect.map(builds.lockLatest(id), Option.toArray)
    })
    return Effect.asVoid(carryOutOn(lock, [action]))
  }

  /** Carries out several actions. Answers the workspaces that it has left out, because another transaction has locked them. */
  const carryOutFree = (actions: ReadonlyArray<PreparedAction>) => {
    const ids = actions.map(({ target }) => target.workspace.id)
    return carryOutOn(Effect.all({ found: workspaces.lockFree(ids), latest: builds.lockFreeLatest(ids) }), actions)
  }

  return { targetsOf, schedule, prepare, carryOut, carryOutFree }
}
