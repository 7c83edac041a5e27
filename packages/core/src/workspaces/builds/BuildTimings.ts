/** How long the parts of a build took. workspaces.md §4.6. */
import { Context, Effect, Option, Schema } from "effect"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { BuildResourceRepository } from "../../agents/resources/BuildResourceRepository.js"
import { ScriptTimingView } from "../../agents/manifest/AgentScript.js"
import { NotFound } from "../../platform/Errors.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { ProvisionerJobRepository } from "../../provisioning/jobs/ProvisionerJobRepository.js"
import { JobTiming } from "../../provisioning/jobs/JobTiming.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import type { WorkspaceId } from "../Workspace.js"
import { type WorkspaceBuildId } from "./WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** From an agent's creation to its first connection. */
export const ConnectionTiming = Schema.Struct({
  started_at: Timestamp,
  ended_at: Timestamp,
  stage: Schema.Literal("connect"),
  workspace_agent_id: Uuid,
  workspace_agent_name: Schema.String
})

/** Timings without an end are left out. */
export const BuildTimingsView = Schema.Struct({
  provisioner_timings: Schema.Array(JobTiming),
  agent_script_timings: Schema.Array(ScriptTimingView),
  agent_connection_timings: Schema.Array(ConnectionTiming)
})
export interface BuildTimingsView extends Schema.Schema.Type<typeof BuildTimingsView> {}

/** Runs of scripts that are shown, the first: how many there are is up to the template's schedules. */
const maximumRuns = 1000

const noBuild = new NotFound({ resource: "workspace_build" })

/** The methods of {@link BuildTimings}. */
export interface BuildTimingsService {
  /** The timings of a build. Fails with `NotFound` if the actor may not read the workspace. */
  readonly ofBuild: (id: WorkspaceBuildId) => Effect.Effect<BuildTimingsView, NotFound, CurrentActor>

  /** The timings of a workspace's latest build. */
  readonly ofWorkspace: (id: WorkspaceId) => Effect.Effect<BuildTimingsView, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const jobs = yield* ProvisionerJobRepository
  const resources = yield* BuildResources
  const parts = yield* BuildResourceRepository

  const ofJob = (jobId: Uuid) =>
    Effect.gen(function* () {
      const made = (yield* resources.ofJobs([jobId])).get(jobId) ?? []
      return {
        provisioner_timings: yield* jobs.timings(jobId),
        agent_script_timings: yield* parts.scriptTimings(jobId, maximumRuns),
        agent_connection_timings: made
          .flatMap(({ agents }) => agents)
          .flatMap(({ created_at, first_connected_at, id, name }) =>
            first_connected_at === null
              ? []
              : [
                  {
                    started_at: created_at,
                    ended_at: first_connected_at,
                    stage: "connect" as const,
                    workspace_agent_id: id,
                    workspace_agent_name: name
                  }
                ]
          )
      } satisfies BuildTimingsView
    })

  return {
    ofBuild: Traced.fn("BuildTimings.ofBuild")(function* (id: WorkspaceBuildId) {
      const build = Option.getOrUndefined(yield* builds.byId(id))
      if (build === undefined) return yield* noBuild
      yield* Effect.flatMap(workspaces.byId(build.workspace_id), (found) => visibleWorkspace(found, noBuild))
      return yield* ofJob(build.job_id)
    }),

    ofWorkspace: Traced.fn("BuildTimings.ofWorkspace")(function* (id: WorkspaceId) {
      yield* Effect.flatMap(workspaces.byId(id), (found) => visibleWorkspace(found))
      const build = Option.getOrUndefined(yield* builds.latest(id))
      return build === undefined ? yield* noBuild : yield* ofJob(build.job_id)
    })
  }
})

/** How long builds take. */
export class BuildTimings extends Context.Tag("@atelier/core/BuildTimings")<BuildTimings, BuildTimingsService>() {
  static readonly layer = standingOn(service(BuildTimings, make), BuildResources.layer)
}
