import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { AccessObject, ActionOn } from "../../access/Resource.js"
import * as Audit from "../../audit/Audit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { Conflict, Invalid, type NotFound, type Forbidden, type Unacceptable } from "../../platform/Errors.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { progress } from "../../provisioning/jobs/ProvisionerJob.js"
import { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildFollowUpRepository } from "./BuildFollowUpRepository.js"
import { BuildOrders, type PreparedBuild } from "./BuildOrders.js"
import { BuildOutcomes } from "./BuildOutcomes.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import type { WorkspaceId } from "../Workspace.js"
import { workspaceSubject } from "../WorkspaceAudit.js"
import type { RequestedBuildReason, WorkspaceBuildId } from "./WorkspaceBuild.js"
import { type BuildDetails, WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { isDormant, woken } from "../lifecycle/Dormancy.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { type WorkspaceDetails, WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { WorkspaceViews } from "../views/WorkspaceViews.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { BuildView } from "./BuildView.js"
import type { Auditing } from "../../audit/Audit.js"

/** Whether the actor may start a workspace. */
export const mayStart = (workspace: WorkspaceDetails): Effect.Effect<boolean, never, CurrentActor> => {
  const object = AccessObjects.workspace(workspace)
  return Access.can(actionFor("start", object), object)
}

/** A build as a caller wants it. */
export interface NewBuild {
  readonly transition: BuildTransition
  readonly template_version_id?: Uuid | undefined
  readonly template_version_preset_id?: Uuid | undefined
  readonly rich_parameter_values: ReadonlyArray<ParameterValue>
  /** The state that the engine takes for existing resources. */
  readonly state?: Uint8Array | undefined
  /** Deletes the workspace and leaves what it was made of. */
  readonly orphan: boolean
  readonly log_level?: "debug" | undefined
  readonly reason?: RequestedBuildReason | "task_resume" | undefined
  /** Accepted and without effect. */
  readonly dry_run?: boolean | undefined
  /** The start that follows when this stop has succeeded. */
  readonly on_success?: NewFollowUp | undefined
  /** What the decision for this build was made on; the build is refused if it does not hold any more. */
  readonly expected?: ExpectedWorkspace | undefined
}

/** A workspace as background work read it. */
export interface ExpectedWorkspace {
  readonly owner_id: Uuid
  readonly latest_build_id: Uuid
}

/** A build that is to follow another. */
export interface NewFollowUp {
  /** Only a start can follow. */
  readonly transition: string
  /** The version that is active then, unless given. */
  readonly template_version_id?: Uuid | undefined
  readonly template_version_preset_id?: Uuid | undefined
  readonly rich_parameter_values: ReadonlyArray<ParameterValue>
}

/** A dormant workspace may be started with the right to wake it. workspaces.md §4.1 no. 4. */
const actionFor = (transition: BuildTransition, { type }: AccessObject): ActionOn<"workspace"> =>
  transition === "start" && type === "workspace_dormant" ? "update" : transition

/** The methods of {@link WorkspaceBuildCreation}. */
export interface WorkspaceBuildCreationService {
  /** Whether the actor may start a workspace. Fails with `NotFound` unless the actor may read it. */
  readonly mayStart: (workspaceId: WorkspaceId) => Effect.Effect<boolean, NotFound, CurrentActor>

  /**
   * Queues a build. Fails with the first rule that is broken, in the order of workspaces.md §4.1; of callers that race, one succeeds
   * and the others fail with `Conflict`.
   */
  readonly create: (
    workspaceId: WorkspaceId,
    asked: NewBuild
  ) => Effect.Effect<BuildView, Invalid | Forbidden | NotFound | Conflict | Unacceptable, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const builds = yield* WorkspaceBuildRepository
  const workspaces = yield* WorkspaceRepository
  const templates = yield* TemplateRepository
  const users = yield* UserRepository
  const jobs = yield* ProvisionerJobs
  const jobRows = yield* ProvisionerJobRepository
  const followUps = yield* BuildFollowUpRepository
  const versions = yield* TemplateVersionRepository
  const orders = yield* BuildOrders
  const outcomes = yield* BuildOutcomes
  const views = yield* WorkspaceViews
  const notifications = yield* WorkspaceNotifications

  /** Checks that the parts of the request fit together. Rules 2 and 3. */
  const requireConsistent = ({ orphan, state, transition }: NewBuild, workspace: WorkspaceDetails) =>
    Effect.gen(function* () {
      if (workspace.deleted && transition !== "delete") return yield* new Conflict({ message: "The workspace has been deleted." })
      if (orphan && transition !== "delete") return yield* Invalid.field("orphan", "only a delete leaves resources behind")
      if (orphan && state !== undefined) return yield* Invalid.field("orphan", "cannot be given together with state")
    })

  /** Only a start follows, and only a stop: it takes the version that is active then, or one that is chosen now. */
  const requireFollowable = ({ dry_run = false, on_success, orphan, state, transition }: NewBuild) => {
    if (on_success === undefined) return Effect.void
    const { template_version_id, template_version_preset_id } = on_success
    // Called by its own name alone, as the reference's clients expect
    if (on_success.transition !== "start") return Invalid.field("transition", "can only be a start after a stop")
    if (transition !== "stop") return Invalid.field("on_success", "can only follow a stop")
    if (dry_run || orphan || state !== undefined) {
      return Invalid.field("on_success", "cannot be given together with dry_run, orphan or state")
    }
    if (template_version_preset_id === undefined || template_version_id !== undefined) return Effect.void
    return Invalid.field("on_success.template_version_preset_id", "needs the template version it belongs to")
  }

  /** Refuses a version or preset of another template now, while the caller is there to be told. */
  const requireChoices = ({ template_version_id: id, template_version_preset_id: presetId }: NewFollowUp, templateId: Uuid) =>
    Effect.gen(function* () {
      if (id === undefined) return
      const version = Option.getOrUndefined(yield* versions.byId(id))
      if (version?.template_id !== templateId) {
        return yield* Invalid.field("on_success.template_version_id", "is not a version of the workspace's template")
      }
      if (presetId !== undefined && !(yield* versions.presets(id)).some((preset) => preset.id === presetId)) {
        return yield* Invalid.field("on_success.template_version_preset_id", "is not a preset of the template version")
      }
    })

  /** Debug output shows secrets of the template. Rule 6. */
  const requireDebugging = Effect.gen(function* () {
    const { enableTerraformDebugMode } = yield* DeploymentOptions
    if (!(yield* Access.can("read", AccessObjects.bare("deployment_config")))) {
      return yield* Invalid.field("log_level", "is for administrators of the deployment")
    }
    if (!enableTerraformDebugMode) return yield* Invalid.field("log_level", "is not allowed by the deployment")
  })

  /** Starting wakes a dormant workspace. */
  const wake = (found: WorkspaceDetails, template: TemplateWithNames) =>
    Effect.gen(function* () {
      const workspace = yield* Effect.flatMap(workspaces.lock(found.id), Effect.orDie)
      if (!isDormant(workspace)) return
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
        return yield* new Conflict({ message: "The workspace has changed since the build was decided on." })
      }
    })

  const queue = (workspace: WorkspaceDetails, prepared: PreparedBuild, { expected, on_success, orphan }: NewBuild) =>
    transaction(
      Effect.gen(function* () {
        if (expected !== undefined) yield* requireUnchanged(workspace.id, expected)
        if (prepared.order.transition === "start" && isDormant(workspace)) yield* wake(workspace, prepared.target.template)
        const { id } = yield* orders.enqueue(prepared)
        yield* notifications.buildQueued(prepared)
        const made = builds.byId(id).pipe(Effect.flatten, Effect.orDie)
        if (on_success !== undefined) yield* remember(id, on_success)
        if (orphan) yield* finishWithoutDaemon(workspace, yield* made)
        yield* publishWorkspaceEvent(workspace.owner_id, { kind: "state_change", workspace_id: workspace.id })
        return yield* made
      })
    )

  return {
    mayStart: Traced.fn("WorkspaceBuildCreation.mayStart")((workspaceId: WorkspaceId) =>
      Effect.flatMap(Effect.flatMap(workspaces.details(workspaceId), visibleWorkspace), mayStart)
    ),

    create: Traced.fn("WorkspaceBuildCreation.create")(function* (workspaceId: WorkspaceId, asked: NewBuild) {
      // An empty state counts as absent
      const request: NewBuild = asked.state?.length === 0 ? { ...asked, state: undefined } : asked
      const workspace = yield* Effect.flatMap(workspaces.details(workspaceId), visibleWorkspace)
      yield* requireConsistent(request, workspace)
      yield* requireFollowable(request)
      const { on_success, orphan, transition } = request
      const object = AccessObjects.workspace(workspace)
      yield* Access.authorizeWrite(actionFor(transition, object), object)
      const stored = yield* Effect.flatMap(templates.byId(workspace.template_id), Effect.orDie)
      yield* Access.authorize("read", AccessObjects.template(stored))
      if (request.state !== undefined || orphan) yield* Access.authorize("update", AccessObjects.template(stored))
      if (on_success !== undefined) {
        yield* Access.authorizeWrite(actionFor("start", object), object)
        if (on_success.template_version_id !== undefined) yield* Access.authorize("update", AccessObjects.template(stored))
        yield* requireChoices(on_success, stored.id)
      }
      if (request.log_level !== undefined) yield* requireDebugging

      const prepared = yield* orders.prepare(
        {
          workspace,
          template: effectiveTemplate(stored, yield* Entitlements),
          owner: yield* Effect.flatMap(users.byId(workspace.owner_id), Effect.orDie),
          previous: workspace.latest_build
        },
        {
          ...request,
          state: orphan ? new Uint8Array() : request.state,
          reason: transition === "delete" ? "initiator" : (request.reason ?? "initiator")
        }
      )
      return yield* views.newBuild(workspace, yield* queue(workspace, prepared, request))
    })
  }
})

/** Builds of workspaces that callers ask for. */
export class WorkspaceBuildCreation extends Context.Tag("@atelier/core/WorkspaceBuildCreation")<
  WorkspaceBuildCreation,
  WorkspaceBuildCreationService
>() {
  static readonly layer = standingOn(
    service(WorkspaceBuildCreation, make),
    ProvisionerJobs.layer,
    BuildOrders.layer,
    BuildOutcomes.layer,
    WorkspaceNotifications.layer,
    WorkspaceViews.layer
  )
}
