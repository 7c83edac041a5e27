/** How sandboxes are made, found and thrown away. */
import { AtelierError } from "../AtelierError.js"
import type { CallOptions } from "../call.js"
import type { Client } from "../Client.js"
import * as builds from "../generated/builds.js"
import * as templates from "../generated/templates.js"
import * as templateVersions from "../generated/templateVersions.js"
import type { ProvisionerJobLog, Template, TemplateVersion, Workspace, WorkspaceAgent } from "../generated/types.js"
import * as workspaces from "../generated/workspaces.js"
import { sleep } from "../stream.js"
import { returnTime } from "./agentAbsence.js"
import { deleteWorkspace } from "./deleteWorkspace.js"
import { makeSandbox, type Sandbox } from "./Sandbox.js"
import type { CreateSandbox, GetSandbox, ListSandboxes } from "./Sandboxes.js"

/** Lines of a failed build's log that the error has. */
const shownLines = 20

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** A service with `compatibility: "coder"` leaves empty lists out. */
const agentOf = ({ latest_build }: Workspace, name?: string): WorkspaceAgent | undefined =>
  latest_build.resources
    .flatMap(({ agents = [] }: { readonly agents?: ReadonlyArray<WorkspaceAgent> }) => agents)
    .find((agent) => name === undefined || agent.name === name)

const isPreparing = ({ lifecycle_state, startup_script_behavior }: WorkspaceAgent): boolean =>
  startup_script_behavior === "blocking" && (lifecycle_state === "created" || lifecycle_state === "starting")

/** The agent, once commands can run beside it. */
const readyAgent = (workspace: Workspace, name?: string): WorkspaceAgent | undefined => {
  const agent = workspace.latest_build.status === "running" ? agentOf(workspace, name) : undefined
  return agent?.status === "connected" && !isPreparing(agent) ? agent : undefined
}

/** Why commands will never run in a workspace as it is; undefined while they may. */
const failureOf = (workspace: Workspace, agentName?: string): string | undefined => {
  const { latest_build, name } = workspace
  const { job, status } = latest_build
  if (status === "failed") return job.error === undefined || job.error === "" ? "The build has failed." : job.error
  if (status !== "pending" && status !== "starting" && status !== "running") return `The workspace "${name}" is ${status}.`
  if (status !== "running") return undefined
  const agent = agentOf(workspace, agentName)
  if (agent === undefined)
    return agentName === undefined ? "The template has no agent." : `The workspace has no agent named "${agentName}".`
  return agent.status === "timeout" ? "The agent has not connected in time." : undefined
}

const sandboxOf = (client: Client, workspace: Workspace, { id, name }: WorkspaceAgent): Sandbox =>
  makeSandbox(client, workspace, { id, name })

const failed = (message: string, lines: ReadonlyArray<ProvisionerJobLog> = []): AtelierError => {
  const written = lines.slice(-shownLines).map(({ output }) => output)
  return new AtelierError({ status: 0, message, detail: written.length === 0 ? undefined : written.join("\n") })
}

const agentIsLost = "The agent has lost its connection, and has not come back in two minutes."

/** Waits until commands can run, by the stream of the workspace's changes. */
const untilReady = async (client: Client, workspace: Workspace, signal: AbortSignal | undefined, name?: string): Promise<Sandbox> => {
  const settled = (seen: Workspace): Sandbox | undefined => {
    const agent = readyAgent(seen, name)
    if (agent !== undefined) return sandboxOf(client, seen, agent)
    const failure = failureOf(seen, name)
    if (failure !== undefined) throw failed(failure)
    return undefined
  }
  const at = settled(workspace)
  if (at !== undefined) return at
  const left = new AbortController()
  const abort = (): void => left.abort(signal?.reason)
  signal?.addEventListener("abort", abort)
  if (signal?.aborted === true) abort()
  let lost: ReturnType<typeof setTimeout> | undefined
  /** An agent that has lost its connection may be gone for good. */
  const look = (seen: Workspace): void => {
    const isLost = seen.latest_build.status === "running" && agentOf(seen, name)?.status === "disconnected"
    if (isLost) lost ??= setTimeout(() => left.abort(failed(agentIsLost)), returnTime)
    else {
      clearTimeout(lost)
      lost = undefined
    }
  }
  try {
    look(workspace)
    for await (const seen of workspaces.watchWorkspace(client, { workspace: workspace.id }, { signal: left.signal })) {
      const sandbox = settled(seen)
      if (sandbox !== undefined) return sandbox
      look(seen)
    }
  } finally {
    clearTimeout(lost)
    signal?.removeEventListener("abort", abort)
  }
  throw failed("The workspace cannot be watched any more.")
}

/** Passes on the log of a build while it runs. */
const followLog = (client: Client, workspacebuild: string, onProgress: (line: ProvisionerJobLog) => void) => {
  const ended = new AbortController()
  const { signal } = ended
  let last = 0
  const tell = (line: ProvisionerJobLog): void => {
    last = line.id
    onProgress(line)
  }
  const following = (async () => {
    if (client.WebSocket === undefined) return
    for await (const line of builds.followWorkspaceBuildLogs(client, { workspacebuild }, { signal })) tell(line)
  })().catch(() => {})
  return async (options: CallOptions): Promise<void> => {
    ended.abort()
    await following
    for (const line of await builds.getWorkspaceBuildLogs(client, { workspacebuild, after: last }, options)) tell(line)
  }
}

