import { Effect, Option } from "effect"
import * as Audit from "../../audit/Audit.js"
import { Conflict } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import { progress } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import type { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import type { BuildFollowUpRepository } from "./BuildFollowUpRepository.js"
import type { BuildOrders, PreparedBuild } from "./BuildOrders.js"
import type { BuildOutcomes } from "./BuildOutcomes.js"
import type { WorkspaceId } from "../Workspace.js"
import { workspaceSubject } from "../WorkspaceAudit.js"
import type { WorkspaceBuildId } from "./WorkspaceBuild.js"
import type { BuildDetails, WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { isDormant, woken } from "../lifecycle/Dormancy.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import type { WorkspaceDetails, WorkspaceRepository } from "../WorkspaceRepository.js"
import type { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import type { NewFollowUp, ExpectedWorkspace, NewBuild } from "./WorkspaceBuildCreation.js"

interface Needs {
  readonly workspaces: WorkspaceRepository["Type"]
  readonly jobs: ProvisionerJobs["Type"]
  readonly jobRows: ProvisionerJobRepository["Type"]
  readonly outcomes: BuildOutcomes["Type"]
  readonly followUps: BuildFollowUpRepository["Type"]
  readonly builds: WorkspaceBuildRepository["Type"]
  readonly orders: BuildOrders["Type"]
  readonly notifications: WorkspaceNotifications["Type"]
}

const changed = new Conflict({ message: "The workspace has changed since the build was decided on." })

/** How a prepared build is queued, with what follows from it in the same transaction. */
export const buildQueueing = ({ workspaces, jobs, jobRows, outcomes, followUps, builds, orders, notifications }: Needs) => {
  /** Starting wakes a dormant workspace. One that has become dormant since it was found is not started: whether it may be woken was not asked. */
  const wake = (found: WorkspaceDetails, template: TemplateWithNames) =>
    Effect.gen(function* () {
      const workspace = yield* Effect.flatMap(workspaces.lock(found.id), Effect.orDie)
      if (!isDormant(workspace)) return
      if (!isDormant(found)) return yield* changed
      const now = yield* Timestamp.now
      const awake = { ...woken(workspace, template, now), updated_at: now }
      yield* workspaces.updateSettings(awake)
      yield* Audit.record({
        ...workspaceSubject(workspace, "write"),
        status_code: 200,
        before: workspace,
        after: awake,
        request_id: workspace.id
      })
    })

  /** Ends the job of an orphaning delete where no daemon is there to do it: there is nothing to be done. */
  const finishWithoutDaemon = (workspace: WorkspaceDetails, build: BuildDetails) =>
    Effect.gen(function* () {
      const matched = yield* jobs.matchedProvisioners([build.job_id])
      if ((matched.get(build.job_id)?.available ?? 0) > 0) return
      const now = yield* Timestamp.now
      const acquired = progress(build.job, "acquire", now)
      const completed = acquired && progress(acquired, "complete", now)
      if (completed === undefined) return yield* Effect.dieMessage("A job that was just queued cannot be completed")
      const nobody = { error_code: "", worker_id: null, claim_id: null, lease_expires_at: null }
      yield* jobRows.update(build.job_id, { ...completed, ...nobody, updated_at: now })
      yield* outcomes.deleted(workspace)
      yield* outcomes.record(workspace, build, { status_code: 200, workspace_owner: workspace.owner_username })
    })

  const remember = (buildId: WorkspaceBuildId, followUp: NewFollowUp) =>
    Effect.flatMap(Timestamp.now, (now) =>
      followUps.insert({
        build_id: buildId,
        template_version_id: followUp.template_version_id ?? null,
        template_version_preset_id: followUp.template_version_preset_id ?? null,
        rich_parameter_values: followUp.rich_parameter_values,
        status: "pending",
        attempts: 0,
        due_at: now,
        updated_at: now
      })
    )

  /** Compares the workspace with what a decision was made on. The locks hold until the build is queued, so a claim comes before or after. */
  const requireUnchanged = (id: WorkspaceId, { latest_build_id, owner_id }: ExpectedWorkspace) =>
    Effect.gen(function* () {
      const workspace = Option.getOrUndefined(yield* workspaces.lock(id))
      const build = Option.getOrUndefined(yield* builds.lockLatest(id))
      if (workspace === undefined || workspace.deleted || workspace.owner_id !== owner_id || build?.id !== latest_build_id) {
        return yield* changed
      }
    })

  const queue = (workspace: WorkspaceDetails, prepared: PreparedBuild, { expected, on_success, orphan }: NewBuild) =>
    transaction(
      Effect.gen(function* () {
        if (expected !== undefined) yield* requireUnchanged(workspace.id, expected)
        if (prepared.order.transition === "start") yield* wake(workspace, prepared.target.template)
        const { id } = yield* orders.enqueue(prepared)
        yield* notifications.buildQueued(prepared)
        const made = builds.byId(id).pipe(Effect.flatten, Effect.orDie)
        if (on_success !== undefined) yield* remember(id, on_success)
        if (orphan) yield* finishWithoutDaemon(workspace, yield* made)
        yield* publishWorkspaceEvent(workspace.owner_id, { kind: "state_change", workspace_id: workspace.id })
        return yield* made
      })
    )

  return { queue }
}
