/** `logs`: of a build, and of the agents. */
import type { Client, ProvisionerJobLog, Workspace, WorkspaceAgent, WorkspaceAgentLog } from "@atelier/client"
import * as agents from "@atelier/client/agents"
import * as builds from "@atelier/client/builds"
import type { Session } from "../Session.js"
import { logLine } from "../terminal/text.js"
import { agentIn, agentsOf, findWorkspace, existing, placeOf } from "./find.js"

interface LogsInput {
  readonly workspace: string
  readonly follow: boolean
  readonly build: number | undefined
  readonly only: "build" | "agent" | undefined
}

const printBuildLine = ({ out }: Session, line: ProvisionerJobLog): void =>
  out.row({ source: "build", ...line }, logLine(line.output === "" ? `==> ${line.stage}` : line.output, out.hasColours))

const printAgentLine = ({ out }: Session, agent: string, line: WorkspaceAgentLog, isNamed: boolean): void =>
  out.row({ source: "agent", agent, ...line }, logLine(isNamed ? `${agent}: ${line.output}` : line.output, out.hasColours))

const buildNumbered = (client: Client, { latest_build, name, owner_name: user }: Workspace, number: number, { signal }: Session) =>
  existing(
    builds.getWorkspaceBuildByNumber(client, { user, workspacename: name, buildnumber: String(number) }, { signal }),
    `The workspace "${name}" has no build ${number}.`,
    `the latest is ${latest_build.build_number}.`
  )

const buildLogs = async (client: Client, workspace: Workspace, { build, follow }: LogsInput, session: Session): Promise<void> => {
  const { signal } = session
  const { id } = build === undefined ? workspace.latest_build : await buildNumbered(client, workspace, build, session)
  if (follow) {
    for await (const line of builds.followWorkspaceBuildLogs(client, { workspacebuild: id }, { signal })) printBuildLine(session, line)
  } else {
    for (const line of await builds.getWorkspaceBuildLogs(client, { workspacebuild: id }, { signal })) printBuildLine(session, line)
  }
}

const agentLogs = async (
  client: Client,
  { id, name }: WorkspaceAgent,
  follow: boolean,
  isNamed: boolean,
  session: Session
): Promise<void> => {
  const { signal } = session
  if (!follow) {
    for (const line of await agents.getAgentLogs(client, { workspaceagent: id }, { signal })) printAgentLine(session, name, line, isNamed)
    return
  }
  for await (const lines of agents.followAgentLogs(client, { workspaceagent: id }, { signal })) {
    for (const line of lines) printAgentLine(session, name, line, isNamed)
  }
}

export const logs = async (input: LogsInput, session: Session): Promise<void> => {
  const client = await session.liveClient()
  const { follow, only, workspace: name } = input
  const before = await findWorkspace(client, name, session)
  const isOneAgent = placeOf(name).agent !== undefined
  if (only !== "agent" && !isOneAgent) await buildLogs(client, before, input, session)
  if (only === "build" || input.build !== undefined) return
  // The build may have made them
  const workspace = follow ? await findWorkspace(client, name, session) : before
  const chosen = isOneAgent ? [agentIn(workspace, name)] : agentsOf(workspace)
  const isNamed = chosen.length > 1
  if (follow) await Promise.all(chosen.map((agent) => agentLogs(client, agent, true, isNamed, session)))
  else for (const agent of chosen) await agentLogs(client, agent, false, isNamed, session)
}
