/**
 * Workspaces as directories of this machine, and their agents as its processes.
 */
import { DeploymentOptions } from "@atelier/core/deployment"
import { Background, makeKeyedLock, type Uuid } from "@atelier/core/platform"
import type { RunningWorkspace, TellOutage } from "@atelier/core/provisioning"
import { Context, Data, Duration, Effect, Either, Layer, Option, Redacted, Stream } from "effect"
import { resolve } from "node:path"
import type { LaunchError } from "../engine/AgentProcess.js"
import * as DirectoryOwner from "../engine/DirectoryOwner.js"
import type { PlacedFile } from "../template/Evaluation.js"
import { type ProcessIdentity, ProcessTable } from "../engine/ProcessTable.js"
import { makeOutages } from "./OutageFile.js"
import { end, type StillRunning } from "../engine/ProcessTree.js"
import { adopted, makeSupervisors, type Watched } from "./Supervisors.js"
import { type AgentOptions, makeWorkspaceAgents, prefixOf, type NotedProcesses, type StateAgent } from "./WorkspaceAgents.js"
import { type DirectoryError, prepareRoot } from "../engine/EngineDirectory.js"
import {
  boundLog,
  discard,
  discarded,
  identify,
  isUnfinished,
  knownWorkspaces,
  noteStarted,
  pathsOf,
  placeFile,
  prepareWorkspace,
  readRecord,
  removeTree,
  writeRecord
} from "./WorkspaceDirectory.js"
import { decodeState, type WorkspaceState } from "./WorkspaceState.js"

export interface LocalWorkspacesOptions {
  /** Where workspaces live; made when it is missing. One process at a time works in it. */
  readonly directory: string
  readonly agent: AgentOptions
  /** How long processes have to end after they were asked to. Default 30 seconds, at most 2 minutes. */
  readonly stopGrace?: Duration.DurationInput
  /** How long after its first unexpected end an agent is started again; doubles each time up to a minute. Default 1 second. */
  readonly restartDelay?: Duration.DurationInput
}

/** The workspace build that acts. */
export interface WorkspaceBuild {
  readonly workspace_id: Uuid.Uuid
  readonly workspace_build_id: Uuid.Uuid
  /** Where agents reach the service. */
  readonly access_url: string
}

/** The inputs of a start. */
export interface WorkspaceStart extends WorkspaceBuild {
  readonly agents: ReadonlyArray<Omit<StateAgent, "process">>
  readonly files: ReadonlyArray<PlacedFile>
}

/** An action on a workspace failed; `state` is the remaining state if the action has changed it. */
export class LocalWorkspaceError extends Data.TaggedError("LocalWorkspaceError")<{
  readonly message: string
  readonly state?: WorkspaceState
}> {}

/** Reports the progress of an action to its caller. */
export type Report = (line: string) => Effect.Effect<void>

export class LocalWorkspaces extends Context.Tag("@atelier/provisioner/LocalWorkspaces")<
  LocalWorkspaces,
  {
    /** A workspace's own directory, absolute, whether it exists or not. */
    readonly directoryOf: (workspaceId: Uuid.Uuid) => string
    /**
     * Makes the directory, writes the files and starts the agents, after ending what runs of the workspace. Failed or interrupted, it
     * leaves the workspace stopped. As every action, it refuses a workspace that lives in the directory of another server.
     */
    readonly start: (
      input: WorkspaceStart,
      previous: WorkspaceState | undefined,
      report: Report
    ) => Effect.Effect<WorkspaceState, LocalWorkspaceError>
    /** Ends the workspace's processes. Doing it twice is fine. */
    readonly stop: (
      build: WorkspaceBuild,
      previous: WorkspaceState | undefined,
      report: Report
    ) => Effect.Effect<WorkspaceState, LocalWorkspaceError>
    /**
     * Ends the workspace's processes and removes its directory. Without the state of a workspace that has run, as when it is orphaned,
     * the directory stays, unless the service never learned of its start (`unfinished`). Doing it twice is fine.
     */
    readonly remove: (
      workspaceId: Uuid.Uuid,
      previous: WorkspaceState | undefined,
      report: Report,
      unfinished?: boolean
    ) => Effect.Effect<void, LocalWorkspaceError>
    /**
     * After the server has started: finds the agents of running workspaces again, starts those that have ended as they were, with their
     * token, and ends what runs of workspaces that are not running. Workspaces that an action of this process has touched are left
     * alone, and so are those whose state cannot be read. What fails is logged.
     */
    readonly recover: (running: Stream.Stream<RunningWorkspace>) => Effect.Effect<void>
    /** Passes on what the agents report that do not reach the service. A report is passed on again until `tell` has succeeded, and then no more. */
    readonly tellOutages: (tell: TellOutage) => Effect.Effect<void>
    /** Whether the workspace's agents are to run in this server's directory. */
    readonly isRunning: (workspaceId: Uuid.Uuid) => Effect.Effect<boolean>
    /** The entry (`NAME=value`) in the environment of all processes of a workspace. */
    readonly markOf: (workspaceId: Uuid.Uuid) => string
  }
