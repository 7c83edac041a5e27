/**
 * The agents of one directory of workspaces: how each is started, and which processes are its own.
 */
import type { Uuid } from "@atelier/core/platform"
import { Effect, Either } from "effect"
import { userInfo } from "node:os"
import { resolve } from "node:path"
import { findProgram, launch, type Launched, type LaunchError } from "../engine/AgentProcess.js"
import type { ProcessIdentity, ProcessTable } from "../engine/ProcessTable.js"
import { kill, type ProcessTree } from "../engine/ProcessTree.js"
import { type DirectoryError } from "../engine/EngineDirectory.js"
import { folderIn, pathsOf, writeRecord } from "./WorkspaceDirectory.js"
import type { WorkspaceRecord, WorkspaceState } from "./WorkspaceState.js"

export interface AgentOptions {
  /** The agent's program and its first arguments. Agents start in their workspaces, so a relative path means a file there. */
  readonly command: ReadonlyArray<string>
  /** Prefix of the variables it reads, such as `SERVICE` in `SERVICE_AGENT_TOKEN`; default the deployment's brand in upper case. */
  readonly environmentPrefix?: string
  /** More of the agents' environment, which otherwise tells who and where they are, and the server's `NODE_EXTRA_CA_CERTS`. */
  readonly environment?: Readonly<Record<string, string>>
}

/** An agent as its build made it. */
export type StateAgent = WorkspaceState["agents"][number]
export type NotedProcesses = WorkspaceRecord["processes"]

/** An agent that runs, and the processes noted of its workspace since. */
export interface StartedAgent {
  readonly launched: Launched
  readonly processes: NotedProcesses
}

export interface WorkspaceAgents {
  /** Fails when there is no such program. */
  readonly ready: Effect.Effect<void, LaunchError>
  /** Starts an agent; its process is on the disk before it begins. `others` are the processes noted so far. */
  readonly start: (
    state: Omit<WorkspaceState, "agents">,
    agent: Omit<StateAgent, "process">,
    others: NotedProcesses
  ) => Effect.Effect<StartedAgent, LaunchError | DirectoryError, ProcessTable>
  /** All that runs of a workspace whose agents' processes are or were these. */
  readonly workspaceTree: (workspaceId: Uuid.Uuid, processes: ReadonlyArray<ProcessIdentity>) => ProcessTree
  /** The entry (`NAME=value`) in the environment of all processes of a workspace. */
  readonly markOf: (workspaceId: Uuid.Uuid) => string
  /** All that runs of one agent. */
  readonly agentTree: (workspaceId: Uuid.Uuid, agent: string, process: ProcessIdentity) => ProcessTree
}

/** The file of private authorities, which vouch for the service's certificate. Agents start in other folders than this process. */
const authorities = (): Readonly<Record<string, string>> => {
  const file = process.env["NODE_EXTRA_CA_CERTS"] ?? ""
  return file === "" ? {} : { NODE_EXTRA_CA_CERTS: resolve(file) }
}

/** The environment that a login would set, without the server's own; and the authorities that this process trusts. */
const baseEnvironment = (): Readonly<Record<string, string>> => {
  const user = Either.getOrElse(
    Either.try(() => userInfo()),
    // A container may run as a user that has no entry
    () => ({ username: String(process.getuid?.() ?? ""), shell: null })
  )
  return {
    PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
    LANG: process.env["LANG"] ?? "C.UTF-8",
    TERM: "xterm-256color",
    USER: user.username,
    LOGNAME: user.username,
    SHELL: user.shell ?? "/bin/sh",
    ...authorities()
  }
}

/** The prefix of a brand's variables; other characters than letters and digits become an underscore. */
export const prefixOf = (brand: string): string =>
  brand
    .trim()
    .replace(/[^0-9A-Za-z]+/g, "_")
    .toUpperCase()

export const makeWorkspaceAgents = (root: string, options: AgentOptions & { readonly environmentPrefix: string }): WorkspaceAgents => {
  const prefix = options.environmentPrefix
  const environment = { ...baseEnvironment(), ...options.environment }
  // Agents know this name: with the variable, they lead to the ports of their workspace alone
  const workspaceVariable = `${prefix}_LOCAL_WORKSPACE`
  const agentVariable = `${prefix}_LOCAL_AGENT`

  const start: WorkspaceAgents["start"] = (state, { directory, name, token }, others) =>
    Effect.gen(function* () {
      const { access_url, workspace_build_id, workspace_id } = state
      const paths = pathsOf(root, workspace_id)
      const launched = yield* launch({
        command: options.command,
        directory: yield* folderIn(paths.home, directory),
        log: paths.log(name),
        environment: {
          ...environment,
          HOME: paths.home,
          [`${prefix}_AGENT_URL`]: access_url,
          [`${prefix}_AGENT_TOKEN`]: token,
          // Its own default, the system's folder for temporary files, is shared by all workspaces
          [`${prefix}_AGENT_LOG_DIRECTORY`]: paths.home,
          [`${prefix}_AGENT_OUTAGE_FILE`]: paths.outage(name),
          [workspaceVariable]: workspace_id,
          [agentVariable]: `${workspace_id}/${name}`
        }
      })
      const processes = [...others.filter(({ agent }) => agent !== name), { agent: name, pid: launched.pid, started: launched.started }]
      yield* Effect.onError(writeRecord(paths, { version: 1, workspace_build_id, wanted: "running", processes }), () =>
        Effect.ignore(kill({ leaders: [launched], marks: [] }))
      )
      yield* launched.begin
      return { launched, processes }
    }).pipe(Effect.uninterruptible)

  const markOf = (workspaceId: Uuid.Uuid) => `${workspaceVariable}=${workspaceId}`

  return {
    ready: Effect.asVoid(findProgram(options.command[0] ?? "", environment["PATH"] ?? "")),
    start,
    workspaceTree: (workspaceId, leaders) => ({ leaders, marks: [markOf(workspaceId)] }),
    markOf,
    agentTree: (workspaceId, agent, process) => ({ leaders: [process], marks: [`${agentVariable}=${workspaceId}/${agent}`] })
  }
}
