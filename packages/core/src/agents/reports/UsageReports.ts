import { Context, Effect, type Duration } from "effect"
import * as Access from "../../access/Access.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { ConnectionReport } from "../../logs/ConnectionLog.js"
import { ConnectionLogs } from "../../logs/ConnectionLogs.js"
import { Invalid, type Forbidden } from "../../platform/Errors.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type * as Timestamp from "../../platform/time/Timestamp.js"
import { nil, parse } from "../../platform/texts/Uuid.js"
import { ActivityReports } from "./ActivityReports.js"
import { publishAgentEvent } from "../AgentEvents.js"
import { type AgentWorkspace, isPrebuilt, reportingObject } from "../AgentWorkspace.js"
import { type SentStat, StatReports } from "./StatReports.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** Entries of one report of what the network boundary let through. */
const maximumBoundaryLogs = 1000

/** Characters that the service's log takes of each text of an entry: a report may have 4 MiB. */
const loggedCharacters = { method: 32, url: 2_048, matched_rule: 1_024 } as const

/** One request that the boundary around a program let through, or did not. agents-and-apps.md §14. */
export interface BoundaryLog {
  readonly allowed: boolean
  readonly time: Timestamp.Timestamp
  readonly method: string
  readonly url: string
  readonly matched_rule: string
}

/** What one agent reports of the use of its workspace. */
export interface UsageReportsOfAgent {
  readonly stats: (sent: SentStat | undefined) => Effect.Effect<Duration.Duration, Forbidden, CurrentActor | EventBus>
  readonly connection: (
    report: Pick<ConnectionReport, "action" | "type" | "code" | "reason" | "time" | "connection_id" | "ip">
  ) => Effect.Effect<undefined, Invalid | Forbidden, CurrentActor>
  readonly boundaryLogs: (session: string, logs: ReadonlyArray<BoundaryLog>) => Effect.Effect<undefined, Invalid | Forbidden, CurrentActor>
}

/** The methods of {@link UsageReports}. */
export interface UsageReportsService {
  /** The reports of one agent. Each fails with `Forbidden` where the agent lost its rights. */
  readonly of: (agent: AgentWorkspace) => UsageReportsOfAgent
}

const make = Effect.gen(function* () {
  const stats = yield* StatReports
  const activity = yield* ActivityReports
  const options = yield* DeploymentOptions
  const connections = yield* ConnectionLogs

  const of = (agent: AgentWorkspace) => {
    const authorized = Access.authorize("update", reportingObject(agent))

    return {
      /** How the workspace is used; nothing sent only asks how often to report. Answers that interval. §9. */
      stats: Traced.fn("UsageReports.stats")(function* (sent: SentStat | undefined) {
        yield* authorized
        if (sent !== undefined) {
          yield* stats.add(agent, sent)
          if (sent.connection_count > 0) {
            yield* activity.markUsed(agent.workspace_id)
            if (!isPrebuilt(agent)) yield* activity.bump(agent.workspace_id, { considerAutostart: true })
            yield* publishAgentEvent(agent, "stats_update")
          }
        }
        return options.agentStatsRefreshInterval
      }),

      /** A client connected to the agent or disconnected. Fails with `Invalid` for a connection without id. §14. */
      connection: Traced.fn("UsageReports.connection")(function* (
        report: Pick<ConnectionReport, "connection_id" | "action" | "type" | "time" | "ip" | "code" | "reason">
      ) {
        yield* authorized
        if (report.connection_id === nil) return yield* new Invalid({ message: "The connection has no id" })
        yield* connections.report({
          ...report,
          ip: addressOf(report.ip),
          code: report.action === "disconnect" ? report.code : null,
          organization_id: agent.organization_id,
          workspace_id: agent.workspace_id,
          workspace_name: agent.workspace_name,
          workspace_owner_id: agent.owner_id,
          agent_name: agent.agent_name
        })
      }),

      /**
       * Reports the requests that the boundary around a program decided on. Without the licensed feature that stores them, entries of a
       * session go to the service's own log. Fails with `Invalid` for too many entries. §14.
       */
      boundaryLogs: Traced.fn("UsageReports.boundaryLogs")(function* (session: string, logs: ReadonlyArray<BoundaryLog>) {
        yield* authorized
        if (logs.length > maximumBoundaryLogs)
          return yield* new Invalid({ message: `At most ${maximumBoundaryLogs} logs may be reported at once` })
        const sessionId = parse(session)
        if (sessionId === undefined || sessionId === nil) return
        yield* Effect.forEach(
          logs,
          (log) =>
            Effect.logInfo("boundary request").pipe(
              Effect.annotateLogs({
                allowed: log.allowed,
                time: log.time,
                method: log.method.slice(0, loggedCharacters.method),
                url: log.url.slice(0, loggedCharacters.url),
                matched_rule: log.matched_rule.slice(0, loggedCharacters.matched_rule),
                session_id: sessionId,
                workspace_id: agent.workspace_id,
                agent_id: agent.agent_id
              })
            ),
          { discard: true }
        )
      })
    }
  }

  return { of }
})

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/

/** Characters of an IPv6 address that ends with an IPv4 address. */
const maximumAddress = 45

/** An address as connection logs store it; null for an invalid one. */
export const addressOf = (text: string | null): string | null => {
  if (text === "localhost") return "127.0.0.1"
  if (text === null || text.length > maximumAddress) return null
  return ipv4.test(text) || (text.includes(":") && /^[0-9a-fA-F:.]+$/.test(text)) ? text : null
}

/** The reports of agents about who uses their workspaces, and what for. agents-and-apps.md §9, §14. */
export class UsageReports extends Context.Tag("@atelier/core/UsageReports")<UsageReports, UsageReportsService>() {
  static readonly layer = standingOn(service(UsageReports, make), StatReports.layer, ConnectionLogs.layer)
}
