/** Starts, stops, puts to sleep and deletes workspaces when their time has come. workspaces.md §5.5. */
import { Cause, Context, Duration, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { diff } from "../../audit/AuditedFields.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import * as Background from "../../platform/background/Background.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { hurriedTransaction } from "../../platform/store/Transactor.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildOrders, type BuildTarget } from "../builds/BuildOrders.js"
import { asleep, isDormant } from "./Dormancy.js"
import { type AutomaticBuild, dueAction, type LifeCycleAction, scheduledStart, tickOf } from "./LifeCycleRules.js"
import type { Workspace, WorkspaceId } from "../Workspace.js"
import { auditedWorkspace, workspaceSubject } from "../WorkspaceAudit.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { type DueTimes, WorkspaceLifeCycleRepository } from "./WorkspaceLifeCycleRepository.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import type { Auditing } from "../../audit/Audit.js"

/** Workspaces that are found at once, and those that are worked on at once. */
const page = 500
const concurrency = 10

/** How long the work on one workspace may take: an engine that reads its template may not answer. */
const itemTime = "1 minute"

/** How long a use of a workspace counts as recent, so that its deadline is extended soon. */
const recentUse = Duration.minutes(15)

/** The address of builds that no request caused. */
const ownAddress = "127.0.0.1"

const isSame = (one: LifeCycleAction | null, other: LifeCycleAction | null): boolean =>
  one?.dormant === other?.dormant && one?.build?.transition === other?.build?.transition && one?.build?.reason === other?.build?.reason

/** A refusal is logged as itself, and anything else with all that is known of it. */
const failureOf = (cause: Cause.Cause<unknown>): unknown => Option.getOrElse(Cause.failureOption(cause), () => cause)

/** The methods of {@link WorkspaceLifeCycle}. */
export interface WorkspaceLifeCycleService {
  readonly worker: { readonly name: string; readonly every: Duration.Duration; readonly run: Effect.Effect<void, never, Auditing> }
}

const make = Effect.gen(function* () {
  const repository = yield* WorkspaceLifeCycleRepository
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const templates = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const users = yield* UserRepository
  const jobs = yield* ProvisionerJobs
  const orders = yield* BuildOrders
  const notifications = yield* WorkspaceNotifications
  const features = yield* Entitlements
  const { autobuildPollInterval } = yield* DeploymentOptions

  const dueTimes = (tick: Timestamp.Timestamp): Effect.Effect<DueTimes> =>
    Effect.gen(function* () {
      const policies = features.has("advanced_template_scheduling")
      const limits = policies ? yield* repository.limits : []
      const before = (template_id: Uuid, limit: number) => (limit > 0 ? [{ template_id, before: Timestamp.minus(tick, limit) }] : [])
      return {
        tick,
        policies,
        failed_before: limits.flatMap(({ failure_ttl_ms, id }) => before(id, failure_ttl_ms)),
        unused_before: limits.flatMap(({ id, time_til_dormant_ms }) => before(id, time_til_dormant_ms))
      }
    })

  /** The workspace and what decides about it, as they are stored now. */
  const targetOf = (id: WorkspaceId) =>
    Effect.gen(function* () {
      const workspace = yield* workspaces.details(id)
      const stored = Option.isSome(workspace) ? yield* templates.byId(workspace.value.template_id) : Option.none()
      const owner = Option.isSome(workspace) ? yield* users.byId(workspace.value.owner_id) : Option.none()
      if (Option.isNone(workspace) || Option.isNone(stored) || Option.isNone(owner)) return undefined
      const template = effectiveTemplate(stored.value, features)
      return { workspace: workspace.value, template, owner: owner.value, previous: workspace.value.latest_build }
    })

  const actionOf = (
    { owner, template, workspace }: Pick<BuildTarget, "owner" | "template" | "workspace">,
    build: NonNullable<BuildTarget["previous"]>,
    now: Timestamp.Timestamp
  ) => dueAction({ workspace, build, policy: template, owner }, now)

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

  /** A start moves the workspace to the active version if its owner or its template wants that. */
  const versionOf = ({ template, workspace }: BuildTarget, { transition }: AutomaticBuild) =>
    transition === "start" && (template.require_active_version || workspace.automatic_updates === "always")
      ? template.active_version_id
      : undefined

  const makeDormant = (workspace: Workspace, template: TemplateWithNames) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const sleeping = { ...asleep(workspace, template, now), updated_at: now }
      yield* workspaces.updateSettings(sleeping)
      yield* Audit.record({
        ...workspaceSubject(workspace, "write"),
        status_code: 200,
        diff: diff("workspace", auditedWorkspace(workspace), auditedWorkspace(sleeping)),
        request_id: nil
      })
      yield* notifications.dormant(sleeping, "the workspace was not used for the time that its template allows")
    })

  /** Reminds owners of stops that are near. What the template calls near is at least a minute. */
  const remind = (now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const leads = yield* repository.reminderLeads
      const due = leads.map(({ id, time_til_autostop_notify_ms }) => ({
        template_id: id,
        until: Timestamp.plus(now, time_til_autostop_notify_ms)
      }))
      for (;;) {
        const stops = yield* repository.approachingStops(due, { now, used_after: Timestamp.minus(now, recentUse), limit: page })
        let failed = 0
        yield* Background.each(
          "autostop_reminders",
          stops,
          ({ build_id, deadline, id }) =>
            hurriedTransaction(
              Effect.gen(function* () {
                if (!(yield* repository.markReminded(build_id, deadline))) return
                const workspace = Option.getOrUndefined(yield* workspaces.byId(id))
                if (workspace !== undefined) yield* notifications.autostopReminder(workspace, deadline)
              })
            ),
          {
            within: itemTime,
            onFailure: ({ id }, cause) => {
              failed += 1
              return Effect.annotateLogs(Effect.logWarning("an owner could not be reminded of a stop", cause), { workspace: id })
            }
          }
        )
        // Those that failed would be found again at once
        if (stops.length < page || failed > 0) return
      }
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

  /** The audit entry of a workspace that should have become dormant. */
  const recordFailedDormancy = (workspace: Workspace) =>
    Audit.record({ ...workspaceSubject(workspace, "write"), status_code: 500, diff: {}, request_id: nil })

  /** Workspaces whose action failed at this replica's last tick. */
  let failing: ReadonlySet<WorkspaceId> = new Set()

  const failed = (id: WorkspaceId, error: unknown) =>
    failing.has(id) ? Effect.void : Effect.logWarning("a workspace's automatic action failed and is tried again at each tick", error)

  const tick = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const failedNow = new Set<WorkspaceId>()

    /** Whether a daemon that could build the template's active version was seen lately; each version is asked for once a tick. */
    const canBuild = yield* Effect.cachedFunction((versionId: Uuid) =>
      Effect.gen(function* () {
        const version = Option.getOrUndefined(yield* versions.byId(versionId))
        if (version === undefined) return false
        return ((yield* jobs.matchedProvisioners([version.job_id])).get(version.job_id)?.available ?? 0) > 0
      })
    )

    const act = (id: WorkspaceId) =>
      Effect.gen(function* () {
        const target = yield* targetOf(id)
        if (target === undefined) return
        const { owner, previous, template, workspace } = target
        if (workspace.next_start_at === null && workspace.autostart_schedule !== null) yield* schedule(id, template, previous)
        const action = actionOf(target, previous, now)
        if (action === null || !(yield* canBuild(template.active_version_id))) return
        yield* carryOut(target, action).pipe(
          // A caller was faster
          Effect.catchTag("Conflict", () => Effect.void),
          Effect.tapErrorCause(() => (action.dormant && !failing.has(id) ? recordFailedDormancy(workspace) : Effect.void)),
          Access.actingAs({ ...SystemActor.autostart, userId: owner.id, ip: ownAddress }),
          Effect.annotateLogs({ workspace: id })
        )
      })

    const times = yield* dueTimes(tickOf(now))
    let after: WorkspaceId | undefined
    for (;;) {
      const due = yield* repository.due(times, { after, limit: page })
      yield* Background.each("workspace_life_cycle", due, act, {
        concurrency,
        within: itemTime,
        onFailure: (id, cause) => {
          failedNow.add(id)
          return Effect.annotateLogs(failed(id, failureOf(cause)), { workspace: id })
        }
      })
      after = due.at(-1)
      if (due.length < page) break
    }
    failing = failedNow
    yield* remind(now)
  })

  return { worker: { name: "workspace_life_cycle", every: autobuildPollInterval, run: tick } }
})

/** The life of workspaces without their users: the service's own starts, stops, dormancy and deletions. */
export class WorkspaceLifeCycle extends Context.Tag("@atelier/core/WorkspaceLifeCycle")<WorkspaceLifeCycle, WorkspaceLifeCycleService>() {
  static readonly layer = standingOn(
    service(WorkspaceLifeCycle, make),
    BuildOrders.layer,
    ProvisionerJobs.layer,
    WorkspaceNotifications.layer
  )
}
