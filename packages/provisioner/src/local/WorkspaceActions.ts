/** What builds do to the workspaces of one directory. */
import type { Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import { LocalWorkspaceError, type Report, type WorkspaceBuild, type WorkspaceStart } from "./WorkspaceBuild.js"
import type { RunningWorkspaces } from "./RunningWorkspaces.js"
import type { WorkspaceAgents } from "./WorkspaceAgents.js"
import { discard, isUnfinished, noteStarted, pathsOf, placeFile, prepareWorkspace, removeTree } from "./WorkspaceDirectory.js"
import type { WorkspaceState } from "./WorkspaceState.js"

/** Discarded folders are no longer used: a file that cannot be removed is left for the next start of the server. */
export const clear = (asides: ReadonlyArray<string>) =>
  Effect.forEach(asides, (path) => Effect.catchAll(removeTree(path), ({ message }) => Effect.logWarning(message)), { discard: true })

interface Needs extends Pick<RunningWorkspaces, "halt" | "startAll"> {
  readonly root: string
  readonly directory_id: Uuid.Uuid
  readonly agents: WorkspaceAgents
}

/** The starts, stops and deletes of workspaces. Their callers hold the workspace's lock. */
export const workspaceActions = ({ agents, directory_id, halt, root, startAll }: Needs) => {
  const stoppedState = ({ access_url, workspace_build_id, workspace_id }: WorkspaceBuild): WorkspaceState => ({
    version: 1,
    engine: "local",
    directory_id,
    workspace_id,
    workspace_build_id,
    access_url,
    agents: []
  })

  const start = (input: WorkspaceStart, previous: WorkspaceState | undefined, report: Report) =>
    Effect.gen(function* () {
      const paths = pathsOf(root, input.workspace_id)
      const state: WorkspaceState = { ...stoppedState(input), port: input.port }
      yield* agents.ready
      const isNew = yield* prepareWorkspace(paths)
      return yield* Effect.gen(function* () {
        // Agents are noted in the folders before they begin. Looking for them reads every process of the machine
        if (!isNew || previous !== undefined) yield* halt(input.workspace_id, previous)
        for (const file of input.files) yield* placeFile(paths.home, file)
        const started = yield* startAll(state, input.agents, report)
        yield* noteStarted(paths)
        return started
      }).pipe(Effect.mapError(({ message }) => new LocalWorkspaceError({ message, state })))
    })

  const stop = (build: WorkspaceBuild, previous: WorkspaceState | undefined, report: Report) =>
    Effect.gen(function* () {
      yield* halt(build.workspace_id, previous)
      yield* report("All processes of the workspace have ended.")
      return stoppedState(build)
    })

  /** A workspace that has run comes without its state when it is orphaned: then its files stay. */
  const remove = (workspaceId: Uuid.Uuid, previous: WorkspaceState | undefined, report: Report, unfinished: boolean) =>
    Effect.gen(function* () {
      yield* halt(workspaceId, previous)
      const paths = pathsOf(root, workspaceId)
      const filesStay = previous === undefined && !unfinished && !(yield* isUnfinished(paths))
      const asides = yield* discard(root, workspaceId, filesStay ? ["notes"] : ["home", "notes"])
      yield* report(filesStay ? `The files in ${paths.home} stay.` : "The workspace's directory has been removed.")
      yield* clear(asides)
    })

  return { start, stop, remove }
}

/** The result of {@link workspaceActions}. */
export type WorkspaceActions = ReturnType<typeof workspaceActions>
