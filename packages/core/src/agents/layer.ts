/** How this area is wired: its services, its background work, and what it needs stored. */
import { AgentConnections } from "./AgentConnections.js"
import type { AgentLogRepository } from "./AgentLogRepository.js"
import { AgentLogs } from "./AgentLogs.js"
import { AgentManifests } from "./AgentManifests.js"
import type { AgentMetadataRepository } from "./AgentMetadataRepository.js"
import { agentOutages } from "./AgentOutages.js"
import { AgentReports } from "./AgentReports.js"
import type { AgentRepository } from "./AgentRepository.js"
import { Agents } from "./Agents.js"
import { AgentSessions } from "./AgentSessions.js"
import type { AgentStatRepository } from "./AgentStat.js"
import { AgentTunnels } from "./AgentTunnels.js"
import { AppReports } from "./AppReports.js"
import type { BuildResourceRepository } from "./BuildResourceRepository.js"
import { BuildResources } from "./BuildResources.js"
import { InstanceIdentities } from "./InstanceIdentity.js"
import { Machines } from "./Machines.js"
import { MetadataReports } from "./MetadataReports.js"
import type { ResourceMonitorRepository } from "./ResourceMonitorRepository.js"
import { ResourceReports } from "./ResourceReports.js"
import { StatReports } from "./StatReports.js"
import { SubAgents } from "./SubAgents.js"
import { UsageReports } from "./UsageReports.js"
import { together } from "../platform/Standing.js"

export const layer = together(
  AgentConnections.layer,
  AgentLogs.layer,
  AgentManifests.layer,
  AgentReports.layer,
  Agents.layer,
  AgentSessions.layer,
  AgentTunnels.layer,
  AppReports.layer,
  BuildResources.layer,
  InstanceIdentities.layer,
  Machines.layer,
  MetadataReports.layer,
  ResourceReports.layer,
  StatReports.layer,
  SubAgents.layer,
  UsageReports.layer
)

export const workers = [agentOutages]

export type Stored =
  | AgentLogRepository
  | AgentMetadataRepository
  | AgentRepository
  | AgentStatRepository
  | BuildResourceRepository
  | ResourceMonitorRepository
