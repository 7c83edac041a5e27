/** What users name in commands, such as workspaces, agents and templates. */
import {
  AtelierError,
  type Client,
  type Organization,
  type Template,
  type TemplateVersion,
  type Workspace,
  type WorkspaceAgent
} from "@atelier/client"
import * as organizations from "@atelier/client/organizations"
import * as templates from "@atelier/client/templates"
import * as templateVersions from "@atelier/client/templateVersions"
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

/** The answer of a request for an object. Status 404 is a failure that names the object. */
export const existing = async <A>(answer: Promise<A>, message: string, hint?: string): Promise<A> => {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof AtelierError) || error.status !== 404) throw error
    throw new Failure({ message, hint, code: exitCodes.notFound, cause: error })
  }
}

/** The answer of a request for a user. */
export const ofUser = <A>(user: string, answer: Promise<A>): Promise<A> => existing(answer, `There is no user "${user}".`)

export const findOrganization = (client: Client, organization: string, { program, signal }: Session): Promise<Organization> =>
  existing(
    organizations.getOrganization(client, { organization }, { signal }),
    `There is no organization "${organization}".`,
    `"${program} organizations list" lists them.`
  )

export const findVersion = (client: Client, template: Template, name: string, { program, signal }: Session): Promise<TemplateVersion> =>
  existing(
    templateVersions.getTemplateVersionByName(client, { template: template.id, templateversionname: name }, { signal }),
    `The template "${template.name}" has no version "${name}".`,
    `"${program} templates versions ${template.name}" lists them.`
  )

export const findWorkspace = (client: Client, text: string, { program, signal }: Session): Promise<Workspace> => {
  const { owner, workspace } = placeOf(text)
  return existing(
    workspaces.getWorkspaceByName(client, { user: owner, workspacename: workspace }, { signal }),
    `There is no workspace "${text}".`,
    `"${program} list" lists your workspaces.`
  )
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
