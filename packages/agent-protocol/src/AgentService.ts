import type { Client } from "./drpc/DrpcClient.js"
import type { Handlers } from "./drpc/Router.js"
import { service, unary } from "./drpc/Service.js"
import * as Agent from "./messages/Agent.js"
import { Empty } from "./messages/Wrappers.js"

/** The calls of agents to the server. Spec: agents-and-apps.md §14. */
export const AgentService = service("coder.agent.v2.Agent", {
  GetManifest: unary(Agent.GetManifestRequest, Agent.Manifest),
  GetServiceBanner: unary(Agent.GetServiceBannerRequest, Agent.ServiceBanner),
  UpdateStats: unary(Agent.UpdateStatsRequest, Agent.UpdateStatsResponse),
  UpdateLifecycle: unary(Agent.UpdateLifecycleRequest, Agent.Lifecycle),
  BatchUpdateAppHealths: unary(Agent.BatchUpdateAppHealthRequest, Agent.BatchUpdateAppHealthResponse),
  UpdateStartup: unary(Agent.UpdateStartupRequest, Agent.Startup),
  BatchUpdateMetadata: unary(Agent.BatchUpdateMetadataRequest, Agent.BatchUpdateMetadataResponse),
  BatchCreateLogs: unary(Agent.BatchCreateLogsRequest, Agent.BatchCreateLogsResponse),
  GetAnnouncementBanners: unary(Agent.GetAnnouncementBannersRequest, Agent.GetAnnouncementBannersResponse),
  ScriptCompleted: unary(Agent.WorkspaceAgentScriptCompletedRequest, Agent.WorkspaceAgentScriptCompletedResponse),
  GetResourcesMonitoringConfiguration: unary(
    Agent.GetResourcesMonitoringConfigurationRequest,
    Agent.GetResourcesMonitoringConfigurationResponse
  ),
  PushResourcesMonitoringUsage: unary(Agent.PushResourcesMonitoringUsageRequest, Agent.PushResourcesMonitoringUsageResponse),
  ReportConnection: unary(Agent.ReportConnectionRequest, Empty),
  CreateSubAgent: unary(Agent.CreateSubAgentRequest, Agent.CreateSubAgentResponse),
  DeleteSubAgent: unary(Agent.DeleteSubAgentRequest, Agent.DeleteSubAgentResponse),
  ListSubAgents: unary(Agent.ListSubAgentsRequest, Agent.ListSubAgentsResponse),
  ReportBoundaryLogs: unary(Agent.ReportBoundaryLogsRequest, Agent.ReportBoundaryLogsResponse),
  UpdateAppStatus: unary(Agent.UpdateAppStatusRequest, Agent.UpdateAppStatusResponse),
  PushContextState: unary(Agent.PushContextStateRequest, Agent.PushContextStateResponse)
})

export type AgentHandlers<R = never> = Handlers<(typeof AgentService)["methods"], R>
export type AgentClient = Client<(typeof AgentService)["methods"]>
