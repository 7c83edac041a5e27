import { Effect, Option } from "effect"
import { prebuildClaimed } from "../../agents/manifest/AgentManifests.js"
import { externalAgentType } from "../../agents/credentials/AgentTokens.js"
import { NotFound } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import { WorkspaceBuildJobs } from "../../provisioning/jobs/WorkspaceBuildJobs.js"
import { BuildInputs } from "./BuildInputs.js"
import { BuildOutcomes } from "./BuildOutcomes.js"
import { BuildStates } from "./BuildStates.js"
import { overdueAgents } from "./OverdueAgents.js"
import type { Workspace } from "../Workspace.js"
import { type BuildDetails, WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { WorkspaceQuotas } from "../quotas/WorkspaceQuotas.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceSchedules } from "../schedule/WorkspaceSchedules.js"

const noBuild = new NotFound({ resource: "workspace_build" })

const make = Effect.gen(function* () {
  const builds = yield* WorkspaceBuildRepository
  const workspaces = yield* WorkspaceRepository
  const jobs = yield* ProvisionerJobRepository
  const states = yield* BuildStates
  const inputs = yield* BuildInputs
  const quotas = yield* WorkspaceQuotas
  const schedules = yield* WorkspaceSchedules
  const outcomes = yield* BuildOutcomes
  const tellWhenOverdue = yield* overdueAgents
  const services = yield* Effect.context<EventBus | Transactor>()

  const buildOf = (id: Uuid) =>
    Effect.gen(function* () {
      const build = Option.getOrUndefined(yield* builds.byId(id))
      const workspace = build && Option.getOrUndefined(yield* workspaces.byId(build.workspace_id))
      return workspace === undefined || build === undefined ? yield* noBuild : { build, workspace }
    })

  const stageOf = ({ job: { input } }: Pick<BuildDetails, "job">) =>
    input.prebuilt_workspace_stage === undefined ? undefined : (["create", "claim"] as const)[input.prebuilt_workspace_stage - 1]

  const changed = (workspace: Workspace) => publishWorkspaceEvent(workspace.owner_id, { kind: "state_change", workspace_id: workspace.id })

  return WorkspaceBuildJobs.of({
    prepare: (id) =>
      Effect.gen(function* () {
        const { build, workspace } = yield* buildOf(id)
        return yield* inputs.plan(build, workspace, stageOf(build))
      }),

    planned: (id, { daily_cost }, work) =>
      quotas.isCharged(daily_cost)
        ? Effect.flatMap(Effect.orDie(buildOf(id)), ({ build, workspace }) => quotas.charge(build, workspace, daily_cost, work)).pipe(
            Effect.provide(services)
          )
        : Effect.void,

    succeeded: (id, plan, applied, timings) =>
      Effect.gen(function* () {
        const { build, workspace } = yield* buildOf(id)
        const now = yield* Timestamp.now
        const { deadlines, next_start_at } = yield* schedules.afterBuild(workspace, build, now)
        yield* builds.complete(id, {
          ...deadlines,
          has_ai_task: workspace.task_id !== null,
          has_external_agent: plan.has_external_agent || applied.resources.some(({ type }) => type === externalAgentType),
          state: yield* states.seal(id, applied.state),
          updated_at: now
        })
        if (next_start_at !== workspace.next_start_at) yield* workspaces.setNextStart(workspace.id, next_start_at)
        const agents = yield* outcomes.built(workspace, build, applied)
        yield* jobs.insertTimings(timings)
        const isClaim = stageOf(build) === "claim"
        yield* outcomes.record(workspace, build, { status_code: 200, replacements: isClaim ? (applied.replacements ?? []) : [] })
        yield* changed(workspace)
        if (isClaim) {
          yield* publish(prebuildClaimed(workspace.id), {
            workspace_id: workspace.id,
            reason: "prebuild_claimed",
            owner_id: workspace.owner_id
          })
        }
        yield* tellWhenOverdue(workspace, agents)
      }).pipe(Effect.provide(services)),

    ended: (id, { state }) =>
      Effect.gen(function* () {
        const { build, workspace } = yield* buildOf(id)
        if (state !== undefined) yield* builds.setState(id, yield* states.seal(id, state), yield* Timestamp.now)
        yield* outcomes.record(workspace, build, { status_code: 500 })
        yield* changed(workspace)
      }).pipe(Effect.orDie, Effect.provide(services)),

    changed: (id) => Effect.flatMap(buildOf(id), ({ workspace }) => changed(workspace)).pipe(Effect.orDie, Effect.provide(services)),

    running: states.running,

    existing: (workspaceIds) =>
      Effect.map(builds.gone(workspaceIds), (gone) => {
        const removed = new Set(gone)
        return new Set(workspaceIds.filter((id) => !removed.has(id)))
      }),

    unsuccessful: (buildIds) => Effect.map(builds.unsuccessful(buildIds), (ids) => new Set(ids))
  })
})

/** The inputs of jobs of type `workspace_build`, and the effects of their ends. workspaces.md §4.5. */
export const buildJobs = standingOn(
  service(WorkspaceBuildJobs, make),
  BuildStates.layer,
  BuildInputs.layer,
  WorkspaceQuotas.layer,
  WorkspaceSchedules.layer,
  BuildOutcomes.layer
)
