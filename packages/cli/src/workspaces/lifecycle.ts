/** `start`, `stop`, `restart`, `update`, `delete` and `rename`. */
import type { Client, Workspace } from "@atelier/client"
import * as builds from "@atelier/client/builds"
import * as workspaces from "@atelier/client/workspaces"
import { Failure, usage } from "../Failure.js"
import type { Session } from "../Session.js"
import { beginBuild, continuing, followBuild, followDeletion, underWay, untilReady } from "./builds.js"
import { findWorkspace } from "./find.js"
import { requireParameters } from "./parameterNames.js"
import { parametersOf, type ParameterInput, type ParameterValue, promptedParameters } from "./parameters.js"

interface Named {
  readonly workspace: string
}

interface Waiting {
  /** Does not wait for the build. */
  readonly detach: boolean
}

const titleOf = ({ name, owner_name }: Workspace): string => `${owner_name}/${name}`

/** Shows the workspace to programs; people are told in a sentence. */
const tell = ({ out }: Session, workspace: Workspace, sentence: string): void => {
  if (out.format !== "table") out.one(workspace, [])
  out.say(sentence)
}

const reload = (client: Client, { id }: Workspace, { signal }: Session): Promise<Workspace> =>
  workspaces.getWorkspace(client, { workspace: id }, { signal })

/** The values that the user gives for a build, of parameters that its version has. */
const valuesFor = async (
  client: Client,
  { latest_build, owner_id }: Workspace,
  { input, version }: { readonly input: ParameterInput; readonly version: string },
  session: Session
): Promise<ReadonlyArray<ParameterValue>> => {
  const given = await parametersOf(input)
  if (given.length === 0) return given
  const others = await builds.getWorkspaceBuildParameters(client, { workspacebuild: latest_build.id }, { signal: session.signal })
  await requireParameters(client, { version, owner: owner_id, given, others }, session)
  return given
}

/** The version that a start without one takes. */
const startVersion = ({ latest_build, template_active_version_id, template_require_active_version }: Workspace): string =>
  template_require_active_version ? template_active_version_id : latest_build.template_version_id

export const start = async (input: Named & Waiting & ParameterInput, session: Session): Promise<void> => {
  const client = await session.liveClient()
  const found = await findWorkspace(client, input.workspace, session)
  await continuing(found, session, started(client, found, input, session))
}

const started = async (client: Client, found: Workspace, input: Waiting & ParameterInput, session: Session): Promise<void> => {
  const current = underWay(found)
  const isBegun = current?.transition === "start" || found.latest_build.status === "running"
  const rich_parameter_values = await valuesFor(client, found, { input, version: startVersion(found) }, session)
  if (isBegun && rich_parameter_values.length > 0) {
    session.out.warn(`the given values are not used: "${session.program} restart ${titleOf(found)}" takes them.`)
  }
  if (current?.transition === "start") await followBuild(client, current, session)
  else if (!isBegun) {
    const build = await beginBuild(client, found, { transition: "start", rich_parameter_values }, session)
    if (input.detach) return tell(session, await reload(client, found, session), `Starting ${titleOf(found)}.`)
    await followBuild(client, build, session)
  } else if (!input.detach) session.out.say(`${titleOf(found)} runs already.`)
  tell(session, await untilReady(client, found.id, session), `${titleOf(found)} is running.`)
}

export const stop = async ({ detach, workspace: name }: Named & Waiting, session: Session): Promise<void> => {
  const client = await session.liveClient()
  const found = await findWorkspace(client, name, session)
  const work = async (): Promise<void> => {
    if (found.latest_build.status === "stopped") return tell(session, found, `${titleOf(found)} is stopped already.`)
    const build = await beginBuild(client, found, { transition: "stop" }, session)
    if (!detach) await followBuild(client, build, session)
    return tell(session, await reload(client, found, session), `${titleOf(found)} ${detach ? "is stopping" : "is stopped"}.`)
  }
  await continuing(found, session, work())
}

