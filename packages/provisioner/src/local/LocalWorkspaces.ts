/**
 * Workspaces as directories of this machine, and their agents as its processes.
 */
import { DeploymentOptions } from "@atelier/core/deployment"
import { Background, service, standingOn, type Uuid } from "@atelier/core/platform"
import type { RunningWorkspace, TellOutage } from "@atelier/core/provisioning"
import { Context, Duration, Effect, Option, Redacted, type Stream } from "effect"
import { resolve } from "node:path"
import type { LaunchError } from "../engine/AgentProcess.js"
import * as DirectoryOwner from "../engine/DirectoryOwner.js"
import { ProcessTable } from "../engine/ProcessTable.js"
import { makeOutages } from "./OutageFile.js"
import type { StillRunning } from "../engine/ProcessTree.js"
import { makeSupervisors } from "./Supervisors.js"
import { type AgentOptions, makeWorkspaceAgents, prefixOf } from "./WorkspaceAgents.js"
import { type DirectoryError, prepareRoot } from "../engine/EngineDirectory.js"
import { runningWorkspaces } from "./RunningWorkspaces.js"
import { clear, workspaceActions } from "./WorkspaceActions.js"
import { boundLog, discarded, identify, knownWorkspaces, pathsOf, readRecord } from "./WorkspaceDirectory.js"
import { LocalWorkspaceError, type Report, type WorkspaceBuild, type WorkspaceStart } from "./WorkspaceBuild.js"
import { workspaceRecovery } from "./WorkspaceRecovery.js"
import type { WorkspaceState } from "./WorkspaceState.js"

export interface LocalWorkspacesOptions {
  /** Where workspaces live; made when it is missing. One process at a time works in it. */
  readonly directory: string
  readonly agent: AgentOptions
  /** How long processes have to end after they were asked to. Default 30 seconds, at most 2 minutes. */
  readonly stopGrace?: Duration.DurationInput
  /** How long after its first unexpected end an agent is started again; doubles each time up to a minute. Default 1 second. */
  readonly restartDelay?: Duration.DurationInput
}

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
    /** Whether a workspace runs in this directory by the build whose state this is. */
    readonly runs: (state: WorkspaceState) => Effect.Effect<boolean>
    /** Takes over the state of a workspace that was handed over as it runs: its agents are started again with the new tokens. */
    readonly adopt: (before: WorkspaceState, state: WorkspaceState) => Effect.Effect<void, LocalWorkspaceError>
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
  static readonly layer = (options: LocalWorkspacesOptions) => standingOn(service(LocalWorkspaces, make(options)), ProcessTable.layer)
}

type Failure = DirectoryError | StillRunning | LaunchError

const logInterval = Duration.seconds(10)

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
    const running = runningWorkspaces({ root, grace, agents, supervisors })
    const { remove, start, stop } = workspaceActions({ ...running, root, directory_id, agents })
    /** Workspaces that an action of this process has touched. */
    const touched = new Set<Uuid.Uuid>()

    const touching = <A, E>(workspaceId: Uuid.Uuid, action: Effect.Effect<A, E, ProcessTable>) =>
      Effect.zipRight(
        Effect.sync(() => touched.add(workspaceId)),
        action
      ).pipe(Effect.provideService(ProcessTable, table), Effect.annotateLogs({ workspace_id: workspaceId }))

    const isTouched = (workspaceId: Uuid.Uuid) => touched.has(workspaceId)
    const { recover } = workspaceRecovery({ ...running, root, directory_id, inherited, table, agents, isTouched, touching })

    const act = <A>(
      workspaceId: Uuid.Uuid,
      previous: WorkspaceState | undefined,
      action: Effect.Effect<A, Failure | LocalWorkspaceError, ProcessTable>
    ) =>
      previous !== undefined && previous.directory_id !== directory_id
        ? Effect.fail(
            new LocalWorkspaceError({ message: `the workspace is not in ${root}: another server made it in a directory of its own` })
          )
        : Effect.mapError(running.locked(workspaceId)(touching(workspaceId, action)), (error) =>
            error._tag === "LocalWorkspaceError" ? error : new LocalWorkspaceError({ message: error.message })
          )

    const passOn = makeOutages()
    const tellOutages = (tell: TellOutage) =>
      Effect.flatMap(supervisors.watched, (watched) =>
        passOn(
          watched.flatMap(({ agent, token, workspaceId }) => {
            const now = token()
            const path = pathsOf(root, workspaceId).outage(agent)
            return now === undefined ? [] : [{ path, tell: (message: string) => tell({ token: Redacted.make(now), message }) }]
          })
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
      runs: ({ directory_id: directory, workspace_build_id, workspace_id }) =>
        Effect.suspend(() => {
          const known = directory === directory_id ? running.runsBy(workspace_id, workspace_build_id) : false
          if (known !== undefined) return Effect.succeed(known)
          return Effect.map(Effect.option(readRecord(pathsOf(root, workspace_id))), (record) =>
            Option.exists(record, (noted) => noted?.wanted === "running" && noted.workspace_build_id === workspace_build_id)
          )
        }),
      adopt: (before, state) => act(state.workspace_id, before, running.adopt(before, state)),
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
