import type { Workspace } from "@atelier/client"
import { taskText } from "../../texts/tasks.js"
import { buildsText, workspaceText } from "../../texts/workspace.js"
import { Section } from "../../ui/page/Page.js"
import { AgentCard } from "../workspaces/detail/AgentCard.js"
import { BuildLog } from "../workspaces/detail/BuildLog.js"
import { agentsOf, isBuilding } from "../workspaces/state.js"

/** The workspace as it is now: its log while it is built, then its agents with their apps and terminals. */
export const Beside = ({ workspace }: { readonly workspace: Workspace }) => {
  const { latest_build } = workspace
  if (isBuilding(latest_build)) {
    return (
      <Section title={`${buildsText.transitions[latest_build.transition]} · ${buildsText.number(latest_build.build_number)}`}>
        <BuildLog key={latest_build.id} build={latest_build} height={260} />
      </Section>
    )
  }
  if (latest_build.status === "running")
    return agentsOf(latest_build).map((agent) => <AgentCard key={agent.id} agent={agent} workspace={workspace} />)
  return (
    <Section title={taskText.workspace}>
      <p className="muted">{workspaceText.off}</p>
    </Section>
  )
}
