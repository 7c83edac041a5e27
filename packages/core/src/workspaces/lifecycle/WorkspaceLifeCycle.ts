/** Starts, stops, puts to sleep and deletes workspaces when their time has come. workspaces.md §5.5. */
import { Context, Effect } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { BuildOrders } from "../builds/BuildOrders.js"
import { tickOf } from "./LifeCycleRules.js"
import type { WorkspaceId } from "../Workspace.js"
import type { DueTimes } from "./WorkspaceLifeCycleRepository.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import type { Auditing } from "../../audit/Audit.js"
import { actionOf, recordFailedDormancy, automaticActions } from "./AutomaticActions.js"
import { actingForOwner, automaticWork, failureOf } from "./AutomaticWork.js"
import { page, itemTime, stopReminders } from "./StopReminders.js"
import type { Worker } from "../../platform/background/Worker.js"

const concurrency = 10

/** The methods of {@link WorkspaceLifeCycle}. */
export interface WorkspaceLifeCycleService {
  readonly worker: Worker<Auditing>
}

const make = Effect.gen(function* () {
  const work = yield* automaticWork
  const { features, repository } = work
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

  /** Workspaces whose action failed at this replica's last tick. */
  let failing: ReadonlySet<WorkspaceId> = new Set()

  const failed = (id: WorkspaceId, error: unknown) =>
    failing.has(id) ? Effect.void : Effect.logWarning("a workspace's automatic action failed and is tried again at each tick", error)

  const { remind } = stopReminders(work)

  const { targetOf, schedule, carryOut } = automaticActions(work)

  const tick = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const failedNow = new Set<WorkspaceId>()

    /** Each version is asked for once a tick. */
    const canBuild = yield* Effect.cachedFunction(work.canBuild)

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
          actingForOwner(owner.id),
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

  return {
    worker: { name: "workspace_life_cycle", every: autobuildPollInterval, run: tick }
  }
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
