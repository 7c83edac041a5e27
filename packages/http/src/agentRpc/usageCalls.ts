/** Calls by which agents report the use of their workspace: sessions, connections, memory and volumes. agents-and-apps.md §14. */
import type { AgentHandlers, AgentMessages } from "@atelier/agent-protocol"
import { collection, type ResourceReportsOfAgent, type UsageReportsOfAgent } from "@atelier/core/agents"
import type { ConnectionType } from "@atelier/core/logs"
import { Timestamp } from "@atelier/core/platform"
import { Duration, Effect, Either } from "effect"
import { answered, idOf, instantOf, named, refusal, secondsOf } from "./values.js"

/** Kinds of connections that agents tell apart. */
const connectionTypes = ["ssh", "vscode", "jetbrains", "reconnecting_pty"] as const satisfies ReadonlyArray<ConnectionType>

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

interface Needs {
  readonly usage: UsageReportsOfAgent
  readonly resources: ResourceReportsOfAgent
}

/** Takes in how an agent's workspace is used. */
export const usageCalls = ({ resources, usage }: Needs) =>
  ({
    UpdateStats: ({ stats }) =>
      Effect.map(
        answered(usage.stats(stats === undefined ? undefined : { ...stats, session_counts: sessionCounts(stats) })),
        (interval) => ({
          report_interval: secondsOf(Duration.toSeconds(interval))
        })
      ),

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
      })
  }) satisfies Partial<AgentHandlers<unknown>>
