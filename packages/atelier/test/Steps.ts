/** What the tests of the whole path do again and again. */
import {
  AtelierError,
  agents,
  builds,
  type Client,
  createClient,
  logins,
  provisioning,
  type Template,
  type TemplateVersion,
  templates,
  templateVersions,
  users,
  type Workspace,
  type WorkspaceAgent,
  workspaces
} from "@atelier/client"
import { WebSocket } from "ws"
import { aTar } from "../../../test/records/archives.js"
import { patience, within } from "./within.js"

/** A client with the token of a user. */
export const clientOf = (baseUrl: string, token?: string): Client => createClient({ baseUrl, token, WebSocket })

/** What the first user signs in with. */
export const firstUser = { email: "ada@example.com", password: "correct horse battery" }

/** Makes the first user of an empty server; returns the token of its session. */
export const firstToken = async (url: string): Promise<string> => {
  const anonymous = clientOf(url)
  await users.createFirstUser(anonymous, { body: { ...firstUser, username: "ada" } })
  return (await logins.logIn(anonymous, { body: firstUser })).session_token
}

/** Makes the first user of an empty server, and a client for it. */
export const firstClient = async (url: string): Promise<Client> => clientOf(url, await firstToken(url))

/** Watches a workspace until it satisfies the condition, also while the server is away. */
export const untilWorkspace = async (
  client: Client,
  id: string,
  condition: (workspace: Workspace) => boolean,
  waiting = patience
): Promise<Workspace> => {
  const signal = AbortSignal.timeout(waiting)
  let last: Workspace | undefined
  const watched = async () => {
    try {
      for await (const workspace of workspaces.watchWorkspace(client, { workspace: id }, { signal, reconnect: () => 50 })) {
        last = workspace
        if (condition(workspace)) return workspace
      }
    } catch (error) {
      if (error instanceof AtelierError && error.status === 410) {
        return workspaces.getWorkspace(client, { workspace: id, include_deleted: true })
      }
      throw error
    }
    throw new Error(`the workspace ${id} is watched no more`)
  }
  return within(`the workspace ${id} gets there`, watched(), { patience: waiting, more: () => JSON.stringify(last?.latest_build, null, 1) })
}

/** A service that is compatible with existing clients leaves empty lists out. */
export const agentsOf = ({ latest_build }: Workspace): ReadonlyArray<WorkspaceAgent> =>
  latest_build.resources.flatMap(({ agents = [] }: { readonly agents?: ReadonlyArray<WorkspaceAgent> }) => agents)

export const agentOf = (workspace: Workspace): WorkspaceAgent => {
  const [agent] = agentsOf(workspace)
  if (agent === undefined) throw new Error("the workspace has no agent")
  return agent
}

export const isRunning = (workspace: Workspace): boolean =>
  workspace.latest_build.status === "running" &&
  agentsOf(workspace).some(({ lifecycle_state, status }) => status === "connected" && lifecycle_state === "ready")

/** Waits until an imported version's job has ended, by following its log to the end. */
const imported = async (client: Client, { id: templateversion }: TemplateVersion): Promise<void> => {
  const signal = AbortSignal.timeout(patience)
  for await (const _ of templateVersions.followTemplateVersionLogs(client, { templateversion }, { signal }));
  const { job } = await templateVersions.getTemplateVersion(client, { templateversion })
  if (job.status !== "succeeded") throw new Error(`the import is ${job.status}: ${job.error}`)
}

export const templateFrom = async (
  client: Client,
  name: string,
  source: { readonly example: string } | { readonly files: Record<string, string> }
): Promise<Template> => {
  const reference =
    "example" in source
      ? { example_id: source.example }
      : {
          file_id: (await provisioning.uploadFile(client, { contentType: "application/x-tar", body: await aTar(source.files) })).hash
        }
  const organization = "default"
  const version = await templateVersions.createTemplateVersion(client, {
    organization,
    body: { storage_method: "file", provisioner: "terraform", ...reference }
  })
  await imported(client, version)
  return templates.createTemplate(client, { organization, body: { name, template_version_id: version.id } })
}

/** Makes a workspace of the caller's own. */
export const workspaceFrom = (
  client: Client,
  { id: template_id }: Pick<Template, "id">,
  name: string,
  fields: Partial<workspaces.CreateWorkspaceInput["body"]> = {}
): Promise<Workspace> => workspaces.createWorkspace(client, { user: "me", body: { ...fields, name, template_id } })

export const build = (client: Client, { id: workspace }: Workspace, transition: "start" | "stop" | "delete") =>
  builds.createWorkspaceBuild(client, { workspace, body: { transition } })

/** Runs a command in a workspace once its agent is connected; returns what it writes. */
export const outputOfCommand = (client: Client, id: string, command: string): Promise<string> => {
  const signal = AbortSignal.timeout(patience)
  const run = async () => (await (await client.sandboxes.get(id, { signal })).exec(command, { signal })).stdout
  return within(`"${command}" ends in the workspace ${id}`, run())
}

/** The agent's output once it has that many different lines; they may arrive a moment after what they tell of. */
export const outputOf = async (client: Client, { id: workspaceagent }: WorkspaceAgent, count: number): Promise<ReadonlyArray<string>> => {
  const lines = new Set<string>()
  const signal = AbortSignal.timeout(patience)
  try {
    for await (const rows of agents.followAgentLogs(client, { workspaceagent }, { signal })) {
      for (const { output } of rows) lines.add(output)
      if (lines.size >= count) break
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return [...lines]
}
