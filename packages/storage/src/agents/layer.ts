/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/agents"
import { Layer } from "effect"
import { layer as agentLogs } from "./logs/AgentLogRepository.js"
import { layer as agentMetadata } from "./metadata/AgentMetadataRepository.js"
import { layer as agents } from "./AgentRepository.js"
import { layer as agentStats } from "./reports/AgentStatRepository.js"
import { layer as buildResources } from "./resources/BuildResourceRepository.js"
import { layer as resourceMonitors } from "./reports/ResourceMonitorRepository.js"
import agentsMigration from "./migrations/0060_agents.js"
import hashedAgentTokens from "./migrations/0120_hashed_agent_tokens.js"
import externalAgentTokens from "./migrations/0210_external_agent_tokens.js"
import agentMonitors from "./migrations/0401_agent_monitors.js"
import agentDevcontainers from "./migrations/0480_agent_devcontainers.js"
import logBatches from "./migrations/0490_log_batches.js"
import logRows from "./migrations/0491_log_rows.js"
import logIds from "./migrations/0497_log_ids.js"
import seenAgents from "./migrations/0610_seen_agents.js"
import seenAgentsIndexes from "./migrations/0611_seen_agents_indexes.js"
import lostAgents from "./migrations/0640_lost_agents.js"
import lostJobs from "./migrations/0660_lost_jobs.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(agentLogs, agentMetadata, agents, agentStats, buildResources, resourceMonitors) satisfies Layer.Layer<
  Stored,
  never,
  Statements
>

export const migrations = {
  "0060_agents": agentsMigration,
  "0120_hashed_agent_tokens": hashedAgentTokens,
  "0210_external_agent_tokens": externalAgentTokens,
  "0401_agent_monitors": agentMonitors,
  "0480_agent_devcontainers": agentDevcontainers,
  "0490_log_batches": logBatches,
  "0491_log_rows": logRows,
  "0497_log_ids": logIds,
  "0610_seen_agents": seenAgents,
  "0611_seen_agents_indexes": seenAgentsIndexes,
  "0640_lost_agents": lostAgents,
  "0660_lost_jobs": lostJobs
}
