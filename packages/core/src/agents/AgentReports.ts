import { Context, Effect, Layer, Option } from "effect"
import * as Access from "../access/Access.js"
import type { ConnectionReport } from "../logs/ConnectionLog.js"
import { ConnectionLogs } from "../logs/ConnectionLogs.js"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import { isUnsafeAddress, unsafeLinkSchemes } from "../platform/Address.js"
import { Invalid } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/Timestamp.js"
import { transaction } from "../platform/Transactor.js"
import { nil, parse, type Uuid } from "../platform/Uuid.js"
import { ActivityReports } from "./ActivityReports.js"
import { publishAgentEvent } from "./AgentEvents.js"
import { type AgentLifecycle, hasStarted, timesAfter } from "./AgentLifecycle.js"
import { observeBuildDuration } from "./AgentMetrics.js"
import { AgentRepository, type Startup } from "./AgentRepository.js"
import type { ScriptTiming } from "./AgentScript.js"
import { type AgentWorkspace, isPrebuilt, reportingObject } from "./AgentWorkspace.js"
import { cleanMessage, maximumMessage } from "./AppStatusMessage.js"
import { type SentStat, StatReports } from "./StatReports.js"
import type { AppHealth, AppState } from "./WorkspaceApp.js"
import { standingOn } from "../platform/Standing.js"

