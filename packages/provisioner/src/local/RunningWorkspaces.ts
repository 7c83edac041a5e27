/**
 * What runs of the workspaces of one directory: how their agents are started, watched and ended.
 */
import { makeKeyedLock, type Uuid } from "@atelier/core/platform"
import { Duration, Effect } from "effect"
import { end } from "../engine/ProcessTree.js"
import type { ProcessIdentity } from "../engine/ProcessTable.js"
import type { Report, WorkspaceStart } from "./WorkspaceBuild.js"
import type { Supervisors, Watched } from "./Supervisors.js"
import type { NotedProcesses, StateAgent, WorkspaceAgents } from "./WorkspaceAgents.js"
import { pathsOf, readRecord, writeRecord } from "./WorkspaceDirectory.js"
import type { WorkspaceState } from "./WorkspaceState.js"

/** The time to end for agents that have hardly begun, or have left processes behind. */
export const shortGrace = Duration.seconds(3)

interface Needs {
  readonly root: string
  /** How long processes have to end after they were asked to. */
  readonly grace: Duration.Duration
  readonly agents: WorkspaceAgents
  readonly supervisors: Supervisors
}

/** The processes of the workspaces of a directory. Its callers hold the workspace's lock. */
export const runningWorkspaces = ({ agents, grace, root, supervisors }: Needs) => {
  const locked = makeKeyedLock<Uuid.Uuid>()
  /** The builds that workspaces run by: a workspace that is handed over runs by another one, with other tokens. */
  const states = new Map<Uuid.Uuid, WorkspaceState>()

  /** Starts an agent again where it is still wanted, after ending what its last process has left. */
  const restart = (workspaceId: Uuid.Uuid, name: string, last: ProcessIdentity) =>
    Effect.gen(function* () {
      const state = states.get(workspaceId)
      const agent = state?.agents.find((agent) => agent.name === name)
      if (state === undefined || agent === undefined) return undefined
      const record = yield* readRecord(pathsOf(root, workspaceId))
      const noted = record?.processes.find((process) => process.agent === name)
      if (record?.wanted !== "running" || record.workspace_build_id !== state.workspace_build_id) return undefined
      if (noted?.pid !== last.pid || noted.started !== last.started) return undefined
      yield* end(agents.agentTree(workspaceId, name, last), shortGrace)
      return (yield* agents.start(state, agent, record.processes)).launched
    })

  /** Has an agent started again when it ends. The state has all agents of the workspace. */
  const supervise = (state: WorkspaceState, { name }: StateAgent, process: Watched) =>
    Effect.suspend(() => {
      const { workspace_id } = state
      states.set(workspace_id, state)
      const token = () => states.get(workspace_id)?.agents.find((agent) => agent.name === name)?.token
      return supervisors
        .watch({ workspaceId: workspace_id, agent: name, token }, process, (last) =>
          locked(workspace_id)(restart(workspace_id, name, last))
        )
        .pipe(Effect.annotateLogs({ output: pathsOf(root, workspace_id).log(name) }))
    })

  /**
   * Ends all that runs of a workspace, and notes that nothing of it is wanted. Notes that cannot be read or written, as on a full disk,
   * keep nothing running: what runs is found by the build's state and by its environment too.
   */
  const halt = (workspaceId: Uuid.Uuid, previous: WorkspaceState | undefined, within: Duration.Duration = grace) =>
    Effect.gen(function* () {
      yield* supervisors.forget(workspaceId)
      states.delete(workspaceId)
      const paths = pathsOf(root, workspaceId)
      const record = yield* Effect.catchAll(readRecord(paths), ({ message }) => Effect.as(Effect.logWarning(message), undefined))
      const note = (processes: NotedProcesses) =>
        record === undefined
          ? Effect.void
          : Effect.catchAll(writeRecord(paths, { ...record, wanted: "stopped", processes }), ({ message }) => Effect.logWarning(message))
      yield* note(record?.processes ?? [])
      const before = previous?.agents.map(({ process }) => process) ?? []
      yield* end(agents.workspaceTree(workspaceId, [...(record?.processes ?? []), ...before]), within)
      yield* note([])
    })

  /** Starts agents that are not running; ends them again if one fails to start. */
  const startAll = (state: WorkspaceState, wanted: WorkspaceStart["agents"], report: Report) =>
    Effect.gen(function* () {
      const { workspace_build_id, workspace_id } = state
      // The start of an agent notes its process and the build, before the agent begins
      if (wanted.length === 0)
        yield* writeRecord(pathsOf(root, workspace_id), { version: 1, workspace_build_id, wanted: "running", processes: [] })
      let processes: NotedProcesses = []
      const running: Array<readonly [StateAgent, Watched]> = []
      for (const agent of wanted) {
        const started = yield* agents.start(state, agent, processes)
        processes = started.processes
        const { ended, pid, started: since } = started.launched
        running.push([
          { ...agent, process: { pid, started: since } },
          { pid, started: since, ended }
        ])
        yield* report(`Agent ${agent.name} has been started in ${agent.directory === "" ? "the workspace's directory" : agent.directory}.`)
      }
      const whole: WorkspaceState = { ...state, agents: running.map(([agent]) => agent) }
      for (const [agent, process] of running) yield* supervise(whole, agent, process)
      return whole
    }).pipe(Effect.onError(() => Effect.ignoreLogged(halt(state.workspace_id, undefined, shortGrace))))

  /** Takes over a state with other tokens for agents that run on. Notes that another action has changed since are left alone. */
  const adopt = (before: WorkspaceState, state: WorkspaceState) =>
    Effect.gen(function* () {
      const paths = pathsOf(root, state.workspace_id)
      const record = yield* readRecord(paths)
      if (record?.wanted !== "running" || record.workspace_build_id !== before.workspace_build_id) return
      states.set(state.workspace_id, state)
      yield* writeRecord(paths, { ...record, workspace_build_id: state.workspace_build_id })
    })

  /** Whether a workspace runs by a build; undefined where no agent of it is watched, as before its recovery. */
  const runsBy = (workspaceId: Uuid.Uuid, workspaceBuildId: Uuid.Uuid): boolean | undefined => {
    const state = states.get(workspaceId)
    return state === undefined ? undefined : state.workspace_build_id === workspaceBuildId
  }

  return { locked, supervise, halt, startAll, adopt, runsBy }
}

/** The result of {@link runningWorkspaces}. */
export type RunningWorkspaces = ReturnType<typeof runningWorkspaces>
