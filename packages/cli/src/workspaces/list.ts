/** `list` and `show`. */
import { paginate, type Workspace, type WorkspaceAgent } from "@atelier/client"
import * as workspaces from "@atelier/client/workspaces"
import type { Session } from "../Session.js"
import { ago, durationText } from "../terminal/text.js"
import { agentsOf, findWorkspace } from "./find.js"

/** A word for what a workspace is doing. */
const stateOf = ({ dormant_at, health, latest_build }: Workspace): string => {
  if (dormant_at !== null) return "dormant"
  return latest_build.status === "running" && !health.healthy ? "unhealthy" : latest_build.status
}

export const list = async (
  { all, search }: { readonly all: boolean; readonly search: string | undefined },
  session: Session
): Promise<void> => {
  const client = await session.client()
  const q = search ?? (all ? "" : "owner:me")
  const found: Array<Workspace> = []
  for await (const each of paginate((page) => workspaces.listWorkspaces(client, { ...page, q }, { signal: session.signal })))
    found.push(each)
  const isForeign = all || search !== undefined
  session.out.list(
    found,
    [
      { title: "WORKSPACE", of: ({ name, owner_name }) => (isForeign ? `${owner_name}/${name}` : name), isKey: true },
      { title: "STATUS", of: stateOf },
      { title: "TEMPLATE", of: ({ template_name }) => template_name },
      { title: "OUTDATED", of: ({ outdated }) => (outdated ? "yes" : "") },
      { title: "LAST USED", of: ({ last_used_at }) => ago(last_used_at) },
      { title: "STOPS", of: ({ latest_build }) => (latest_build.deadline === null ? "" : ago(latest_build.deadline)) }
    ],
    `There is no workspace. "${session.program} create NAME --template TEMPLATE" creates one.`
  )
}

const agentText = ({ lifecycle_state, operating_system, status, version }: WorkspaceAgent): string =>
  [status, lifecycle_state, operating_system, version].filter((part) => part !== "").join(", ")

const appsOf = (agents: ReadonlyArray<WorkspaceAgent>): string =>
  agents.flatMap(({ apps }) => apps.filter(({ hidden }) => !hidden).map(({ slug }) => slug)).join(", ")

export const show = async ({ workspace: name }: { readonly workspace: string }, session: Session): Promise<void> => {
  const client = await session.client()
  const workspace = await findWorkspace(client, name, session)
  const { autostart_schedule, latest_build, ttl_ms } = workspace
  const agents = agentsOf(workspace)
  session.out.one(workspace, [
    ["Workspace", `${workspace.owner_name}/${workspace.name}`],
    ["Status", stateOf(workspace)],
    ["Template", `${workspace.template_name} (${latest_build.template_version_name}${workspace.outdated ? ", outdated" : ""})`],
    ["Build", `${latest_build.build_number}, ${latest_build.transition} ${ago(latest_build.created_at)} by ${latest_build.initiator_name}`],
    ...(latest_build.job.error === undefined || latest_build.job.error === "" ? [] : [["Error", latest_build.job.error] as const]),
    ["Created", ago(workspace.created_at)],
    ["Last used", ago(workspace.last_used_at)],
    ["Starts", autostart_schedule === undefined || autostart_schedule === "" ? "by hand" : autostart_schedule],
    [
      "Stops",
      latest_build.deadline === null
        ? ttl_ms === undefined
          ? "by hand"
          : `${durationText(ttl_ms)} after a start`
        : ago(latest_build.deadline)
    ],
    ...(workspace.expires_at === undefined ? [] : [["Deleted", ago(workspace.expires_at)] as const]),
    ...agents.map((agent) => [`Agent ${agent.name}`, agentText(agent)] as const),
    ...(appsOf(agents) === "" ? [] : [["Apps", appsOf(agents)] as const])
  ])
}