/** The build behind another one, once the service has begun it. */
const buildBehind = async (client: Client, { id }: Workspace, before: number, { signal }: Session) => {
  for await (const { latest_build } of workspaces.watchWorkspace(client, { workspace: id }, { signal })) {
    if (latest_build.build_number > before) return latest_build
  }
  throw new Failure({ message: "The workspace cannot be watched any more." })
}

export const restart = async (input: Named & Waiting & ParameterInput, session: Session): Promise<void> => {
  const client = await session.liveClient()
  const found = await findWorkspace(client, input.workspace, session)
  const rich_parameter_values = await valuesFor(client, found, { input, version: startVersion(found) }, session)
  const work = async (): Promise<void> => {
    if (found.latest_build.status !== "running") return started(client, found, input, session)
    // The service starts it, also if this program is gone by then
    const body = { transition: "stop", on_success: { transition: "start", rich_parameter_values } } as const
    const build = await beginBuild(client, found, body, session)
    if (input.detach) return tell(session, await reload(client, found, session), `Restarting ${titleOf(found)}.`)
    await followBuild(client, build, session)
    const next = await session.out.waiting("Waiting for the start", buildBehind(client, found, build.build_number, session))
    await followBuild(client, next, session)
    return tell(session, await untilReady(client, found.id, session), `${titleOf(found)} is running.`)
  }
  await continuing(found, session, work())
}

export const update = async (input: Named & Waiting & ParameterInput, session: Session): Promise<void> => {
  const client = await session.liveClient()
  const found = await findWorkspace(client, input.workspace, session)
  if (!found.outdated && input.parameter.length === 0 && input.parameterFile === undefined) {
    return tell(session, found, `${titleOf(found)} has the template's active version already.`)
  }
  const version = found.template_active_version_id
  const given = await valuesFor(client, found, { input, version }, session)
  const rich_parameter_values = await promptedParameters(client, { version, owner: found.owner_id, given, isUpdate: true }, session)
  const work = async (): Promise<void> => {
    const body = { transition: "start", template_version_id: version, rich_parameter_values } as const
    const build = await beginBuild(client, found, body, session)
    if (input.detach) return tell(session, await reload(client, found, session), `Updating ${titleOf(found)}.`)
    await followBuild(client, build, session)
    return tell(session, await untilReady(client, found.id, session), `${titleOf(found)} is updated and running.`)
  }
  return continuing(found, session, work())
}

interface DeleteInput extends Waiting {
  readonly workspaces: ReadonlyArray<string>
  readonly yes: boolean
  readonly orphan: boolean
}

export const remove = async ({ detach, orphan, workspaces: names, yes }: DeleteInput, session: Session): Promise<void> => {
  const client = await session.liveClient()
  const found = await Promise.all(names.map((name) => findWorkspace(client, name, session)))
  const titles = found.map(titleOf).join(", ")
  if (!yes && !session.ask.canAsk)
    throw usage("The workspaces would be deleted with all their files.", "--yes deletes them without a question.")
  if (!yes && !(await session.ask.confirm(`Delete ${titles} with all files?`))) throw new Failure({ message: "Nothing was deleted." })
  for (const workspace of found) {
    const build = await beginBuild(client, workspace, { transition: "delete", ...(orphan ? { orphan } : {}) }, session)
    if (!detach) await continuing(workspace, session, followDeletion(client, build, session))
    session.out.say(`${titleOf(workspace)} is ${detach ? "being deleted" : "deleted"}.`)
  }
}

export const rename = async ({ name, workspace }: Named & { readonly name: string }, session: Session): Promise<void> => {
  const client = await session.client()
  const found = await findWorkspace(client, workspace, session)
  await workspaces.updateWorkspace(client, { workspace: found.id, body: { name } }, { signal: session.signal })
  tell(session, await reload(client, found, session), `${titleOf(found)} is now ${found.owner_name}/${name}.`)
}
