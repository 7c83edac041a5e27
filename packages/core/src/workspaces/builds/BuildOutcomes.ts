import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import { BuildResources, type InsertedAgent } from "../../agents/resources/BuildResources.js"
import * as Audit from "../../audit/Audit.js"
import { buildAudit } from "../WorkspaceAudit.js"
import { AuditRepository } from "../../audit/AuditRepository.js"
import { EventBus } from "../../platform/events/EventBus.js"
import * as Measure from "../../platform/Measure.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { countChange, publish, type Transactor } from "../../platform/store/Transactor.js"
import type { Applied, ResourceReplacement } from "../../provisioning/engines/ProvisionerEngine.js"
import type { Workspace } from "../Workspace.js"
import { buildAuditFields } from "../WorkspaceAudit.js"
import { previousBuild } from "./PreviousBuild.js"
import type { WorkspaceBuild } from "./WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { buildEnds } from "../watching/WorkspaceEvents.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceSessions } from "../sessions/WorkspaceSessions.js"
import { WorkspaceTaskRepository } from "./WorkspaceTaskRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { Invalid } from "../../platform/Errors.js"

const ended = Measure.counter("workspace_builds_total", "Builds of workspaces that have ended.", ["workspace_transition", "status"])

interface Outcome {
  readonly status_code: 200 | 500
  readonly workspace_owner?: string
  /** The build before, where it has been read in the same transaction. */
  readonly before?: WorkspaceBuild
  /** Resources that the claim of a prebuilt workspace replaced. */
  readonly replacements?: ReadonlyArray<ResourceReplacement>
}

/** The methods of {@link BuildOutcomes}. */
export interface BuildOutcomesService {
  /** Writes the audit entry of a build that has ended and tells users of it, in the transaction that ends its job. workspaces.md §4.5. */
  readonly record: (
    workspace: Pick<Workspace, "id" | "name" | "organization_id" | "owner_id" | "template_id" | "expires_at">,
    build: WorkspaceBuild,
    outcome: Outcome
  ) => Effect.Effect<void>

  /**
   * Stores what a build has made: its resources and agents, which replace those of earlier builds, and the app that works on the workspace's
   * task. Returns the agents.
   */
  readonly built: (
    workspace: Workspace,
    build: WorkspaceBuild,
    applied: Applied
  ) => Effect.Effect<ReadonlyArray<InsertedAgent>, Invalid, EventBus | Transactor>

  /** Marks a workspace as deleted, with its agents and its task, and ends the session of its programs. workspaces.md §3.7. */
  readonly deleted: (workspace: Pick<Workspace, "id" | "owner_id">) => Effect.Effect<void>
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const resources = yield* BuildResources
  const sessions = yield* WorkspaceSessions
  const tasks = yield* WorkspaceTaskRepository
  const notifications = yield* WorkspaceNotifications
  const services = Context.pick(AuditRepository, EventBus, Ids)(yield* Effect.context<AuditRepository | EventBus | Ids>())

  /** Notes the app that works on the workspace's task. */
  const linkTask = (workspace: Workspace, { id }: WorkspaceBuild, agents: ReadonlyArray<InsertedAgent>, { task_app_id }: Applied) => {
    const agent = agents.find(({ apps }) => apps.some((app) => app.id === task_app_id))
    return workspace.task_id === null || agent === undefined || task_app_id === undefined
      ? Effect.void
      : tasks.linkApp({ workspace_build_id: id, agent_id: agent.id, app_id: task_app_id })
  }

  const deleted = (workspace: Pick<Workspace, "id" | "owner_id">): Effect.Effect<void> =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      yield* workspaces.markDeleted(workspace.id, now)
      yield* resources.retireAllAgents(workspace.id)
      yield* tasks.deleteOf(workspace.id, now)
      yield* sessions.close(workspace)
    })

  return {
    record: (
      workspace: Pick<Workspace, "id" | "name" | "organization_id" | "owner_id" | "template_id" | "expires_at">,
      build: WorkspaceBuild,
      { before: known, replacements = [], status_code, workspace_owner = "" }: Outcome
    ): Effect.Effect<void> =>
      Effect.gen(function* () {
        yield* publish(buildEnds, { build_id: build.id })
        yield* countChange(ended(build.transition, status_code === 200 ? "success" : "failed"))
        if (status_code !== 200) yield* notifications.buildEnded(workspace, build)
        else if (build.transition === "delete") yield* notifications.deleted(workspace, build)
        if (replacements.length > 0) yield* notifications.resourcesReplaced(workspace, build, replacements)
        const before = known ?? Option.getOrUndefined(yield* previousBuild(builds, build))
        yield* Audit.record({
          action: build.transition,
          resource: buildAudit,
          id: build.id,
          target: "",
          organization_id: workspace.organization_id,
          status_code,
          ...(status_code === 200 ? { before, after: build } : {}),
          user_id: build.initiator_id,
          request_id: build.job_id,
          additional_fields: {
            ...buildAuditFields,
            workspace_name: workspace.name,
            build_number: String(build.build_number),
            build_reason: build.reason,
            workspace_id: workspace.id,
            workspace_owner
          }
        })
      }).pipe(Access.actingAs({ ...SystemActor.provisionerd, ip: build.initiator_ip }), Effect.provide(services)),

    built: (workspace: Workspace, build: WorkspaceBuild, applied: Applied) =>
      Effect.gen(function* () {
        const agents = yield* resources.insert({ job_id: build.job_id, transition: build.transition }, applied.resources)
        yield* linkTask(workspace, build, agents, applied)
        if (build.transition === "delete") yield* deleted(workspace)
        // There are no earlier agents at the first build
        else if (build.build_number > 1) yield* resources.retireAgents({ workspaceId: workspace.id, exceptBuildJob: build.job_id })
        return agents
      }),

    deleted
  }
})

/** The effects of the end of a build, for every cause. */
export class BuildOutcomes extends Context.Tag("@atelier/core/BuildOutcomes")<BuildOutcomes, BuildOutcomesService>() {
  static readonly layer = standingOn(
    service(BuildOutcomes, make),
    BuildResources.layer,
    WorkspaceNotifications.layer,
    WorkspaceSessions.layer
  )
}
