/** Deletes workspaces whose time has ended. */
import { type Cause, Context, Data, Duration, Effect, Option } from "effect"
import type { Auditing } from "../../audit/Audit.js"
import { Conflict, type ExpectationMismatch, type Invalid, type NotFound } from "../../platform/Errors.js"
import * as Background from "../../platform/background/Background.js"
import { hurriedTransaction, publish } from "../../platform/store/Transactor.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { BuildOrders, type PreparedBuild } from "../builds/BuildOrders.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { buildEnds, publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import type { WorkspaceId } from "../Workspace.js"
import { lifeCycleTarget } from "./AutomaticActions.js"
import { actingForOwner, automaticWork, failureOf } from "./AutomaticWork.js"
import { endAction } from "./Lifetime.js"
import { itemTime, page } from "./StopReminders.js"
import type { Worker } from "../../platform/background/Worker.js"

const concurrency = 10

/** How often ends are looked for: users choose them to the second. */
const period = Duration.seconds(2)

/** The pauses after attempts that made no build. */
const firstPause = Duration.seconds(10)
const longestPause = Duration.hours(1)

/** There is no daemon that could delete a workspace. It may come at any time, so the pauses stay short. */
class NoDaemon extends Data.TaggedError("NoDaemon")<{ readonly message: string }> {}
const longestWait = Duration.minutes(1)

/** The pause after a failure that others came before. */
const pauseAfter = (attempts: number, cause: Cause.Cause<unknown>): Duration.Duration => {
  const longest = failureOf(cause) instanceof NoDaemon ? longestWait : longestPause
  return Duration.min(Duration.times(firstPause, 2 ** Math.min(attempts, 16)), longest)
}

/** The end was moved, or the build has ended. */
const moved = new Conflict({ message: "The workspace has changed since its end was decided on." })

/** A job that cannot be canceled any more has ended. */
const asConflict = <A, R>(canceled: Effect.Effect<A, Conflict | ExpectationMismatch | Invalid | NotFound, R>) =>
  Effect.mapError(canceled, () => moved)

/** The methods of {@link WorkspaceExpiry}. */
export interface WorkspaceExpiryService {
  readonly worker: Worker<Auditing>
}

const make = Effect.gen(function* () {
  const work = yield* automaticWork
  const { builds, canBuild, jobs, notifications, orders, repository, templates, workspaces } = work

  const targetOf = lifeCycleTarget(work)
  type Target = NonNullable<Effect.Effect.Success<ReturnType<typeof targetOf>>>

  /** The workspace under its lock; undefined if it has another build than it was read with. */
  const locked = ({ previous, workspace: { id } }: Target) =>
    Effect.gen(function* () {
      const workspace = Option.getOrUndefined(yield* workspaces.lock(id))
      const build = Option.getOrUndefined(yield* builds.lockLatest(id))
      return workspace === undefined || build?.id !== previous.id ? undefined : { workspace, build }
    })

  const changed = ({ workspace: { id, owner_id } }: Target) => publishWorkspaceEvent(owner_id, { kind: "state_change", workspace_id: id })

  /** Cancels the unfinished build, unless the end has been moved. The job is locked before the workspace, as at the end of a job. */
  const cancel = (target: Target) =>
    hurriedTransaction(
      Effect.gen(function* () {
        const { previous } = target
        yield* jobs.cancel(previous.job_id)
        const found = yield* locked(target)
        const isDue = found !== undefined && endAction({ workspace: found.workspace, build: previous }, yield* Timestamp.now) === "cancel"
        if (!isDue) return yield* moved
        yield* publish(buildEnds, { build_id: previous.id })
        yield* changed(target)
      })
    )

  /** Queues the deletion, unless the end has been moved: an extension comes before or after it, and of two replicas one acts. */
  const enqueue = (target: Target, prepared: PreparedBuild) =>
    hurriedTransaction(
      Effect.gen(function* () {
        const template = yield* templates.lockShared(target.template.id)
        const found = yield* locked(target)
        if (Option.isNone(template) || found === undefined || endAction(found, yield* Timestamp.now) !== "delete") return
        yield* orders.enqueue(prepared)
        yield* notifications.buildQueued(prepared)
        yield* changed(target)
      })
    )

  /** Fails without a daemon that could delete the workspace, which waits for one. */
  const remove = (target: Target) =>
    Effect.gen(function* () {
      if (!(yield* canBuild(target.previous.template_version_id)))
        return yield* new NoDaemon({ message: "No provisioner daemon is connected that could delete the workspace." })
      const prepared = yield* orders.prepare(target, { transition: "delete", reason: "autodelete", rich_parameter_values: [] })
      yield* enqueue(target, prepared)
    })

  const step = (target: Target, wanted: "cancel" | "delete") =>
    Effect.gen(function* () {
      const { owner, previous, workspace } = target
      if (endAction({ workspace, build: previous }, yield* Timestamp.now) !== wanted) return
      yield* (wanted === "cancel" ? asConflict(cancel(target)) : remove(target)).pipe(
        // A caller was faster
        Effect.catchTag("Conflict", () => Effect.void),
        actingForOwner(owner.id)
      )
    })

  /** A canceled build that had waited has ended at once, so its workspace is deleted in the same run. */
  const end = (id: WorkspaceId) =>
    Effect.forEach(
      ["cancel", "delete"] as const,
      (wanted) => Effect.flatMap(targetOf(id), (target) => (target === undefined ? Effect.void : step(target, wanted))),
      { discard: true }
    )

  /** Workspaces whose deletion could not be queued by this replica, and when it is tried again. */
  let refused: ReadonlyMap<WorkspaceId, { readonly attempts: number; readonly until: Timestamp.Timestamp }> = new Map()

  const run = Effect.gen(function* () {
    const now = yield* Timestamp.now
    const refusedNow = new Map<WorkspaceId, { readonly attempts: number; readonly until: Timestamp.Timestamp }>()
    let after: WorkspaceId | undefined
    for (;;) {
      const found = yield* repository.expired(now, { after, limit: page })
      for (const id of found) {
        const before = refused.get(id)
        if (before !== undefined && before.until > now) refusedNow.set(id, before)
      }
      const due = found.filter((id) => !refusedNow.has(id))
      yield* Background.each("workspace_expiry", due, end, {
        concurrency,
        within: itemTime,
        onFailure: (id, cause) => {
          const attempts = refused.get(id)?.attempts ?? 0
          refusedNow.set(id, { attempts: attempts + 1, until: Timestamp.plus(now, pauseAfter(attempts, cause)) })
          if (attempts > 0) return Effect.void
          return Effect.annotateLogs(
            Effect.logWarning("a workspace whose time has ended could not be deleted and is tried again", failureOf(cause)),
            { workspace: id }
          )
        }
      })
      after = found.at(-1)
      if (found.length < page) break
    }
    refused = refusedNow
  })

  return { worker: { name: "workspace_expiry", every: period, run } }
})

/** The end of workspaces that live for a time. A deletion that fails is repeated until the workspace is gone. */
export class WorkspaceExpiry extends Context.Tag("@atelier/core/WorkspaceExpiry")<WorkspaceExpiry, WorkspaceExpiryService>() {
  static readonly layer = standingOn(service(WorkspaceExpiry, make), BuildOrders.layer, ProvisionerJobs.layer, WorkspaceNotifications.layer)
}
