/** Workspaces, agents and templates by the names that users type. */
import { AtelierError, type Client, type Template, type Workspace, type WorkspaceAgent } from "@atelier/client"
import * as templates from "@atelier/client/templates"
import * as workspaces from "@atelier/client/workspaces"
import { exitCodes, Failure, usage } from "../Failure.js"
import type { Session } from "../Session.js"

export interface Place {
  readonly owner: string
  readonly workspace: string
  readonly agent: string | undefined
}

/** Reads `workspace`, `owner/workspace` or either with `.agent`. */
export const placeOf = (text: string): Place => {
  const [, owner = "me", workspace = "", agent] = /^(?:([^/]+)\/)?([^/.]+)(?:\.([^/]+))?$/.exec(text) ?? []
  if (workspace === "") throw usage(`"${text}": is not the name of a workspace.`, "a workspace is NAME, OWNER/NAME or OWNER/NAME.AGENT.")
  return { owner, workspace, agent }
}

/** Turns an error with status 404 into a failure that names the missing object, and returns any other error unchanged. */
export const notFound = (error: unknown, message: string, hint?: string): unknown =>
  error instanceof AtelierError && error.status === 404 ? new Failure({ message, hint, code: exitCodes.notFound, cause: error }) : error

export const findWorkspace = async (client: Client, text: string, { program, signal }: Session): Promise<Workspace> => {
  const { owner, workspace } = placeOf(text)
  try {
    return await workspaces.getWorkspaceByName(client, { user: owner, workspacename: workspace }, { signal })
  } catch (error) {
    throw notFound(error, `There is no workspace "${text}".`, `"${program} list" lists your workspaces.`)
  }
}

/** All agents of a workspace. A service with `compatibility: "coder"` leaves empty lists out. */
export const agentsOf = ({ latest_build }: Workspace): ReadonlyArray<WorkspaceAgent> =>
  latest_build.resources.flatMap(({ agents = [] }: { readonly agents?: ReadonlyArray<WorkspaceAgent> }) => agents)

/** The agent that a name stands for; without a name, the first one. */
export const agentIn = (workspace: Workspace, text: string): WorkspaceAgent => {
  const { agent } = placeOf(text)
  const all = agentsOf(workspace)
  const found = agent === undefined ? all[0] : all.find(({ name }) => name === agent)
  if (found !== undefined) return found
  const { status } = workspace.latest_build
  if (status !== "running") throw new Failure({ message: `The workspace "${text}" is ${status}.`, hint: "start it first." })
  throw new Failure({
    message: agent === undefined ? `The workspace "${text}" has no agent.` : `The workspace has no agent "${agent}".`,
    hint: all.length === 0 ? undefined : `it has ${all.map(({ name }) => name).join(", ")}.`,
    code: exitCodes.notFound
  })
}

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Finds a template by `name`, `organization/name` or id. */
export const findTemplate = async (client: Client, text: string, { program, signal }: Session): Promise<Template> => {
  if (isUuid(text)) return templates.getTemplate(client, { template: text }, { signal })
  const [name = "", organization] = text.split("/", 2).toReversed()
  const all = await templates.listTemplates(client, { q: `exact_name:${JSON.stringify(name)}` }, { signal })
  const found = all.filter((each) => each.name === name && (organization === undefined || each.organization_name === organization))
  const [first, ...others] = found
  if (first === undefined) {
    throw new Failure({
      message: `There is no template "${text}".`,
      hint: `"${program} templates list" lists them.`,
      code: exitCodes.notFound
    })
  }
  if (others.length > 0) {
    const names = found.map(({ organization_name }) => `${organization_name}/${name}`).join(", ")
    throw usage(`There are several templates "${name}".`, `name one of ${names}.`)
  }
  return first
}
