/** The service that agents call over their connection: messages in, services' use cases, messages out. agents-and-apps.md §14. */
import { DeploymentAppearance } from "@atelier/core/deployment"
import { AgentService, type AgentMessages, Router, Version } from "@atelier/agent-protocol"
import {
  AgentLifecycle,
  AgentLogs,
  AgentManifests,
  AgentReports,
  AppReports,
  collection,
  ResourceReports,
  UsageReports,
  AgentSubsystem,
  type AgentWorkspace,
  AppHealth,
  AppState,
  MetadataReports,
  ScriptStage,
  ScriptStatus,
  type SubAgent,
  SubAgents
} from "@atelier/core/agents"
import { RelayMaps } from "@atelier/core/network"
import type { ConnectionType } from "@atelier/core/logs"
import { LogLevel, Timestamp, Uuid, type Validation } from "@atelier/core/platform"
import { AppOpenIn, DisplayApp, type ProvisionedApp, SharingLevel } from "@atelier/core/provisioning"
import { Duration, Effect, Either, Redacted } from "effect"
import { makeContextState } from "./contextState.js"
import { manifestMessage } from "./manifest.js"
import { answered, bytesOf, idOf, instantOf, named, refusal, secondsOf } from "./values.js"

/** Kinds of connections that agents tell apart. */
const connectionTypes = ["ssh", "vscode", "jetbrains", "reconnecting_pty"] as const satisfies ReadonlyArray<ConnectionType>

/** An app that an agent asks for, with the defaults of a template; or the reason why it is refused. */
const provisionedApp = (app: AgentMessages.SubAgentApp): Either.Either<ProvisionedApp, Validation> => {
  const share = app.share ?? "OWNER"
  const sharing_level = SharingLevel.literals.find((level) => level.toUpperCase() === share)
  if (sharing_level === undefined) return Either.left({ field: "share", detail: `${share} is not a sharing level` })
  const way = app.open_in ?? "SLIM_WINDOW"
  const open_in = AppOpenIn.literals.find((known) => known.replace("-", "_").toUpperCase() === way)
  if (open_in === undefined) return Either.left({ field: "open_in", detail: `${way} is not a way to open an app` })
  return Either.right({
    slug: app.slug,
    display_name: app.display_name ?? "",
    command: app.command ?? "",
    url: app.url ?? "",
    icon: app.icon ?? "",
    subdomain: app.subdomain ?? false,
    external: app.external ?? false,
    sharing_level,
    healthcheck: app.healthcheck ?? null,
    order: app.order ?? 0,
    group: app.group ?? "",
    hidden: app.hidden ?? false,
    open_in,
    tooltip: ""
  })
}

const subAgentMessage = ({ id, name, token }: SubAgent): AgentMessages.SubAgent => ({
  id: bytesOf(id),
  name,
  auth_token: bytesOf(Uuid.Uuid.make(Redacted.value(token)))
})

/** Sessions by the kind of program: those that newer agents name, or else the four that older ones count. */
const sessionCounts = (stats: AgentMessages.Stats): ReadonlyMap<string, number> =>
  stats.session_counts.size > 0
    ? stats.session_counts
    : new Map([
        ["vscode", stats.session_count_vscode],
        ["jetbrains", stats.session_count_jetbrains],
        ["reconnecting_pty", stats.session_count_reconnecting_pty],
        ["ssh", stats.session_count_ssh]
      ])

