/** How this area is wired: its services, its background work, and what it needs stored. */
import { AgentConnections } from "./connections/AgentConnections.js"
import type { AgentLogRepository } from "./logs/AgentLogRepository.js"
import { AgentLogs } from "./logs/AgentLogs.js"
import { AgentManifests } from "./manifest/AgentManifests.js"
import type { AgentMetadataRepository } from "./metadata/AgentMetadataRepository.js"
import { agentOutages } from "./connections/AgentOutages.js"
import { AgentReports } from "./reports/AgentReports.js"
import type { AgentRepository } from "./AgentRepository.js"
import { Agents } from "./Agents.js"
import { AgentSessions } from "./credentials/AgentSessions.js"
import type { AgentStatRepository } from "./reports/AgentStat.js"
import { AgentTunnels } from "./connections/AgentTunnels.js"
import { AppReports } from "./apps/AppReports.js"
import type { BuildResourceRepository } from "./resources/BuildResourceRepository.js"
import { BuildResources } from "./resources/BuildResources.js"
import { InstanceIdentities } from "./credentials/InstanceIdentity.js"
import { Machines } from "./machines/Machines.js"
import { MetadataReports } from "./metadata/MetadataReports.js"
import type { ResourceMonitorRepository } from "./reports/ResourceMonitorRepository.js"
import { ResourceReports } from "./reports/ResourceReports.js"
import { StatReports } from "./reports/StatReports.js"
import { SubAgents } from "./manifest/SubAgents.js"
import { UsageReports } from "./reports/UsageReports.js"
import { together } from "../platform/wiring/Standing.js"

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