>() {
  static readonly layer = (options: LocalWorkspacesOptions) =>
    Layer.scoped(LocalWorkspaces, make(options)).pipe(Layer.provide(ProcessTable.layer))
}

type Failure = DirectoryError | StillRunning | LaunchError

const logInterval = Duration.seconds(10)
/** The time to end for agents that have hardly begun, or have left processes behind. */
const shortGrace = Duration.seconds(3)

const make = (options: LocalWorkspacesOptions) =>
  Effect.gen(function* () {
    const root = resolve(options.directory)
    const grace = Duration.min(options.stopGrace ?? "30 seconds", "2 minutes")
    const table = yield* ProcessTable

    if (process.platform === "win32")
      return yield* new LocalWorkspaceError({ message: "workspaces run on Linux and macOS, not on Windows" })
    yield* prepareRoot(root)
    yield* DirectoryOwner.own(root)
    const directory_id = yield* identify(root)
    const inherited = yield* knownWorkspaces(root)
    const { brand } = yield* DeploymentOptions
    const agents = makeWorkspaceAgents(root, { ...options.agent, environmentPrefix: options.agent.environmentPrefix ?? prefixOf(brand) })
    const supervisors = yield* makeSupervisors(options.restartDelay ?? "1 second")
    const locked = makeKeyedLock<Uuid.Uuid>()
    /** Workspaces that an action of this process has touched. */
    const touched = new Set<Uuid.Uuid>()

    /** Starts an agent again where it is still wanted, after ending what its last process has left. */
    const restart = (state: WorkspaceState, agent: StateAgent, last: ProcessIdentity) =>
      Effect.gen(function* () {
        const record = yield* readRecord(pathsOf(root, state.workspace_id))
        const noted = record?.processes.find((process) => process.agent === agent.name)
        if (record?.wanted !== "running" || record.workspace_build_id !== state.workspace_build_id) return undefined
        if (noted?.pid !== last.pid || noted.started !== last.started) return undefined
        yield* end(agents.agentTree(state.workspace_id, agent.name, last), shortGrace)
        return (yield* agents.start(state, agent, record.processes)).launched
      })

    const supervise = (state: WorkspaceState, agent: StateAgent, process: Watched) =>
      supervisors
        .watch({ workspaceId: state.workspace_id, agent: agent.name, token: agent.token }, process, (last) =>
          locked(state.workspace_id)(restart(state, agent, last))
        )
        .pipe(Effect.annotateLogs({ output: pathsOf(root, state.workspace_id).log(agent.name) }))

    /**
     * Ends all that runs of a workspace, and notes that nothing of it is wanted. Notes that cannot be read or written, as on a full disk,
     * keep nothing running: what runs is found by the build's state and by its environment too.
     */
    const halt = (workspaceId: Uuid.Uuid, previous: WorkspaceState | undefined, within: Duration.Duration = grace) =>
      Effect.gen(function* () {
        yield* supervisors.forget(workspaceId)
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
          yield* report(
            `Agent ${agent.name} has been started in ${agent.directory === "" ? "the workspace's directory" : agent.directory}.`
          )
        }
        const whole: WorkspaceState = { ...state, agents: running.map(([agent]) => agent) }
        for (const [agent, process] of running) yield* supervise(whole, agent, process)
        return whole
      }).pipe(Effect.onError(() => Effect.ignoreLogged(halt(state.workspace_id, undefined, shortGrace))))

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
        const state = stoppedState(input)
        yield* agents.ready
        yield* prepareWorkspace(paths)
        return yield* Effect.gen(function* () {
          yield* halt(input.workspace_id, previous)
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

    /** Discarded folders are no longer used: a file that cannot be removed is left for the next start of the server. */
    const clear = (asides: ReadonlyArray<string>) =>
      Effect.forEach(asides, (path) => Effect.catchAll(removeTree(path), ({ message }) => Effect.logWarning(message)), { discard: true })

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
        if (record?.wanted === "running" && record.workspace_build_id === state.workspace_build_id) {
          return yield* findAgain(state, record.processes)
        }
        yield* halt(workspaceId, state)
        yield* startAll(state, state.agents, () => Effect.void)
        yield* Effect.logInfo("the workspace has been started again")
      }).pipe(Effect.catchAllCause((cause) => Effect.logError("the workspace cannot be recovered", cause)))

    const touching = <A, E>(workspaceId: Uuid.Uuid, action: Effect.Effect<A, E, ProcessTable>) =>
      Effect.zipRight(
        Effect.sync(() => touched.add(workspaceId)),
        action
      ).pipe(Effect.provideService(ProcessTable, table), Effect.annotateLogs({ workspace_id: workspaceId }))

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
            touched.has(workspaceId) ? Effect.void : touching(workspaceId, recoverOne(workspaceId, states.get(workspaceId)))
          )
        yield* Effect.forEach(candidates, (workspaceId) => locked(workspaceId)(one(workspaceId)), { concurrency: 4, discard: true })
      })

    const act = <A>(
      workspaceId: Uuid.Uuid,
      previous: WorkspaceState | undefined,
      action: Effect.Effect<A, Failure | LocalWorkspaceError, ProcessTable>
    ) =>
      previous !== undefined && previous.directory_id !== directory_id
        ? Effect.fail(
            new LocalWorkspaceError({ message: `the workspace is not in ${root}: another server made it in a directory of its own` })
          )
        : Effect.mapError(locked(workspaceId)(touching(workspaceId, action)), (error) =>
            error._tag === "LocalWorkspaceError" ? error : new LocalWorkspaceError({ message: error.message })
          )

    const passOn = makeOutages()
    const tellOutages = (tell: TellOutage) =>
      Effect.flatMap(supervisors.watched, (watched) =>
        passOn(
          watched.map(({ agent, token, workspaceId }) => ({
            path: pathsOf(root, workspaceId).outage(agent),
            tell: (message) => tell({ token: Redacted.make(token), message })
          }))
        )
      )

    yield* Background.once("discarded_workspaces", Effect.flatMap(discarded(root), clear))
    yield* Background.repeat(
      "agent_logs",
      supervisors.watched.pipe(
        Effect.flatMap(Effect.forEach(({ agent, workspaceId }) => Effect.ignoreLogged(boundLog(pathsOf(root, workspaceId).log(agent))))),
        Effect.zipRight(Effect.sleep(logInterval))
      )
    )

    return LocalWorkspaces.of({
      directoryOf: (workspaceId) => pathsOf(root, workspaceId).home,
      start: (input, previous, report) => act(input.workspace_id, previous, start(input, previous, report)),
      stop: (build, previous, report) => act(build.workspace_id, previous, stop(build, previous, report)),
      remove: (workspaceId, previous, report, unfinished = false) =>
        act(workspaceId, previous, remove(workspaceId, previous, report, unfinished)),
      recover,
      tellOutages,
      markOf: agents.markOf,
      isRunning: (workspaceId) =>
        readRecord(pathsOf(root, workspaceId)).pipe(
          Effect.map((record) => record?.wanted === "running"),
          Effect.catchAll(({ message }) => Effect.as(Effect.logWarning(message), false))
        )
    })
  })
