/** What the screens inside a workspace begin with: the agent that they look at. */
import { AtelierError, type Workspace, type WorkspaceAgent } from "@atelier/client"
import { getRouteApi } from "@tanstack/react-router"
import { Lock, Unplug } from "lucide-react"
import type { ReactNode } from "react"
import { useMay } from "../../app/session.js"
import { filesText } from "../../texts/files.js"
import { Select } from "../../ui/Field.js"
import { Section } from "../../ui/Page.js"
import { Empty, ErrorState } from "../../ui/States.js"
import { useWorkspaceQuery } from "../workspaces/detail/workspace.js"
import { agentsOf } from "../workspaces/state.js"

/** The part of an address that names the agent; absent for the first one. */
export interface AgentSearch {
  readonly agent?: string
}

const route = getRouteApi("/@{$owner}/$workspace")

interface Props {
  /** The agent's name that the address has. */
  readonly name: string | undefined
  readonly children: (agent: WorkspaceAgent, workspace: Workspace) => ReactNode
}

/** Shows a screen of a connected agent, or why there is none. */
export const WithAgent = ({ children, name }: Props) => {
  const { data: workspace } = useWorkspaceQuery()
  const { id, organization_id, owner_id } = workspace ?? {}
  const may = useMay({ ssh: { on: "workspace", to: "ssh", owner: owner_id, organization: organization_id, id } })
  if (workspace === undefined || may.isPending) return null
  if (!may.ssh) {
    return (
      <Section>
        <Empty icon={<Lock />} title={filesText.notAllowed}>
          {filesText.notAllowedHint}
        </Empty>
      </Section>
    )
  }
  const agents = agentsOf(workspace.latest_build)
  const agent = name === undefined ? agents[0] : agents.find((each) => each.name === name)
  const isConnected = workspace.latest_build.status === "running" && agent?.status === "connected"
  return (
    <>
      {agents.length > 1 ? <AgentChoice agents={agents} chosen={agent?.name} /> : null}
      {isConnected ? (
        children(agent, workspace)
      ) : (
        <Section>
          <Empty icon={<Unplug />} title={filesText.noAgent}>
            {filesText.noAgentHint}
          </Empty>
        </Section>
      )}
    </>
  )
}

const AgentChoice = ({ agents, chosen = "" }: { readonly agents: ReadonlyArray<WorkspaceAgent>; readonly chosen: string | undefined }) => {
  const navigate = route.useNavigate()
  return (
    <label className="inside-agent">
      <span className="muted">{filesText.agent}</span>
      <Select
        value={chosen}
        onChange={(event) => void navigate({ to: ".", search: { agent: event.target.value } as never })}
        choices={agents.map(({ name }) => ({ value: name, label: name }))}
      />
    </label>
  )
}

/** A failure of what only the service's own agents offer. */
export const AgentError = ({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => unknown }) =>
  error instanceof AtelierError && error.status === 409 && /agent/i.test(error.message) ? (
    <Empty icon={<Unplug />} title={error.message}>
      {filesText.unknownAgent}
    </Empty>
  ) : (
    <ErrorState error={error} onRetry={onRetry} />
  )
