/** Events for followers of an agent's logs and metadata. Workspace-wide events are in `workspaces/watching/WorkspaceEvents.ts`. */
import { Effect, Schema } from "effect"
import { type Channel, channel, channelsOf, type EventBus } from "../platform/events/EventBus.js"
import { publish } from "../platform/store/Transactor.js"
import { Uuid } from "../platform/texts/Uuid.js"
import { publishWorkspaceEvent, type WorkspaceEventKind } from "../workspaces/watching/WorkspaceEvents.js"
import type { AgentWorkspace } from "./AgentWorkspace.js"
import type { WorkspaceAgentId } from "./WorkspaceAgent.js"

const LogsAdded = Schema.Struct({})

/** An agent has stored new lines. */
export const agentLogs = channelsOf("agent-logs", LogsAdded)

const MetadataChanged = Schema.Struct({ agent_ids: Schema.Array(Uuid) })

/** Agents have new metadata. */
export const agentMetadata: Channel<typeof MetadataChanged.Type> = channel("agent-metadata", MetadataChanged)

/** Ids that fit one message of the bus. */
const idsPerMessage = 180

export const publishMetadataChange = (ids: ReadonlyArray<WorkspaceAgentId>): Effect.Effect<void, never, EventBus> =>
  Effect.gen(function* () {
    for (let start = 0; start < ids.length; start += idsPerMessage) {
      yield* publish(agentMetadata, { agent_ids: ids.slice(start, start + idsPerMessage) })
    }
  })

/** Tells who watches the agent's workspace. */
export const publishAgentEvent = (agent: AgentWorkspace, kind: WorkspaceEventKind): Effect.Effect<void, never, EventBus> =>
  publishWorkspaceEvent(agent.owner_id, { kind, workspace_id: agent.workspace_id, agent_id: agent.agent_id })
