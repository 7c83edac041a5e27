/** `create`. */
import { AtelierError, type Client, type Preset, type Template, type Workspace } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import * as users from "@atelier/client/users"
import * as workspaces from "@atelier/client/workspaces"
import { exitCodes, Failure, isAnswerLost, usage } from "../Failure.js"
import { asFlags } from "../requests/asFlags.js"
import { patiently } from "../requests/patiently.js"
import type { Session } from "../Session.js"
import { chooseTemplate } from "../templates/chooseTemplate.js"
import { continuing, followBuild, untilReady } from "./builds.js"
import { findVersion } from "./find.js"
import { requireParameters } from "./parameterNames.js"
import { type ParameterInput, parametersOf, promptedParameters } from "./parameters.js"

interface CreateInput extends ParameterInput {
  readonly name: string | undefined
  readonly template: string | undefined
  readonly templateVersion: string | undefined
  readonly preset: string | undefined
  readonly stopAfter: number | undefined
  readonly deleteAfter: number | undefined
  readonly schedule: string | undefined
  readonly detach: boolean
}

const versionOf = async (client: Client, template: Template, name: string | undefined, session: Session): Promise<string> =>
  name === undefined ? template.active_version_id : (await findVersion(client, template, name, session)).id

const presetOf = async (client: Client, version: string, name: string | undefined, { signal }: Session): Promise<Preset | undefined> => {
  if (name === undefined) return undefined
  const presets = (await templateVersions.getTemplateVersionPresets(client, { templateversion: version }, { signal })) ?? []
  const found = presets.find((preset) => preset.name === name)
  if (found !== undefined) return found
  throw new Failure({
    message: `The template has no preset "${name}".`,
    hint: presets.length === 0 ? "leave --preset out." : `it has ${presets.map((preset) => preset.name).join(", ")}.`,
    code: exitCodes.notFound
  })
}

const ownerAndName = async ({ name }: CreateInput, { ask, program }: Session): Promise<readonly [string, string]> => {
  if (name === undefined && !ask.canAsk) throw usage("create: NAME is missing.", `"${program} create --help" has the usage.`)
  const given = name ?? (await ask.line("Name of the workspace"))
  const [workspace = "", owner = "me", ...more] = given.split("/").toReversed()
  if (workspace === "" || more.length > 0) throw usage(`name: "${given}" must be NAME or OWNER/NAME.`)
  return [owner, workspace]
}

const named = (client: Client, user: string, workspacename: string, { signal }: Session): Promise<Workspace | undefined> =>
  workspaces.getWorkspaceByName(client, { user, workspacename }, { signal }).catch((error: unknown) => {
    if (error instanceof AtelierError && error.status === 404) return undefined
    throw error
  })

/** Refuses a name that the owner has used, before the user answers questions. */
const requireFree = async (client: Client, user: string, name: string, session: Session): Promise<void> => {
  const taken = await named(client, user, name, session)
  if (taken !== undefined) {
    throw new Failure({ message: `There is a workspace "${taken.owner_name}/${taken.name}" already.`, hint: "choose another name." })
  }
}

type Body = workspaces.CreateWorkspaceInput["body"]

const flags = { ttl_ms: "--stop-after", timeout_ms: "--delete-after", autostart_schedule: "--schedule", schedule: "--schedule" }

/**
 * Creates a workspace whose name was free. If the answer is lost, which happens where the service ends, the command looks for the workspace by its name. If it
 * finds none, it sends the request again: an owner cannot have two workspaces of one name.
 */
const created = async (client: Client, user: string, body: Body, session: Session): Promise<Workspace> => {
  const { signal } = session
  const attempt = () => asFlags(flags, workspaces.createWorkspace(client, { user, body }, { signal }))
  try {
    return await attempt()
  } catch (error) {
    if (!isAnswerLost(error)) throw error
    session.out.say("The service did not answer. Waiting until it does.")
    const find = () => patiently(() => named(client, user, body.name, session), signal)
    return (
      (await find()) ??
      attempt().catch(async (again: unknown) => {
        // The service has created it for the first request
        const found = again instanceof AtelierError && again.status === 409 ? await find() : undefined
        if (found === undefined) throw again
        return found
      })
    )
  }
}

export const create = async (input: CreateInput, session: Session): Promise<void> => {
  const { out, signal } = session
  const client = await session.liveClient()
  const [user, name] = await ownerAndName(input, session)
  await requireFree(client, user, name, session)
  const template = await chooseTemplate(client, input.template, session)
  const version = await versionOf(client, template, input.templateVersion, session)
  const preset = await presetOf(client, version, input.preset, session)
  const own = await parametersOf(input)
  const given = new Map((preset?.parameters ?? []).map((each) => [each.name, each.value]))
  for (const each of own) given.set(each.name, each.value)
  const values = [...given].map(([each, value]) => ({ name: each, value }))
  const owner = session.ask.canAsk || own.length > 0 ? (await users.getUser(client, { user }, { signal })).id : user
  await requireParameters(client, { version, owner, given: own, others: preset?.parameters ?? [] }, session)
  const rich_parameter_values = await promptedParameters(client, { version, owner, given: values, isUpdate: false }, session)
  const body = {
    name,
    ...(input.templateVersion === undefined ? { template_id: template.id } : { template_version_id: version }),
    template_version_preset_id: preset?.id,
    rich_parameter_values,
    ttl_ms: input.stopAfter,
    timeout_ms: input.deleteAfter,
    autostart_schedule: input.schedule
  }
  const workspace = await created(client, user, body, session)
  const title = `${workspace.owner_name}/${workspace.name}`
  if (input.detach) {
    // The answer to a creation leaves some fields empty
    if (out.format !== "table") out.one(await workspaces.getWorkspace(client, { workspace: workspace.id }, { signal }), [])
    return out.say(`Creating ${title}.`)
  }
  const work = async (): Promise<void> => {
    await followBuild(client, workspace.latest_build, session)
    const ready = await untilReady(client, workspace.id, session)
    if (out.format !== "table") out.one(ready, [])
    out.say(`${title} is running. "${session.program} ssh ${workspace.name}" opens a shell.`)
  }
  return continuing(workspace, session, work())
}