/** Makes the service for one connection of an agent that speaks a version of it. */
export const maker = Effect.gen(function* () {
  const manifests = yield* AgentManifests
  const logs = yield* AgentLogs
  const appearance = yield* DeploymentAppearance
  const metadata = yield* MetadataReports
  const agentReports = yield* AgentReports
  const appReports = yield* AppReports
  const resourceReports = yield* ResourceReports
  const subAgentsOf = yield* SubAgents
  const usageReports = yield* UsageReports
  const { connectionInfo } = yield* RelayMaps

  return (agent: AgentWorkspace, version: Version.Version) => {
    const reports = agentReports.of(agent)
    const apps = appReports.of(agent)
    const resources = resourceReports.of(agent)
    const subAgents = subAgentsOf.of(agent)
    const usage = usageReports.of(agent)

    return Router.make(AgentService, {
      GetManifest: () => Effect.zipWith(answered(manifests.of(agent)), connectionInfo, manifestMessage),
      GetServiceBanner: () => Effect.map(appearance.get, ({ service_banner }) => service_banner),
      GetAnnouncementBanners: () =>
        Effect.map(appearance.get, ({ announcement_banners }) => ({ announcement_banners: [...announcement_banners] })),

      UpdateStats: ({ stats }) =>
        Effect.map(
          answered(usage.stats(stats === undefined ? undefined : { ...stats, session_counts: sessionCounts(stats) })),
          (interval) => ({
            report_interval: secondsOf(Duration.toSeconds(interval))
          })
        ),

      UpdateLifecycle: ({ lifecycle }) =>
        Effect.gen(function* () {
          if (lifecycle === undefined) return yield* refusal("lifecycle is required")
          const state = yield* named("state", AgentLifecycle.literals, lifecycle.state)
          const changed_at = yield* instantOf("changed_at", lifecycle.changed_at)
          yield* answered(reports.lifecycle({ state, changed_at }))
          return lifecycle
        }),

      UpdateStartup: ({ startup }) =>
        Effect.gen(function* () {
          if (startup === undefined) return yield* refusal("startup is required")
          yield* answered(
            reports.startup({
              version: startup.version,
              expanded_directory: startup.expanded_directory,
              subsystems: yield* Either.all(startup.subsystems.map((subsystem) => named("subsystem", AgentSubsystem.literals, subsystem))),
              api_version: Version.format(version)
            })
          )
          return startup
        }),

      BatchUpdateAppHealths: ({ updates }) =>
        Effect.gen(function* () {
          const sent = updates.map(({ health, id }) =>
            Either.all({ id: idOf("id", id), health: named("health", AppHealth.literals, health) })
          )
          yield* answered(apps.healths(yield* Either.all(sent)))
          return {}
        }),

      UpdateAppStatus: ({ message, slug, state, uri }) =>
        Effect.as(
          answered(apps.status({ app_slug: slug, state: Either.getOrUndefined(named("state", AppState.literals, state)), message, uri })),
          {}
        ),

      BatchUpdateMetadata: ({ metadata: items }) =>
        Effect.as(
          answered(
            metadata.report(
              agent,
              items.map(({ key, result }) => ({ key, value: result?.value ?? "", error: result?.error ?? "" }))
            )
          ),
          {}
        ),

      BatchCreateLogs: (request) =>
        Effect.gen(function* () {
          const log_source_id = yield* idOf("log_source_id", request.log_source_id)
          const sent = request.logs.map(({ level, output }) => ({
            level: Either.getOrElse(named("level", LogLevel.literals, level), (): LogLevel => "info"),
            output
          }))
          return yield* answered(logs.report(agent, { log_source_id, logs: sent }))
        }),

      ScriptCompleted: ({ timing }) =>
        Effect.gen(function* () {
          if (timing === undefined) return yield* refusal("timing is required")
          const started_at = yield* instantOf("start", timing.start)
          const ended_at = yield* instantOf("end", timing.end)
          if (started_at === undefined || ended_at === undefined) return yield* refusal("start and end are required")
          yield* answered(
            reports.scriptCompleted({
              script_id: yield* idOf("script_id", timing.script_id),
              started_at,
              ended_at,
              exit_code: timing.exit_code,
              stage: yield* named("stage", ScriptStage.literals, timing.stage),
              status: yield* named("status", ScriptStatus.literals, timing.status)
            })
          )
          return {}
        }),

      GetResourcesMonitoringConfiguration: () =>
        Effect.map(resources.monitors, (monitors) => {
          const memory = monitors.find(({ path }) => path === "")
          return {
            config: collection,
            ...(memory === undefined ? {} : { memory: { enabled: memory.enabled } }),
            volumes: monitors.filter(({ path }) => path !== "").map(({ enabled, path }) => ({ enabled, path }))
          }
        }),
      PushResourcesMonitoringUsage: ({ datapoints }) =>
        Effect.as(
          answered(
            resources.usage(
              datapoints.map(({ memory, volumes }) => ({ memory, volumes: new Map(volumes.map((usage) => [usage.volume, usage])) }))
            )
          ),
          {}
        ),

      ReportConnection: ({ connection }) =>
        Effect.gen(function* () {
          if (connection === undefined) return yield* refusal("connection is required")
          yield* answered(
            usage.connection({
              connection_id: yield* idOf("id", connection.id),
              action: yield* named("action", ["connect", "disconnect"], connection.action),
              type: yield* named("type", connectionTypes, connection.type),
              time: (yield* instantOf("timestamp", connection.timestamp)) ?? (yield* Timestamp.now),
              ip: connection.ip,
              code: connection.status_code,
              reason: connection.reason ?? ""
            })
          )
          return {}
        }),

      ReportBoundaryLogs: (request) =>
        Effect.gen(function* () {
          const now = yield* Timestamp.now
          const sent = request.logs.map(({ allowed, resource, time }) =>
            Either.map(instantOf("time", time), (instant) => ({
              allowed,
              time: instant ?? now,
              method: resource?.value.method ?? "",
              url: resource?.value.url ?? "",
              matched_rule: resource?.value.matched_rule ?? ""
            }))
          )
          yield* answered(usage.boundaryLogs(request.session_id, yield* Either.all(sent)))
          return {}
        }),

      CreateSubAgent: ({ apps: wanted, id, display_apps, ...request }) =>
        Effect.gen(function* () {
          const displayed = yield* Either.all(display_apps.map((app) => named("display_apps", DisplayApp.literals, app)))
          if (id !== undefined) {
            const { directory } = request
            const adopted = yield* answered(subAgents.adopt(yield* idOf("id", id), { directory, display_apps: displayed }))
            return { agent: subAgentMessage(adopted), app_creation_errors: [] }
          }
          const { agent: created, refused } = yield* answered(
            subAgents.create({ ...request, display_apps: displayed, apps: wanted.map(provisionedApp) })
          )
          return { agent: subAgentMessage(created), app_creation_errors: [...refused] }
        }),
      DeleteSubAgent: ({ id }) => Effect.flatMap(idOf("id", id), (subAgent) => Effect.as(answered(subAgents.remove(subAgent)), {})),
      ListSubAgents: () => Effect.map(answered(subAgents.list), (agents) => ({ agents: agents.map(subAgentMessage) })),
      PushContextState: makeContextState()
    })
  }
})
