import { Duration, Effect, Layer, Option, Queue, Stream } from "effect"
import { prebuildsUserId } from "../access/Decision.js"
import { prebuildClaimed } from "../agents/AgentManifests.js"
import { externalAgentType } from "../agents/AgentTokens.js"
import { BuildResources, type InsertedAgent } from "../agents/BuildResources.js"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import { Entitlements } from "../deployment/Entitlements.js"
import type { User } from "../identity/users/User.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import { NotFound } from "../platform/Errors.js"
import { EventBus } from "../platform/EventBus.js"
import { storedSchedule } from "../platform/Schedule.js"
import * as Timestamp from "../platform/Timestamp.js"
import { publish, Transactor } from "../platform/Transactor.js"
import type { Uuid } from "../platform/Uuid.js"
import type { Applied, PlanInput } from "../provisioning/ProvisionerEngine.js"
import { ProvisionerJobRepository } from "../provisioning/ProvisionerJobRepository.js"
import { WorkspaceBuildJobs } from "../provisioning/WorkspaceBuildJobs.js"
import { effectiveTemplate } from "../templates/EffectiveTemplate.js"
import type { Template } from "../templates/Template.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../templates/TemplateVersionRepository.js"
import { BuildCosts } from "./BuildCosts.js"
import { BuildInputs } from "./BuildInputs.js"
import { BuildOutcomes } from "./BuildOutcomes.js"
import { BuildStates } from "./BuildStates.js"
import { deadlines, noDeadlines, quietHoursInForce } from "./Deadline.js"
import { nextScheduledStart } from "./NextScheduledStart.js"
import type { Workspace } from "./Workspace.js"
import type { WorkspaceBuild } from "./WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { publishWorkspaceEvent } from "./WorkspaceEvents.js"
import { WorkspaceRepository } from "./WorkspaceRepository.js"
import { WorkspaceSessions } from "./WorkspaceSessions.js"
import { WorkspaceTaskRepository } from "./WorkspaceTaskRepository.js"
import { standingOn } from "../platform/Standing.js"

const noBuild = new NotFound({ resource: "workspace_build" })