/** A semantic version with the prefix `v`; parts behind the first may be missing. */
const version = /^v(0|[1-9]\d*)(\.(0|[1-9]\d*)){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/** Characters of the texts an agent reports when it starts. */
const maximumVersion = 256
const maximumDirectory = 4096

/** Characters of an app status' link. */
const maximumUri = 2048

/** Entries of one report of what the network boundary let through. */
const maximumBoundaryLogs = 1000

const storable = (text: string): string => text.replaceAll(/\0|\p{Surrogate}/gu, "\ufffd")

/** One request that the boundary around a program let through, or did not. agents-and-apps.md §14. */
export interface BoundaryLog {
  readonly allowed: boolean
  readonly time: Timestamp.Timestamp
  readonly method: string
  readonly url: string
  readonly matched_rule: string
}

/** A change of the lifecycle, before it is known to be acceptable. */
export interface LifecycleReport {
  readonly state: AgentLifecycle
  /** Absent: now. */
  readonly changed_at: Timestamp.Timestamp | undefined
}

const make = Effect.gen(function* () {
  const repository = yield* AgentRepository
  const stats = yield* StatReports
  const activity = yield* ActivityReports
  const ids = yield* Ids
  const options = yield* DeploymentOptions
  const connections = yield* ConnectionLogs

  const authorized = (agent: AgentWorkspace) => Access.authorize("update", reportingObject(agent))

  /** How long the agent's build took, once all its agents have ended their start scripts. */
  const observeBuild = (agent: AgentWorkspace) =>
    Effect.gen(function* () {
      const starts = yield* repository.startsOf(agent.build_job_id)
      const readyTimes = starts.flatMap(({ ready_at }) => (ready_at === null ? [] : [Timestamp.toMillis(ready_at)]))
      if (starts.length === 0 || readyTimes.length < starts.length) return
      const has = (state: AgentLifecycle): boolean => starts.some(({ lifecycle_state }) => lifecycle_state === state)
      yield* observeBuildDuration(agent, {
        millis: Math.max(...readyTimes) - Timestamp.toMillis(agent.build_created_at),
        status: has("start_error") ? "error" : has("start_timeout") ? "timeout" : "success",
        isPrebuild: isPrebuilt(agent)
      })
    })

  /** The reports of one agent over one connection, or in one request. Each fails with `Forbidden` where the agent lost its rights. */
  const of = (agent: AgentWorkspace) => {
    let isBuildObserved = false

    return {
      /** Stores the agent's lifecycle state. Returns the time from which it counts. §4. */
      lifecycle: Effect.fn("AgentReports.lifecycle")(function* (report: LifecycleReport) {
        yield* authorized(agent)
        const now = yield* Timestamp.now
        const changed_at = report.changed_at ?? now
        yield* transaction(
          Effect.gen(function* () {
            const times = timesAfter(report.state, yield* repository.lockLifecycle(agent.agent_id), changed_at)
            yield* repository.updateLifecycle(agent.agent_id, report.state, times, now)
            yield* publishAgentEvent(agent, "agt_lifecycle_update")
          })
        )
        if (!isBuildObserved && hasStarted(report.state) && agent.agent_parent_id === null) {
          isBuildObserved = true
          yield* observeBuild(agent)
        }
        return { state: report.state, changed_at }
      }),

      /** The agent reports its version and directories. Fails with `Invalid` for an invalid version. §14. */
      startup: Effect.fn("AgentReports.startup")(function* (startup: Startup) {
        yield* authorized(agent)
        if (startup.version.length > maximumVersion || !version.test(startup.version)) {
          return yield* Invalid.field(
            "version",
            `${JSON.stringify(startup.version.slice(0, 64))} is not a semantic version with the prefix v`
          )
        }
        if (startup.expanded_directory.length > maximumDirectory) {
          return yield* Invalid.field("expanded_directory", `must have at most ${maximumDirectory} characters`)
        }
        yield* repository.updateStartup(
          agent.agent_id,
          {
            ...startup,
            expanded_directory: storable(startup.expanded_directory),
            subsystems: Array.from(new Set(startup.subsystems)).toSorted()
          },
          yield* Timestamp.now
        )
      }),

      /**
       * Stores the health of the agent's apps. Fails with `Invalid`, nothing stored, if one of them is not an app of this agent or has no
       * check. §6.
       */
      appHealths: Effect.fn("AgentReports.appHealths")(function* (
        updates: ReadonlyArray<{ readonly id: Uuid; readonly health: AppHealth }>
      ) {
        yield* authorized(agent)
        if (updates.length === 0) return
        yield* transaction(
          Effect.gen(function* () {
            const apps = new Map((yield* repository.appsOf(agent.agent_id)).map((app) => [app.id, app]))
            const changed = new Map<Uuid, AppHealth>()
            for (const { health, id } of updates) {
              const app = apps.get(id)
              if (app === undefined) return yield* new Invalid({ message: `The agent has no app with the id ${id}` })
              if (app.healthcheck_url === "") return yield* new Invalid({ message: `The app ${app.slug} has no health check` })
              if (app.health === health) changed.delete(id)
              else changed.set(id, health)
            }
            if (changed.size === 0) return
            for (const health of new Set(changed.values())) {
              yield* repository.updateAppHealth(
                Array.from(changed.keys()).filter((id) => changed.get(id) === health),
                health
              )
            }
            yield* publishAgentEvent(agent, "app_health")
          })
        )
      }),

      /**
       * Stores a program's status. Fails with `Invalid` naming `message` for one that is too long, `state` for an unknown one, and if the
       * agent has no such app. §6, "App status".
       */
      appStatus: Effect.fn("AgentReports.appStatus")(function* (report: {
        readonly app_slug: string
        /** Absent for one that is unknown. */
        readonly state: AppState | undefined
        readonly message: string
        readonly uri: string
      }) {
        const { state } = report
        yield* authorized(agent)
        const bytes = new TextEncoder().encode(report.message).length
        if (bytes > maximumMessage) {
          return yield* Invalid.field("message", `must have at most ${maximumMessage} bytes, not ${bytes}`, "Message is too long")
        }
        if (state === undefined) return yield* Invalid.field("state", "is unknown", "Unknown app state")
        if (isUnsafeAddress(report.uri, unsafeLinkSchemes)) return yield* Invalid.field("uri", "has a scheme that is not allowed")
        if (report.uri.length > maximumUri) return yield* Invalid.field("uri", `must have at most ${maximumUri} characters`)
        const app = (yield* repository.appsOf(agent.agent_id)).find(({ slug }) => slug === report.app_slug)
        if (app === undefined) {
          return yield* Invalid.field(
            "app_slug",
            `The agent has no app with the slug ${JSON.stringify(report.app_slug.slice(0, 64))}`,
            "No such app"
          )
        }
        const previous = yield* transaction(
          Effect.gen(function* () {
            const before = Option.getOrUndefined(yield* repository.latestAppState(app.id))
            yield* repository.insertAppStatus({
              id: yield* ids.next,
              created_at: yield* Timestamp.now,
              workspace_id: agent.workspace_id,
              agent_id: agent.agent_id,
              app_id: app.id,
              state,
              message: cleanMessage(report.message),
              uri: storable(report.uri)
            })
            yield* publishAgentEvent(agent, "agt_app_status_update")
            const isNew = before === undefined ? state !== "working" : before !== state
            if (isNew && (yield* repository.isReady(agent.agent_id))) yield* activity.taskState(agent.workspace_id, app.id, state)
            return before
          })
        )
        if (state === "working" || previous === "working") {
          yield* activity.bump(agent.workspace_id, { considerAutostart: false })
        }
      }),

      /** How the workspace is used; nothing sent only asks how often to report. Answers that interval. §9. */
      stats: Effect.fn("AgentReports.stats")(function* (sent: SentStat | undefined) {
        yield* authorized(agent)
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

      /** One of the agent's scripts has run. Fails with `Invalid` if it ends before it starts, or belongs to another agent. §7. */
      scriptCompleted: Effect.fn("AgentReports.scriptCompleted")(function* (timing: ScriptTiming) {
        yield* authorized(agent)
        if (timing.ended_at < timing.started_at) return yield* new Invalid({ message: "The script ended before it started" })
        if (!(yield* repository.insertScriptTiming(agent.agent_id, timing))) {
          return yield* new Invalid({ message: `The agent has no script with the id ${timing.script_id}` })
        }
      }),

      /** A client connected to the agent or disconnected. Fails with `Invalid` for a connection without id. §14. */
      connection: Effect.fn("AgentReports.connection")(function* (
        report: Pick<ConnectionReport, "connection_id" | "action" | "type" | "time" | "ip" | "code" | "reason">
      ) {
        yield* authorized(agent)
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
      boundaryLogs: Effect.fn("AgentReports.boundaryLogs")(function* (session: string, logs: ReadonlyArray<BoundaryLog>) {
        yield* authorized(agent)
        if (logs.length > maximumBoundaryLogs)
          return yield* new Invalid({ message: `At most ${maximumBoundaryLogs} logs may be reported at once` })
        const sessionId = parse(session)
        if (sessionId === undefined || sessionId === nil) return
        yield* Effect.forEach(
          logs,
          (log) =>
            Effect.logInfo("boundary request").pipe(
              Effect.annotateLogs({ ...log, session_id: sessionId, workspace_id: agent.workspace_id, agent_id: agent.agent_id })
            ),
          { discard: true }
        )
      })
    }
  }

  return { of }
})

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/

/** An address as connection logs store it; null for an invalid one. */
export const addressOf = (text: string | null): string | null => {
  if (text === "localhost") return "127.0.0.1"
  if (text === null) return null
  return ipv4.test(text) || /^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(text) ? text : null
}

/** The reports of agents about themselves and their workspaces. agents-and-apps.md §4, §6, §7, §9, §14. */
export class AgentReports extends Context.Tag("@atelier/core/AgentReports")<AgentReports, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(AgentReports, make), StatReports.layer, ConnectionLogs.layer)
}
