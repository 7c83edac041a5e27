/** What the screens inside a workspace begin with: the agent that they look at. */
import { AtelierError, type WorkspaceAgent } from "@atelier/client"
import { getRouteApi } from "@tanstack/react-router"
import { Lock, Unplug } from "lucide-react"
import { Fragment, type ReactNode, useState } from "react"
import { useMay } from "../../app/session.js"
import { filesText } from "../../texts/files.js"
import { Callout } from "../../ui/page/Callout.js"
import { Select } from "../../ui/forms/Field.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, ErrorState } from "../../ui/page/States.js"
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
  /** The screen. It stays while the agent is away: texts and uploads are in it. */
  readonly children: (agent: WorkspaceAgent, isConnected: boolean) => ReactNode
}

/** Shows a screen of an agent from when it is connected, or why there is none. Each agent of a workspace, by its name, has a screen of its own. */
export const WithAgent = ({ children, name }: Props) => {
  const { data: workspace } = useWorkspaceQuery()
  const { id, organization_id, owner_id } = workspace ?? {}
  const [seen, setSeen] = useState<{ readonly workspace: string; readonly agent: WorkspaceAgent }>()
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
  if (isConnected && seen?.agent !== agent) setSeen({ workspace: workspace.id, agent })
  // Another build has another agent of this name, and none before it has begun
  const isSeen = seen?.workspace === workspace.id && (agent?.name ?? name ?? seen.agent.name) === seen.agent.name
  const shown = isConnected ? agent : isSeen ? seen.agent : undefined
  return (
    <>
      {agents.length > 1 ? <AgentChoice agents={agents} chosen={agent?.name} /> : null}
      {shown === undefined || isConnected ? null : (
        <Callout kind="warning" title={filesText.noAgent}>
          {filesText.awayHint}
        </Callout>
      )}
      {shown !== undefined ? (
        <Fragment key={`${workspace.id} ${shown.name}`}>{children(shown, isConnected)}</Fragment>
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