const make = Effect.gen(function* () {
  const builds = yield* WorkspaceBuildRepository
  const states = yield* BuildStates
  const jobs = yield* ProvisionerJobRepository
  const workspaces = yield* WorkspaceRepository
  const templates = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const users = yield* UserRepository
  const resources = yield* BuildResources
  const inputs = yield* BuildInputs
  const costs = yield* BuildCosts
  const outcomes = yield* BuildOutcomes
  const sessions = yield* WorkspaceSessions
  const tasks = yield* WorkspaceTaskRepository
  const features = yield* Entitlements
  const options = yield* DeploymentOptions
  const services = yield* Effect.context<EventBus | Transactor>()

  const buildOf = (id: Uuid) =>
    Effect.gen(function* () {
      const build = Option.getOrUndefined(yield* builds.byId(id))
      const workspace = build && Option.getOrUndefined(yield* workspaces.byId(build.workspace_id))
      return workspace === undefined || build === undefined ? yield* noBuild : { build, workspace }
    })

  const stageOf = ({ job_id }: Pick<WorkspaceBuild, "job_id">) =>
    Effect.map(Effect.flatMap(jobs.byId(job_id), Effect.orDie), ({ input }) =>
      input.prebuilt_workspace_stage === undefined ? undefined : (["create", "claim"] as const)[input.prebuilt_workspace_stage - 1]
    )

  const deadlinesOf = (workspace: Workspace, template: Template, owner: User, completed: Timestamp.Timestamp) =>
    owner.id === prebuildsUserId
      ? noDeadlines
      : deadlines({
          completed,
          template,
          ttl_ms: workspace.ttl_ms,
          autostart: storedSchedule(workspace.autostart_schedule),
          quietHours: quietHoursInForce(options, owner.quiet_hours_schedule)
        })

  const changed = (workspace: Workspace) => publishWorkspaceEvent(workspace.owner_id, { kind: "state_change", workspace_id: workspace.id })

  /** Notes the app that works on the workspace's task. */
  const linkTask = (workspace: Workspace, { id }: WorkspaceBuild, agents: ReadonlyArray<InsertedAgent>, { task_app_id }: Applied) => {
    const agent = agents.find(({ apps }) => apps.some((app) => app.id === task_app_id))
    return workspace.task_id === null || agent === undefined || task_app_id === undefined
      ? Effect.void
      : tasks.linkApp({ workspace_build_id: id, agent_id: agent.id, app_id: task_app_id })
  }

  const overdue = yield* Queue.unbounded<{ readonly workspace: Workspace; readonly seconds: number }>()
  // No event occurs when an agent's first connection is overdue, so watchers are told when to look
  yield* Stream.fromQueue(overdue).pipe(
    Stream.mapEffect(
      ({ seconds, workspace }) =>
        Effect.delay(
          publishWorkspaceEvent(workspace.owner_id, { kind: "agt_timeout", workspace_id: workspace.id }),
          Duration.seconds(seconds)
        ),
      { concurrency: "unbounded" }
    ),
    Stream.runDrain,
    Effect.forkScoped
  )

  return WorkspaceBuildJobs.of({
    prepare: (id) =>
      Effect.gen(function* () {
        const { build, workspace } = yield* buildOf(id)
        const owner = yield* Effect.flatMap(users.byId(workspace.owner_id), Effect.orDie)
        const template = yield* Effect.flatMap(templates.byId(workspace.template_id), Effect.orDie)
        const version = yield* Effect.flatMap(versions.byId(build.template_version_id), Effect.orDie)
        const previous = yield* builds.byNumber(workspace.id, build.build_number - 1)
        const isStart = build.transition === "start"
        if (!isStart) yield* sessions.close(workspace)
        const owner_session_token = isStart ? yield* sessions.open(workspace, owner) : undefined
        return {
          metadata: {
            ...(yield* inputs.metadata({ ...build, workspace, owner, template, version })),
            owner_session_token,
            prebuilt_workspace_stage: yield* stageOf(build)
          },
          variables: (yield* versions.variables(version.id)).filter(({ required, value }) => required || value !== ""),
          parameters: yield* builds.parameters(id),
          previous_parameters: Option.isNone(previous) ? [] : yield* builds.parameters(previous.value.id),
          state: yield* states.of(id)
        } satisfies PlanInput
      }),

    planned: (id, plan, work) =>
      Effect.flatMap(Effect.orDie(buildOf(id)), ({ build, workspace }) => costs.commit(build, workspace, plan.daily_cost, work)).pipe(
        Effect.provide(services)
      ),

    succeeded: (id, plan, applied, timings) =>
      Effect.gen(function* () {
        const { build, workspace } = yield* buildOf(id)
        const owner = yield* Effect.flatMap(users.byId(workspace.owner_id), Effect.orDie)
        // Locked, so that a change of its schedule either comes first or finds the build running
        const locked = yield* templates.lockShared(workspace.template_id)
        const stored = Option.isSome(locked) ? locked : yield* templates.byId(workspace.template_id)
        const template = effectiveTemplate(yield* Effect.orDie(stored), features)
        const now = yield* Timestamp.now
        yield* builds.complete(id, {
          ...deadlinesOf(workspace, template, owner, now),
          has_ai_task: workspace.task_id !== null,
          has_external_agent: plan.has_external_agent || applied.resources.some(({ type }) => type === externalAgentType),
          state: yield* states.seal(id, applied.state),
          updated_at: now
        })
        // A stop that lasts over a scheduled start does not swallow it
        const from = build.transition === "stop" ? build.created_at : now
        yield* workspaces.setNextStart(workspace.id, nextScheduledStart(workspace, template, from))
        const agents = yield* resources.insert({ job_id: build.job_id, transition: build.transition }, applied.resources)
        yield* linkTask(workspace, build, agents, applied)
        yield* jobs.insertTimings(timings)
        if (build.transition === "delete") yield* outcomes.deleted(workspace)
        else yield* resources.retireAgents({ workspaceId: workspace.id, exceptBuildJob: build.job_id })
        const isClaim = (yield* stageOf(build)) === "claim"
        yield* outcomes.record(workspace, build, { status_code: 200, replacements: isClaim ? (applied.replacements ?? []) : [] })
        yield* changed(workspace)
        if (isClaim) {
          yield* publish(prebuildClaimed(workspace.id), {
            workspace_id: workspace.id,
            reason: "prebuild_claimed",
            owner_id: workspace.owner_id
          })
        }
        for (const seconds of new Set(agents.map(({ connection_timeout_seconds }) => connection_timeout_seconds))) {
          if (seconds > 0) yield* Queue.offer(overdue, { workspace, seconds })
        }
      }).pipe(Effect.provide(services)),

    ended: (id, { state }) =>
      Effect.gen(function* () {
        const { build, workspace } = yield* buildOf(id)
        if (state !== undefined) yield* builds.setState(id, yield* states.seal(id, state), yield* Timestamp.now)
        yield* outcomes.record(workspace, build, { status_code: 500 })
        yield* changed(workspace)
      }).pipe(Effect.orDie, Effect.provide(services)),

    changed: (id) => Effect.flatMap(buildOf(id), ({ workspace }) => changed(workspace)).pipe(Effect.orDie, Effect.provide(services)),

    running: states.running
  })
})

/** The inputs of jobs of type `workspace_build`, and the effects of their ends. workspaces.md §4.5. */
export const buildJobs = standingOn(
  Layer.scoped(WorkspaceBuildJobs, make),
  BuildStates.layer,
  BuildResources.layer,
  BuildInputs.layer,
  BuildCosts.layer,
  BuildOutcomes.layer,
  WorkspaceSessions.layer
)
