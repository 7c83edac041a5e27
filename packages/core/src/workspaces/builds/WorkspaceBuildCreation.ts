import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { AccessObject, ActionOn } from "../../access/Resource.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import type { Conflict, Invalid, NotFound, Forbidden, TimedOut, Unacceptable } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildFollowUpRepository } from "./BuildFollowUpRepository.js"
import { BuildOrders } from "./BuildOrders.js"
import { BuildOutcomes } from "./BuildOutcomes.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import type { WorkspaceId } from "../Workspace.js"
import type { RequestedBuildReason } from "./WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { type WorkspaceDetails, WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { WorkspaceViews } from "../views/WorkspaceViews.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { BuildView } from "./BuildView.js"
import type { Auditing } from "../../audit/Audit.js"
import { requireConsistent, requireFollowable, requireDebugging, buildRequestRules } from "./BuildRequestRules.js"
import { buildQueueing } from "./BuildQueueing.js"

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
  ) => Effect.Effect<BuildView, Invalid | Forbidden | NotFound | Conflict | Unacceptable | TimedOut, CurrentActor | Auditing>
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

  const { requireChoices } = buildRequestRules({ versions })

  const { queue } = buildQueueing({ workspaces, jobs, jobRows, outcomes, followUps, builds, orders, notifications })

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
