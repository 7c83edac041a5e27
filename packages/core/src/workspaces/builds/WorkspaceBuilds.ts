import { Context, Effect, Option, type Stream } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { type Entitled, rightTo } from "../../access/streams/StreamRights.js"
import { roleNames } from "../../access/actors/Subject.js"
import { AgentTokens, type ExternalAgent } from "../../agents/credentials/AgentTokens.js"
import { requireFeature } from "../../deployment/licenses/Entitlements.js"
import { excess } from "../../identity/sessions/Delegation.js"
import { ownerRole } from "../../identity/users/User.js"
import { Forbidden, Invalid, NotFound, type Conflict, type ExpectationMismatch } from "../../platform/Errors.js"
import type { Page } from "../../platform/lists/Pagination.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { JobLog } from "../../provisioning/logs/JobLog.js"
import { isActive, jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { BuildStates } from "./BuildStates.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import type { WorkspaceId } from "../Workspace.js"
import type { WorkspaceBuildId } from "./WorkspaceBuild.js"
import { type BuildDetails, WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { buildEnds, publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { WorkspaceOwners } from "../WorkspaceOwners.js"
import { type WorkspaceDetails, WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceViews } from "../views/WorkspaceViews.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { BuildView } from "./BuildView.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import type { ResourceView } from "../../agents/resources/ResourceView.js"

/** Which builds of a workspace are wanted. */
export interface BuildList extends Pick<Page, "limit" | "offset" | "after_id"> {
  /** Created later than this instant. */
  readonly since?: Timestamp.Timestamp | undefined
}

const noBuild = new NotFound({ resource: "workspace_build" })
const noAgent = new NotFound({ resource: "workspace_agent" })

/** What a credential needs to be told of another one that leads into a workspace. */
const scopeInto = "workspace:ssh"

/** The methods of {@link WorkspaceBuilds}. */
export interface WorkspaceBuildsService {
  /** The builds of a workspace, newest first. Fails with `Invalid` when the page starts after a build that does not exist. workspaces.md §4.3. */
  readonly list: (workspaceId: WorkspaceId, list: BuildList) => Effect.Effect<ReadonlyArray<BuildView>, Invalid | NotFound, CurrentActor>

  /** One build. Fails with `NotFound` where the actor may not read the workspace. */
  readonly get: (id: WorkspaceBuildId) => Effect.Effect<BuildView, NotFound, CurrentActor>

  /** A build of a user's workspace that is not deleted, by its number. */
  readonly getByNumber: (user: string, name: string, buildNumber: number) => Effect.Effect<BuildView, NotFound, CurrentActor>

  /** The values a build was made with, by name. */
  readonly parameters: (id: WorkspaceBuildId) => Effect.Effect<ReadonlyArray<ParameterValue>, NotFound, CurrentActor>

  /** The resources of a build, by name. Fails with `Invalid` while its job has not ended. */
  readonly resources: (id: WorkspaceBuildId) => Effect.Effect<ReadonlyArray<ResourceView>, Invalid | NotFound, CurrentActor>

  /**
   * The engine's state of a build. Fails with `NotFound` if the actor may not update the template, and with `Conflict` if no key decrypts
   * the state.
   */
  readonly state: (id: WorkspaceBuildId) => Effect.Effect<Uint8Array<ArrayBufferLike>, NotFound | Conflict, CurrentActor>

  /** Replaces what the engine keeps of a build. Fails with `NotFound` if the actor may not update the template. §4.3. */
  readonly setState: (id: WorkspaceBuildId, state: Uint8Array) => Effect.Effect<void, NotFound, CurrentActor>

  /**
   * Returns what an external agent of a workspace's latest build is started with. Fails with `Forbidden` if external agents are not
   * licensed, or the actor's credential is not enough to work in a workspace; and with `NotFound` if the actor may not read the workspace, or its latest build has no external agent of exactly this name.
   * workspaces.md §3.8.
   */
  readonly externalAgent: (id: WorkspaceId, name: string) => Effect.Effect<ExternalAgent, Forbidden | NotFound, CurrentActor>

  /** The log of a build behind a row, oldest first. workspaces.md §4.3. */
  readonly logs: (id: WorkspaceBuildId, after: number) => Effect.Effect<Stream.Stream<JobLog>, NotFound, CurrentActor>

  /** As `logs`, and then the rows that are written until the job has ended. workspaces.md §4.3. */
  readonly followLogs: (id: WorkspaceBuildId, after: number) => Effect.Effect<Entitled<JobLog>, NotFound, CurrentActor>

  /**
   * Cancels a build: at once while its job waits, else as soon as its daemon stops. Fails with `Invalid` when the job has ended or is
   * canceled already, with `ExpectationMismatch` when its status is not the expected one. workspaces.md §4.4.
   */
  readonly cancel: (
    id: WorkspaceBuildId,
    input: { readonly expectStatus?: "running" | "pending" | undefined }
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound | ExpectationMismatch, CurrentActor | EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const builds = yield* WorkspaceBuildRepository
  const states = yield* BuildStates
  const workspaces = yield* WorkspaceRepository
  const jobs = yield* ProvisionerJobs
  const owners = yield* WorkspaceOwners
  const views = yield* WorkspaceViews
  const tokens = yield* AgentTokens

  /** A workspace the actor may read, deleted or not. */
  const readable = (id: WorkspaceId, notFound?: NotFound) =>
    Effect.flatMap(workspaces.details(id), (found) => visibleWorkspace(found, notFound))

  /** A build of a workspace the actor may read. */
  const found = (id: WorkspaceBuildId) =>
    Effect.gen(function* () {
      const build = Option.getOrUndefined(yield* builds.byId(id))
      if (build === undefined) return yield* noBuild
      return { build, workspace: yield* readable(build.workspace_id, noBuild) }
    })

  const viewOf = (workspace: WorkspaceDetails, build: BuildDetails) =>
    Effect.flatMap(views.builds(workspace, [build]), ([view]) => (view === undefined ? noBuild : Effect.succeed(view)))

  /**
   * Whether the actor may cancel the build. Canceling a job that must still be waiting takes the right to update the workspace.
   * workspaces.md §4.4.
   */
  const mayCancel = (workspace: WorkspaceDetails, expected: "running" | "pending" | undefined) =>
    Effect.gen(function* () {
      yield* Access.authorizeWrite("update", AccessObjects.workspace(workspace), noBuild)
      if (expected === "pending" || workspace.template.allow_user_cancel_workspace_jobs) return
      const { subject } = yield* CurrentActor
      const isOwner = roleNames(subject).some(({ name, organizationId }) => name === ownerRole && organizationId === undefined)
      if (!isOwner) return yield* new Forbidden({ message: "The template does not let users cancel builds." })
    })

  return {
    list: Traced.fn("WorkspaceBuilds.list")(function* (workspaceId: WorkspaceId, { after_id, limit, offset, since }: BuildList) {
      const workspace = yield* readable(workspaceId)
      const after = after_id === undefined ? undefined : Option.getOrUndefined(yield* builds.byId(after_id))
      if (after_id !== undefined && after?.workspace_id !== workspaceId) {
        return yield* Invalid.field("after_id", "There is no such build of the workspace")
      }
      return yield* views.builds(workspace, yield* builds.list(workspaceId, { after_number: after?.build_number, limit, offset, since }))
    }),

    get: Traced.fn("WorkspaceBuilds.get")(function* (id: WorkspaceBuildId) {
      const { build, workspace } = yield* found(id)
      return yield* viewOf(workspace, build)
    }),

    getByNumber: Traced.fn("WorkspaceBuilds.getByNumber")(function* (user: string, name: string, buildNumber: number) {
      const workspace = yield* readable(yield* owners.workspaceId(user, name, false))
      const build = Option.getOrUndefined(yield* builds.byNumber(workspace.id, buildNumber))
      return build === undefined ? yield* noBuild : yield* viewOf(workspace, build)
    }),

    parameters: Traced.fn("WorkspaceBuilds.parameters")(function* (id: WorkspaceBuildId) {
      yield* found(id)
      return yield* builds.parameters(id)
    }),

    resources: Traced.fn("WorkspaceBuilds.resources")(function* (id: WorkspaceBuildId) {
      const { build, workspace } = yield* found(id)
      if (isActive(jobStatus(build.job))) return yield* new Invalid({ message: "The build's job has not completed." })
      const view = yield* viewOf(workspace, build)
      return view.resources.toSorted((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
    }),

    state: Traced.fn("WorkspaceBuilds.state")(function* (id: WorkspaceBuildId) {
      const { workspace } = yield* found(id)
      yield* Access.authorizeOrHide("update", AccessObjects.template(workspace.template), noBuild)
      return yield* states.of(id)
    }),

    setState: Traced.fn("WorkspaceBuilds.setState")(function* (id: WorkspaceBuildId, state: Uint8Array) {
      const { workspace } = yield* found(id)
      yield* Access.authorizeOrHide("update", AccessObjects.template(workspace.template), noBuild)
      yield* builds.setState(id, yield* states.seal(id, state), yield* Timestamp.now)
    }),

    externalAgent: Traced.fn("WorkspaceBuilds.externalAgent")(function* (id: WorkspaceId, name: string) {
      yield* requireFeature("workspace_external_agent")
      const { latest_build } = yield* readable(id)
      yield* Access.refuseApps
      const { subject } = yield* CurrentActor
      if (excess(subject, [scopeInto], []).length > 0) return yield* new Forbidden({ message: `The token needs the scope ${scopeInto}.` })
      if (latest_build.has_external_agent !== true) return yield* noAgent
      const agent = yield* tokens.external(latest_build.job_id, name)
      return Option.isSome(agent) ? agent.value : yield* noAgent
    }),

    logs: Traced.fn("WorkspaceBuilds.logs")(function* (id: WorkspaceBuildId, after: number) {
      const { build } = yield* found(id)
      const logs: Stream.Stream<JobLog> = jobs.logs(build.job_id, after)
      return logs
    }),

    followLogs: Traced.fn("WorkspaceBuilds.followLogs")(function* (id: WorkspaceBuildId, after: number) {
      const [right, { build }] = yield* rightTo(`workspace_build:${id}`, () => found(id))
      return { right, values: jobs.follow(build.job_id, after) } satisfies Entitled<JobLog>
    }),

    cancel: Traced.fn("WorkspaceBuilds.cancel")(function* (
      id: WorkspaceBuildId,
      { expectStatus }: { readonly expectStatus?: "running" | "pending" | undefined }
    ) {
      const { build, workspace } = yield* found(id)
      yield* mayCancel(workspace, expectStatus)
      yield* transaction(
        Effect.zipRight(
          jobs.cancel(build.job_id, { expectStatus }),
          Effect.zipRight(
            publish(buildEnds, { build_id: id }),
            publishWorkspaceEvent(workspace.owner_id, { kind: "state_change", workspace_id: workspace.id })
          )
        )
      )
    })
  }
})

/** Builds of workspaces: what became of what was asked for. */
export class WorkspaceBuilds extends Context.Tag("@atelier/core/WorkspaceBuilds")<WorkspaceBuilds, WorkspaceBuildsService>() {
  static readonly layer = standingOn(
    service(WorkspaceBuilds, make),
    AgentTokens.layer,
    BuildStates.layer,
    ProvisionerJobs.layer,
    WorkspaceOwners.layer,
    WorkspaceViews.layer
  )
}
