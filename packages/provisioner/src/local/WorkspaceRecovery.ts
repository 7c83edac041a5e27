/** Takes up the workspaces of one directory again, after the server has started. */
import type { Uuid } from "@atelier/core/platform"
import type { RunningWorkspace } from "@atelier/core/provisioning"
import { Effect, Either, Option, Stream } from "effect"
import { ProcessTable } from "../engine/ProcessTable.js"
import { end } from "../engine/ProcessTree.js"
import { type RunningWorkspaces, shortGrace } from "./RunningWorkspaces.js"
import { adopted } from "./Supervisors.js"
import type { NotedProcesses, WorkspaceAgents } from "./WorkspaceAgents.js"
import { pathsOf, prepareWorkspace, readRecord, writeRecord } from "./WorkspaceDirectory.js"
import { decodeState, type WorkspaceState } from "./WorkspaceState.js"

interface Needs extends Omit<RunningWorkspaces, "adopt"> {
  readonly root: string
  readonly directory_id: Uuid.Uuid
  /** Workspaces that the directory had when the server started. */
  readonly inherited: ReadonlyArray<Uuid.Uuid>
  readonly table: ProcessTable["Type"]
  readonly agents: WorkspaceAgents
  /** Whether an action of this process has touched the workspace. */
  readonly isTouched: (workspaceId: Uuid.Uuid) => boolean
  readonly touching: <A, E>(workspaceId: Uuid.Uuid, action: Effect.Effect<A, E, ProcessTable>) => Effect.Effect<A, E>
}

/** How workspaces are recovered. */
export const workspaceRecovery = ({
  agents,
  directory_id,
  halt,
  inherited,
  isTouched,
  locked,
  root,
  startAll,
  supervise,
  table,
  touching
}: Needs) => {
  /** Agents of a build whose notes are still those of this build: lets live what lives, starts what doesn't. */
  const findAgain = (state: WorkspaceState, noted: NotedProcesses) =>
    Effect.gen(function* () {
      let processes = noted
      for (const agent of state.agents) {
        const last = processes.find((process) => process.agent === agent.name) ?? agent.process
        if ((yield* table.find(last.pid))?.started === last.started) {
          yield* supervise(state, agent, yield* adopted(last))
          continue
        }
        yield* end(agents.agentTree(state.workspace_id, agent.name, last), shortGrace)
        const started = yield* agents.start(state, agent, processes)
        processes = started.processes
        yield* supervise(state, agent, started.launched)
        yield* Effect.logInfo(`the agent ${agent.name} has been started again`)
      }
    })

  const recoverOne = (workspaceId: Uuid.Uuid, state: WorkspaceState | undefined) =>
    Effect.gen(function* () {
      const paths = pathsOf(root, workspaceId)
      const record = yield* readRecord(paths)
      if (state === undefined || state.agents.length === 0) {
        const atRest = record === undefined || (record.wanted === "stopped" && record.processes.length === 0)
        return atRest ? undefined : yield* halt(workspaceId, state)
      }
      yield* prepareWorkspace(paths)
      if (record?.wanted === "running") {
        if (record.workspace_build_id === state.workspace_build_id) return yield* findAgain(state, record.processes)
        // The server ended between the hand-over to the owner and the engine's note of it: what runs is as it should be
        if (record.workspace_build_id === state.handed_over_from) {
          yield* writeRecord(paths, { ...record, workspace_build_id: state.workspace_build_id })
          return yield* findAgain(state, record.processes)
        }
      }
      yield* halt(workspaceId, state)
      yield* startAll(state, state.agents, () => Effect.void)
      yield* Effect.logInfo("the workspace has been started again")
    }).pipe(Effect.catchAllCause((cause) => Effect.logError("the workspace cannot be recovered", cause)))

  const recover = (running: Stream.Stream<RunningWorkspace>) =>
    Effect.gen(function* () {
      const states = new Map<Uuid.Uuid, WorkspaceState>()
      const candidates = new Set(inherited)
      yield* Stream.runForEach(running, ({ state, workspace_id }) =>
        Effect.sync(() => {
          // Its state cannot be read, so its processes are left alone: it may belong to this directory
          if (Option.isNone(state)) return void candidates.delete(workspace_id)
          const decoded = Either.getOrUndefined(decodeState(state.value))
          if (decoded?.directory_id !== directory_id) return
          states.set(workspace_id, decoded)
          candidates.add(workspace_id)
        })
      )
      const one = (workspaceId: Uuid.Uuid) =>
        Effect.suspend(() =>
          isTouched(workspaceId) ? Effect.void : touching(workspaceId, recoverOne(workspaceId, states.get(workspaceId)))
        )
      yield* Effect.forEach(candidates, (workspaceId) => locked(workspaceId)(one(workspaceId)), { concurrency: 4, discard: true })
    })

  return { recover }
}
