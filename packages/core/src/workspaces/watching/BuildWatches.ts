/** The progress of builds, for clients that wait for them. */
import { Context, Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import { type Entitled, rightTo } from "../../access/streams/StreamRights.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Forbidden, type NotFound } from "../../platform/Errors.js"
import { EventBus } from "../../platform/events/EventBus.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import type { WorkspaceId } from "../Workspace.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { agentConnection, type ConnectionWatchEvent } from "./AgentConnectionWatch.js"
import { type EndedBuild, endedBuilds } from "./EndedBuilds.js"

/** The methods of {@link BuildWatches}. */
export interface BuildWatchesService {
  /**
   * Each build of the deployment that has ended, from now on. Fails with `Forbidden` without the experiment `workspace-build-updates`, or
   * if the actor may not read all workspaces. workspaces.md §6.4.
   */
  readonly ended: () => Effect.Effect<Entitled<EndedBuild>, Forbidden, CurrentActor>

  /**
   * What stands between a client and an agent: the state of the latest build, and once it runs, of the agent. Without a name it is the only
   * agent. Ends with an error if that agent cannot be told. Fails with `NotFound` if the actor may not read the workspace. §6.3.
   */
  readonly agentConnection: (id: WorkspaceId, agentName: string) => Effect.Effect<Entitled<ConnectionWatchEvent>, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const resources = yield* BuildResources
  const bus = yield* EventBus

  const mayWatchEnds = Effect.gen(function* () {
    const { experiments } = yield* DeploymentOptions
    if (!experiments.includes("workspace-build-updates")) {
      return yield* new Forbidden({ message: "The experiment workspace-build-updates is off." })
    }
    yield* Access.authorize("read", AccessObjects.bare("workspace"))
  })

  return {
    ended: Traced.fn("BuildWatches.ended")(function* () {
      const [right] = yield* rightTo("workspace:*", () => mayWatchEnds)
      return { right, values: endedBuilds({ builds, workspaces, bus }) }
    }),

    agentConnection: Traced.fn("BuildWatches.agentConnection")(function* (id: WorkspaceId, agentName: string) {
      const [right, workspace] = yield* rightTo(`workspace:${id}`, () =>
        Effect.flatMap(workspaces.byId(id), (found) => visibleWorkspace(found))
      )
      return { right, values: agentConnection({ builds, resources, bus }, workspace, agentName) }
    })
  }
})

/** The progress of builds, for clients that wait for them. */
export class BuildWatches extends Context.Tag("@atelier/core/BuildWatches")<BuildWatches, BuildWatchesService>() {
  static readonly layer = standingOn(service(BuildWatches, make), BuildResources.layer)
}
