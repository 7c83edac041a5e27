/** Starts, stops, puts to sleep and deletes workspaces when their time has come. workspaces.md §5.5. */
import { Array as Arr, type Cause, Context, Effect } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import { nextTurn } from "../../platform/background/Turns.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { JobQueueRepository } from "../../provisioning/queue/JobQueueRepository.js"
import { BuildOrders } from "../builds/BuildOrders.js"
import { type LifeCycleAction, tickOf } from "./LifeCycleRules.js"
import type { WorkspaceId } from "../Workspace.js"
import type { DueTimes } from "./WorkspaceLifeCycleRepository.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import type { Auditing } from "../../audit/Audit.js"
import type { Conflict } from "../../platform/Errors.js"
import type { BuildReads } from "../builds/BuildReads.js"
import { actionOf, type LifeCycleTarget, type PreparedAction, recordFailedDormancy, automaticActions } from "./AutomaticActions.js"
import { actingForOwner, automaticWork, failureOf } from "./AutomaticWork.js"
import { page, itemTime, stopReminders } from "./StopReminders.js"
import type { Worker } from "../../platform/background/Worker.js"

/** Workspaces that are worked on at once where each is worked on alone. */
const concurrency = 10

/**
 * Workspaces that are read together, and whose builds are queued in one transaction. Requests wait for its end on SQLite, and the states that engines keep of
 * these builds are held in memory: one may have megabytes.
 */
const together = 10

/** Groups of workspaces that are acted on at once where the store is a server of its own: this process goes on while the store works. */
const groupsOfShared = 2

/** Bytes of the states that one transaction stores for several workspaces. They are encrypted and written in it. */
const togetherBytes = 2 ** 20

/** The actions whose states are too large for a transaction with others, and the rest. */
const bySize = (ready: ReadonlyArray<PreparedAction>) => {
  let bytes = 0
  return Arr.partition(ready, ({ prepared }) => {
    const size = prepared?.state.length ?? 0
    if (bytes + size > togetherBytes) return false
    bytes += size
    return true
  })
}

/** The methods of {@link WorkspaceLifeCycle}. */
export interface WorkspaceLifeCycleService {
  readonly worker: Worker<Auditing>
}

const make = Effect.gen(function* () {
  const work = yield* automaticWork
  const { features, orders, repository } = work
  const { autobuildPollInterval } = yield* DeploymentOptions
  const { isShared } = yield* JobQueueRepository
  const groupsAtOnce = isShared ? groupsOfShared : 1

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

  const { targetsOf, schedule, prepare, carryOut, carryOutFree } = automaticActions(work)

  /** Does a part of an action as the workspace's owner. If it fails, an action that was to make the workspace dormant is recorded. */
  const attempt = <A, E, R>({ owner, workspace }: LifeCycleTarget, action: LifeCycleAction, part: Effect.Effect<A, E | Conflict, R>) =>
    part.pipe(
      // A caller was faster
      Effect.catchTag("Conflict", () => Effect.void),
      Effect.tapErrorCause(() => (action.dormant && !failing.has(workspace.id) ? recordFailedDormancy(workspace) : Effect.void)),
      actingForOwner(owner.id),
      Effect.annotateLogs({ workspace: workspace.id })
    )

  const tick = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const failedNow = new Set<WorkspaceId>()

    /** Each version is asked for once a tick. */
    const canBuild = yield* Effect.cachedFunction(work.canBuild)

    /** A workspace that fails does not keep the others from their turn, and is tried again at the next tick. */
    const onFailure = (id: WorkspaceId, cause: Cause.Cause<unknown>) => {
      failedNow.add(id)
      return Effect.annotateLogs(failed(id, failureOf(cause)), { workspace: id })
    }

    /** What a workspace needs, ready to be carried out; undefined if it needs nothing. */
    const decided = (target: LifeCycleTarget, reads: BuildReads) =>
      Effect.gen(function* () {
        const { previous, template, workspace } = target
        if (workspace.next_start_at === null && workspace.autostart_schedule !== null) yield* schedule(workspace.id, template, previous)
        const action = actionOf(target, previous, now)
        if (action === null || !(yield* canBuild(template.active_version_id))) return undefined
        return yield* attempt(target, action, prepare(target, action, reads))
      })

    const actAlone = (id: WorkspaceId) =>
      Effect.gen(function* () {
        const [target] = yield* targetsOf([id])
        if (target === undefined) return
        const ready = yield* decided(target, yield* orders.readsOf([target.previous.id]))
        if (ready !== undefined) yield* attempt(target, ready.action, carryOut(ready))
      })

    /** Reads for several workspaces at once, and carries out their actions in one transaction. Answers those that it left out. */
    const actTogether = (ids: ReadonlyArray<WorkspaceId>) =>
      Effect.gen(function* () {
        const targets = yield* targetsOf(ids)
        const reads = yield* orders.readsOf(targets.map(({ previous }) => previous.id))
        yield* nextTurn
        const ready: Array<PreparedAction> = []
        const decide = (target: LifeCycleTarget) => Effect.map(decided(target, reads), (one) => void (one === undefined || ready.push(one)))
        yield* Background.each("workspace_life_cycle", targets, decide, {
          concurrency,
          inOneTurn: true,
          onFailure: ({ workspace }, cause) => onFailure(workspace.id, cause)
        })
        // On SQLite, requests that have arrived would wait for the transaction too
        yield* nextTurn
        const [large, rest] = bySize(ready)
        const leftOut = rest.length === 0 ? [] : yield* carryOutFree(rest)
        return [...leftOut, ...large.map(({ target }) => target.workspace.id)]
      })

    /** Acts on several workspaces together, and on each alone that this leaves out. If it fails for one of them, on all. */
    const act = (ids: ReadonlyArray<WorkspaceId>) =>
      Effect.gen(function* () {
        const leftOut = yield* actTogether(ids).pipe(
          Effect.disconnect,
          Effect.timeout(itemTime),
          Effect.catchAllCause((cause) =>
            Effect.as(Effect.logDebug("workspaces are acted on one by one, because it fails for all", cause), ids)
          )
        )
        const alone = leftOut.filter((id) => !failedNow.has(id))
        yield* Background.each("workspace_life_cycle", alone, actAlone, { concurrency, within: itemTime, onFailure })
      })

    const times = yield* dueTimes(tickOf(now))
    let after: WorkspaceId | undefined
    for (;;) {
      const due = yield* repository.due(times, { after, limit: page })
      yield* Effect.forEach(Arr.chunksOf(due, together), (group) => Effect.zipRight(nextTurn, act(group)), {
        concurrency: groupsAtOnce,
        discard: true
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
