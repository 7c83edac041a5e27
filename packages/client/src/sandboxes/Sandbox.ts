/** One workspace, as a program works in it. */
import { AtelierError } from "../AtelierError.js"
import { call, type CallOptions, json } from "../call.js"
import type { Client } from "../Client.js"
import * as regions from "../generated/regions.js"
import * as workspaceSettings from "../generated/workspaceSettings.js"
import type { Process, Workspace } from "../generated/types.js"
import * as workspaces from "../generated/workspaces.js"
import { openTerminal, type Terminal, type TerminalInput } from "../reach.js"
import { deleteWorkspace } from "./deleteWorkspace.js"
import { filesOf, type SandboxFiles } from "./SandboxFiles.js"
import { attach, type Command, programOf, type SandboxProcess, spawn, type SpawnOptions } from "./SandboxProcess.js"

export interface ExecOptions extends CallOptions {
  /** Relative paths begin at the agent's directory, which is the default. */
  readonly cwd?: string | undefined
  /** Variables in addition to those of a login. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly stdin?: string | undefined
  /** Milliseconds after which the command is ended. */
  readonly timeout?: number | undefined
  /** Bytes of each output that are returned, from its beginning. */
  readonly maxOutputBytes?: number | undefined
  /** Of `stdin`, `stdout` and `stderr`; default `utf8`. */
  readonly encoding?: "utf8" | "base64" | undefined
}

/** How a command ended, and what it wrote. */
export interface ExecOutcome {
  /** Null if a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly stdoutTruncated: boolean
  readonly stderrTruncated: boolean
  readonly timedOut: boolean
  readonly durationMs: number
}

export interface DeleteOptions extends CallOptions {
  /** Waits until the workspace is gone, and not only until its deletion is queued. */
  readonly wait?: boolean | undefined
}

/** A running workspace. `await using` deletes it at the end of the block. */
export interface Sandbox {
  /** The workspace's id. */
  readonly id: string
  readonly name: string
  readonly agentId: string
  /** When the workspace is deleted; undefined if it lives until it is deleted. */
  readonly expiresAt: Date | undefined
  /** Runs a line of the shell, or a program with arguments, and waits for its end. A command that fails is no error: see `exitCode`. */
  readonly exec: (command: Command, options?: ExecOptions) => Promise<ExecOutcome>
  /** Starts a process that stays, also when the caller goes away. */
  readonly spawn: (command: Command, options?: SpawnOptions) => Promise<SandboxProcess>
  /** Attaches to a process that stays, from an offset of its output or from the beginning of what is kept. */
  readonly process: (id: string, options?: { readonly offset?: number } & CallOptions) => Promise<SandboxProcess>
  readonly processes: (options?: CallOptions) => Promise<ReadonlyArray<Process>>
  readonly files: SandboxFiles
  /** The address of a port, from 1000 on. @throws AtelierError if the service has no hosts for ports */
  readonly url: (port: number, options?: CallOptions) => Promise<string>
  readonly terminal: (input?: Omit<TerminalInput, "agent">, options?: CallOptions) => Promise<Terminal>
  /** Sets the time to the deletion anew, in milliseconds from now; null lets the workspace live until it is deleted. Returns its end. */
  readonly extend: (timeout: number | null, options?: CallOptions) => Promise<Date | undefined>
  /** Deletes the workspace with all its files. One that is gone is no failure. */
  readonly delete: (options?: DeleteOptions) => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The answer of the service. */
interface ExecAnswer {
  readonly exit_code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly stdout_truncated: boolean
  readonly stderr_truncated: boolean
  readonly timed_out: boolean
  readonly duration_ms: number
}

const exec = async (
  client: Client,
  workspaceagent: string,
  command: Command,
  { cwd, encoding, env, maxOutputBytes, signal, stdin, timeout }: ExecOptions = {}
): Promise<ExecOutcome> => {
  const body = { ...programOf(command), cwd, env, stdin, encoding, timeout_ms: timeout, max_output_bytes: maxOutputBytes }
  const path = "/api/v2/workspaceagents/{workspaceagent}/exec"
  const answer = await call<ExecAnswer>(client, "POST", path, json, { workspaceagent, body }, { signal })
  return {
    exitCode: answer.exit_code,
    signal: answer.signal,
    stdout: answer.stdout,
    stderr: answer.stderr,
    stdoutTruncated: answer.stdout_truncated,
    stderrTruncated: answer.stderr_truncated,
    timedOut: answer.timed_out,
    durationMs: answer.duration_ms
  }
}

const hostless = "The service has no hosts for the ports of workspaces."

const urlOf = async (
  client: Client,
  { name, owner_name }: Workspace,
  agent: string,
  port: number,
  options?: CallOptions
): Promise<string> => {
  if (!Number.isInteger(port) || port < 1_000 || port > 65_535) throw new RangeError("port: must be an integer from 1000 to 65535")
  const { host } = await regions.getAppHost(client, options)
  if (host === "") throw new AtelierError({ status: 0, message: hostless, detail: "An operator sets the option wildcard-access-url." })
  const label = `${port}--${agent}--${name}--${owner_name}`.toLowerCase()
  return `${new URL(client.baseUrl).protocol}//${host.replace("*", label)}/`
}

const instantOf = ({ expires_at }: Workspace): Date | undefined => (expires_at === undefined ? undefined : new Date(expires_at))

/** Waits until a workspace is gone; fails with the error of its deletion. */
const untilGone = async (client: Client, workspace: string, signal: AbortSignal | undefined): Promise<void> => {
  try {
    for await (const { latest_build } of workspaces.watchWorkspace(client, { workspace }, { signal })) {
      if (latest_build.status === "deleted") return
      if (latest_build.transition === "delete" && latest_build.status === "failed") {
        throw new AtelierError({ status: 0, message: latest_build.job.error ?? "The deletion has failed." })
      }
    }
  } catch (error) {
    if (!(error instanceof AtelierError) || (error.status !== 404 && error.status !== 410)) throw error
  }
}

export const makeSandbox = (
  client: Client,
  workspace: Workspace,
  { id: agentId, name: agent }: { readonly id: string; readonly name: string }
): Sandbox => {
  const { id } = workspace
  let expiresAt = instantOf(workspace)
  const remove = async ({ signal, wait = false }: DeleteOptions = {}): Promise<void> => {
    await deleteWorkspace(client, id, { signal })
    if (wait) await untilGone(client, id, signal)
  }
  return {
    id,
    name: workspace.name,
    agentId,
    get expiresAt() {
      return expiresAt
    },
    exec: (command, options) => exec(client, agentId, command, options),
    spawn: (command, options) => spawn(client, agentId, command, options),
    process: (process, options) => attach(client, agentId, process, options),
    processes: async (options) => {
      const path = "/api/v2/workspaceagents/{workspaceagent}/processes"
      return (await call<{ readonly processes: ReadonlyArray<Process> }>(client, "GET", path, json, { workspaceagent: agentId }, options))
        .processes
    },
    files: filesOf(client, agentId),
    url: (port, options) => urlOf(client, workspace, agent, port, options),
    terminal: (input, options) => openTerminal(client, { ...input, agent: agentId }, options),
    extend: async (timeout, options) => {
      const changed = await workspaceSettings.setWorkspaceTimeout(client, { workspace: id, body: { timeout_ms: timeout } }, options)
      expiresAt = instantOf(changed)
      return expiresAt
    },
    delete: remove,
    [Symbol.asyncDispose]: () => remove()
  }
}
