/** Workspaces to run commands in. What does the work is loaded at the first call, so that a program without sandboxes does not carry it. */
import type { CallOptions } from "../call.js"
import type { Client } from "../Client.js"
import type { ProvisionerJobLog } from "../generated/types.js"
import type { Sandbox } from "./Sandbox.js"

export interface CreateSandbox {
  /** The name or id of a template. If no template has this name, a starter template of the name is imported for a caller who may create templates. */
  readonly template: string
  /** Of the workspace; a new one unless given. */
  readonly name?: string | undefined
  /** The owner, by username or id; the caller unless given. */
  readonly user?: string | undefined
  /** Milliseconds after which the workspace is deleted, from a second to 30 days; without it, it lives until it is deleted. */
  readonly timeout?: number | undefined
  /** The values of the template's parameters, by name. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
  /** Called with each line of the build's log. A platform without WebSockets has them at the end of the build. */
  readonly onProgress?: ((line: ProvisionerJobLog) => void) | undefined
}

export interface ListSandboxes {
  /** The search of the list of workspaces, such as `template:shell`; the caller's own unless given. */
  readonly q?: string | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

export interface GetSandbox extends CallOptions {
  /** The name of the agent; the first one unless given. */
  readonly agent?: string | undefined
}

export interface Sandboxes {
  /**
   * Creates a workspace and waits until commands can run in it. A workspace that is not built, or whose wait is aborted, is deleted again.
   *
   * @throws AtelierError with the build's error as its message and the end of its log as its detail, or the refusal of the service
   */
  readonly create: (input: CreateSandbox, options?: CallOptions) => Promise<Sandbox>
  /** Finds a running workspace by its id. @throws AtelierError 404 without the right to it */
  readonly get: (id: string, options?: GetSandbox) => Promise<Sandbox>
  /** Lists workspaces that run and whose agents are connected. */
  readonly list: (input?: ListSandboxes, options?: CallOptions) => Promise<ReadonlyArray<Sandbox>>
}

/** The sandboxes of a client. */
export const sandboxesOf = (client: Client): Sandboxes => {
  const load = () => import("./lifecycle.js")
  return {
    create: async (input, options) => (await load()).createSandbox(client, input, options),
    get: async (id, options) => (await load()).getSandbox(client, id, options),
    list: async (input, options) => (await load()).listSandboxes(client, input, options)
  }
}
