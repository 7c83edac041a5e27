/** The service that agents call over their connection: messages in, services' use cases, messages out. agents-and-apps.md §14. */
import { type AgentMessages, AgentService, Router, type RpcError, type Version } from "@atelier/agent-protocol"
import {
  AgentLogs,
  AgentManifests,
  AgentReports,
  type AgentReportsOfAgent,
  type AgentWorkspace,
  AppReports,
  MetadataReports,
  ResourceReports,
  SubAgents,
  UsageReports
} from "@atelier/core/agents"
import type { CurrentActor } from "@atelier/core/access"
import { DeploymentAppearance } from "@atelier/core/deployment"
import { RelayMaps } from "@atelier/core/network"
import { Effect } from "effect"
import { appCalls } from "./appCalls.js"
import { makeContextState } from "./contextState.js"
import { manifestMessage } from "./manifest.js"
import { reportCalls } from "./reportCalls.js"
import { subAgentCalls } from "./subAgentCalls.js"
import { usageCalls } from "./usageCalls.js"
import { answered } from "./values.js"

/** What one connection of an agent remembers of its calls. Made when it is needed first: most connections are idle. */
export class Memory {
  reports: AgentReportsOfAgent | undefined = undefined
  pushContextState: ReturnType<typeof makeContextState> | undefined = undefined
}

/** Makes the manifest of an agent, and the service for one connection of an agent that speaks a version of it. */
export const maker = Effect.gen(function* () {
  const manifests = yield* AgentManifests
  const logs = yield* AgentLogs
  const appearance = yield* DeploymentAppearance
  const metadata = yield* MetadataReports
  const agentReports = yield* AgentReports
  const appReports = yield* AppReports
  const resourceReports = yield* ResourceReports
  const subAgents = yield* SubAgents
  const usageReports = yield* UsageReports
  const { connectionInfo } = yield* RelayMaps

  const manifestOf = (agent: AgentWorkspace): Effect.Effect<AgentMessages.ManifestInit, RpcError, CurrentActor> =>
    Effect.zipWith(answered(manifests.of(agent)), connectionInfo, manifestMessage)

  const serving = Router.perCall(AgentService)

  const serviceOf = (agent: AgentWorkspace, version: Version.Version, memory: Memory) =>
    serving(() => ({
      GetManifest: () => manifestOf(agent),
      GetServiceBanner: () => Effect.map(appearance.get, ({ service_banner }) => service_banner),
      GetAnnouncementBanners: () =>
        Effect.map(appearance.get, ({ announcement_banners }) => ({ announcement_banners: [...announcement_banners] })),
      ...reportCalls({ agent, version, reports: () => (memory.reports ??= agentReports.of(agent)), logs, metadata }),
      ...usageCalls({ usage: usageReports.of(agent), resources: resourceReports.of(agent) }),
      ...appCalls(appReports.of(agent)),
      ...subAgentCalls(subAgents.of(agent)),
      PushContextState: (request) => (memory.pushContextState ??= makeContextState())(request)
    }))

  return { manifestOf, serviceOf }
})