/** Pauses between looks at an import, in milliseconds, on a platform without WebSockets. */
const firstPause = 100
const longestPause = 2_000

/** Waits for the end of an import: the stream of its log ends with it. */
const untilImported = async (client: Client, templateversion: string, options: CallOptions): Promise<TemplateVersion> => {
  if (client.WebSocket !== undefined) {
    for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion }, options));
  }
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    const version = await templateVersions.getTemplateVersion(client, { templateversion }, options)
    if (version.job.status !== "pending" && version.job.status !== "running") return version
    await sleep(pause, options.signal)
  }
}

const templateNamed = async (client: Client, name: string, options: CallOptions): Promise<Template | undefined> =>
  (await templates.listTemplates(client, { q: `exact_name:${JSON.stringify(name)}` }, options))[0]

/** Imports the starter template of a name, under this name. Undefined if no starter template has the name. */
const importStarter = async (client: Client, name: string, options: CallOptions): Promise<Template | undefined> => {
  const starters = await templates.listTemplateExamples(client, options).catch((error: unknown) => {
    // The caller may not create templates
    if (error instanceof AtelierError && (error.status === 403 || error.status === 404)) return []
    throw error
  })
  if (!starters.some(({ id }) => id === name)) return undefined
  const organization = "default"
  const body = { example_id: name, storage_method: "file", provisioner: "terraform" } as const
  const version = await templateVersions.createTemplateVersion(client, { organization, body }, options)
  const { job } = await untilImported(client, version.id, options)
  if (job.status !== "succeeded") throw failed(`The template "${name}" cannot be imported: ${job.error ?? job.status}`)
  try {
    return await templates.createTemplate(client, { organization, body: { name, template_version_id: version.id } }, options)
  } catch (error) {
    // Another caller was faster
    const made = await templateNamed(client, name, options)
    if (made === undefined) throw error
    return made
  }
}

const templateIdOf = async (client: Client, template: string, options: CallOptions): Promise<string> => {
  if (isUuid(template)) return template
  const found = (await templateNamed(client, template, options)) ?? (await importStarter(client, template, options))
  if (found === undefined) throw new AtelierError({ status: 404, message: `There is no template named "${template}".` })
  return found.id
}

/** Lowercase letters and digits, so that the workspace's name also fits into the name of a host. */
const newName = (): string => `sandbox-${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`

/** Milliseconds that the clean-up of a workspace may take that its caller gets no object for. */
const cleanUpTime = 10_000

/** Creates a workspace. A call that is aborted before its end fails at once, and the workspace is deleted in the background once its id is known. */
const createWorkspace = async (client: Client, input: workspaces.CreateWorkspaceInput, { signal }: CallOptions): Promise<Workspace> => {
  signal?.throwIfAborted()
  const late = new AbortController()
  // Not broken off with the call: the service may have created the workspace, whose id only the answer tells
  const creating = workspaces.createWorkspace(client, input, { signal: late.signal })
  if (signal === undefined) return creating
  let abort = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason)
    signal.addEventListener("abort", abort)
  })
  try {
    return await Promise.race([creating, aborted])
  } catch (error) {
    if (signal.aborted) {
      const timer = setTimeout(() => late.abort(), cleanUpTime)
      creating
        .then(({ id }) => deleteWorkspace(client, id, { signal: late.signal }))
        .catch(() => {})
        .finally(() => clearTimeout(timer))
    }
    throw error
  } finally {
    signal.removeEventListener("abort", abort)
  }
}

export const createSandbox = async (
  client: Client,
  { name = newName(), onProgress, parameters = {}, template, timeout, user = "me" }: CreateSandbox,
  options: CallOptions = {}
): Promise<Sandbox> => {
  const body = {
    name,
    template_id: await templateIdOf(client, template, options),
    timeout_ms: timeout,
    rich_parameter_values: Object.entries(parameters).map(([name, value]) => ({ name, value }))
  }
  const workspace = await createWorkspace(client, { user, body }, options)
  const logged = onProgress === undefined ? undefined : followLog(client, workspace.latest_build.id, onProgress)
  try {
    const sandbox = await untilReady(client, workspace, options.signal)
    await logged?.(options)
    return sandbox
  } catch (error) {
    const reading = { signal: AbortSignal.timeout(cleanUpTime) }
    await logged?.(reading).catch(() => {})
    const lines = await builds.getWorkspaceBuildLogs(client, { workspacebuild: workspace.latest_build.id }, reading).catch(() => [])
    // The caller has no object to delete it with
    await deleteWorkspace(client, workspace.id, { signal: AbortSignal.timeout(cleanUpTime) }).catch(() => {})
    options.signal?.throwIfAborted()
    throw error instanceof AtelierError && error.status === 0 ? failed(error.message, lines) : error
  }
}

export const getSandbox = async (client: Client, id: string, { agent, signal }: GetSandbox = {}): Promise<Sandbox> =>
  untilReady(client, await workspaces.getWorkspace(client, { workspace: id }, { signal }), signal, agent)

export const listSandboxes = async (
  client: Client,
  { q = "owner:me", ...page }: ListSandboxes = {},
  options: CallOptions = {}
): Promise<ReadonlyArray<Sandbox>> =>
  (await workspaces.listWorkspaces(client, { q, ...page }, options)).workspaces.flatMap((workspace) => {
    const agent = readyAgent(workspace)
    return agent === undefined ? [] : [sandboxOf(client, workspace, agent)]
  })
