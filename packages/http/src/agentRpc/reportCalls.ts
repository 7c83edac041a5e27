/** Calls by which agents report of themselves: their start, scripts, logs and metadata. agents-and-apps.md §14. */
import { type AgentHandlers, Version } from "@atelier/agent-protocol"
import {
  AgentLifecycle,
  type AgentLogs,
  type AgentReportsOfAgent,
  AgentSubsystem,
  type AgentWorkspace,
  type MetadataReports,
  ScriptStage,
  ScriptStatus
} from "@atelier/core/agents"
import { LogLevel } from "@atelier/core/platform"
import { Effect, Either } from "effect"
import { answered, idOf, instantOf, named, refusal } from "./values.js"

interface Needs {
  readonly agent: AgentWorkspace
  readonly version: Version.Version
  readonly reports: () => AgentReportsOfAgent
  readonly logs: AgentLogs["Type"]
  readonly metadata: MetadataReports["Type"]
}

/** Takes in what an agent reports of itself. */
export const reportCalls = ({ agent, logs, metadata, reports, version }: Needs) =>
  ({
    UpdateLifecycle: ({ lifecycle }) =>
      Effect.gen(function* () {
        if (lifecycle === undefined) return yield* refusal("lifecycle is required")
        const state = yield* named("state", AgentLifecycle.literals, lifecycle.state)
        const changed_at = yield* instantOf("changed_at", lifecycle.changed_at)
        yield* answered(reports().lifecycle({ state, changed_at }))
        return lifecycle
      }),

    UpdateStartup: ({ startup }) =>
      Effect.gen(function* () {
        if (startup === undefined) return yield* refusal("startup is required")
        yield* answered(
          reports().startup({
            version: startup.version,
            expanded_directory: startup.expanded_directory,
            subsystems: yield* Either.all(startup.subsystems.map((subsystem) => named("subsystem", AgentSubsystem.literals, subsystem))),
            api_version: Version.format(version)
          })
        )
        return startup
      }),

    ScriptCompleted: ({ timing }) =>
      Effect.gen(function* () {
        if (timing === undefined) return yield* refusal("timing is required")
        const started_at = yield* instantOf("start", timing.start)
        const ended_at = yield* instantOf("end", timing.end)
        if (started_at === undefined || ended_at === undefined) return yield* refusal("start and end are required")
        yield* answered(
          reports().scriptCompleted({
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

    BatchCreateLogs: (request) =>
      Effect.gen(function* () {
        const log_source_id = yield* idOf("log_source_id", request.log_source_id)
        const sent = request.logs.map(({ level, output }) => ({
          level: Either.getOrElse(named("level", LogLevel.literals, level), (): LogLevel => "info"),
          output
        }))
        return yield* answered(logs.report(agent, { log_source_id, logs: sent }))
      }),

    BatchUpdateMetadata: ({ metadata: items }) =>
      Effect.as(
        answered(
          metadata.report(
            agent,
            items.map(({ key, result }) => ({ key, value: result?.value ?? "", error: result?.error ?? "" }))
          )
        ),
        {}
      )
  }) satisfies Partial<AgentHandlers<unknown>>
