import { Array as Arr, Context, type Duration, Effect, Option, Stream } from "effect"
import * as Access from "../../access/Access.js"
import type { Entitled } from "../../access/streams/StreamRights.js"
import { pictureViolation } from "../../platform/texts/Address.js"
import { Invalid, TooLarge, type Forbidden, type NotFound } from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { LogLevel } from "../../platform/texts/LogLevel.js"
import { makeLineTimes } from "../../platform/time/LineTimes.js"
import { makeSharedReads, source } from "../../platform/events/SharedReads.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish } from "../../platform/store/Transactor.js"
import { nextTurn } from "../../platform/background/Turns.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import { workspaceEvents } from "../../workspaces/watching/WorkspaceEvents.js"
import { agentLogs, publishAgentEvent } from "../AgentEvents.js"
import {
  type AgentLogSource,
  type AgentLog,
  externalSource,
  maximumLogsLength,
  type NewAgentLog,
  sanitize,
  sourceName
} from "./AgentLog.js"
import { AgentLogRepository } from "./AgentLogRepository.js"
import { AgentRepository } from "../AgentRepository.js"
import { Agents } from "../Agents.js"
import { type AgentWorkspace, reportingObject } from "../AgentWorkspace.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import { type AgentKey, agentLogReads } from "./AgentLogReads.js"

/** Log sources of one agent. */
const maximumSources = 1000

/** Characters of a source's icon. */
const maximumIcon = 256

/** Lines stored at a time. What a statement of more lines costs grows faster than their number, and keeps the event loop. */
const linesAtOnce = 2000

/** How often a follower looks for new lines without being told of any. */
const recheck: Duration.DurationInput = "60 seconds"

/** A line as an agent sends it; an empty level is `info`. */
export interface SentLog {
  readonly level: string
  readonly output: string
}

export interface SentLogs {
  /** Absent or nil: the external source. */
  readonly log_source_id: Uuid | undefined
  readonly logs: ReadonlyArray<SentLog>
}

const levels: ReadonlySet<string> = new Set(LogLevel.literals)

/** `Schema.is` takes longer than all else that is done with a line. */
const isLevel = (level: string): level is LogLevel => levels.has(level)

const tooMany = new TooLarge({
  message: "Logs limit exceeded",
  detail: `An agent's logs may have ${maximumLogsLength} bytes.`
})

/** The methods of {@link AgentLogs}. */
export interface AgentLogsService {
  /**
   * Makes a log source known. One that the agent has already stays as it is, and what was sent is answered. Fails with `Invalid` when
   * the agent has too many. agents-and-apps.md §5.
   */
  readonly addSource: (
    agent: AgentWorkspace,
    source: { readonly id: Uuid; readonly display_name: string; readonly icon: string }
  ) => Effect.Effect<AgentLogSource, Invalid | Forbidden, CurrentActor>

  /**
   * Stores lines. All carry the current time, and their order is that of their ids. Fails with `Invalid` if there are no lines or a level
   * is unknown, and with `TooLarge` if they exceed an agent's limit. Of more than 2,000 lines, each 2,000 are stored if they fit; fewer lines
   * are stored whole or not at all. Smaller batches that fit are still stored after that.
   */
  readonly append: (
    agent: AgentWorkspace,
    sent: SentLogs
  ) => Effect.Effect<undefined, Invalid | Forbidden | TooLarge, CurrentActor | EventBus>

  /** As `append`, for agents that stop sending when they are told that a batch did not fit: nothing is stored after that. */
  readonly report: (
    agent: AgentWorkspace,
    sent: SentLogs
  ) => Effect.Effect<{ readonly log_limit_exceeded: boolean }, Invalid | Forbidden, CurrentActor | EventBus>

  /** The lines of an agent behind an id, oldest first. Fails with `NotFound` if the actor may not read the workspace. */
  readonly read: (id: WorkspaceAgentId, after: number) => Effect.Effect<Stream.Stream<AgentLog>, NotFound, CurrentActor>

  /** The same as text: time, level, where it comes from, output. */
  readonly readText: (id: WorkspaceAgentId, after: number) => Effect.Effect<Stream.Stream<string>, NotFound, CurrentActor>

  /**
   * The lines behind an id as they are stored: what there is now, then each batch of new ones, until the agent is no longer part of
   * its workspace's latest build. The first batch may be empty, the others have lines. Fails with `NotFound` as `read` does.
   */
  readonly follow: (id: WorkspaceAgentId, after: number) => Effect.Effect<Entitled<ReadonlyArray<AgentLog>>, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* AgentLogRepository
  const agents = yield* AgentRepository
  const readers = yield* Agents
  const lineTimes = makeLineTimes()

  const addSource = (agent: AgentWorkspace, source: { readonly id: Uuid; readonly display_name: string; readonly icon: string }) =>
    Effect.gen(function* () {
      const stored = {
        workspace_agent_id: agent.agent_id,
        id: source.id,
        created_at: yield* Timestamp.now,
        display_name: sourceName(source.display_name),
        icon: source.icon
      }
      if (!(yield* repository.addSource(stored, maximumSources))) {
        return yield* new Invalid({ message: `An agent has at most ${maximumSources} log sources` })
      }
      return stored
    })

  /** Stores lines until some do not fit, and returns whether all did: those before a failure stay. Followers and watchers are told either way. */
  const store = (agent: AgentWorkspace, { log_source_id, logs }: SentLogs, afterOverflow: boolean) =>
    Effect.gen(function* () {
      yield* Access.authorize("update", reportingObject(agent))
      const nextTime = yield* lineTimes
      for (let start = 0; start < logs.length; start += linesAtOnce) {
        if (start > 0) yield* nextTurn
        const lines: Array<NewAgentLog> = []
        let bytes = 0
        for (const { level: sent, output } of logs.slice(start, start + linesAtOnce)) {
          const level = sent === "" ? "info" : sent
          if (!isLevel(level)) {
            return yield* Invalid.field("level", `${JSON.stringify(level.slice(0, 32))} is not one of ${LogLevel.literals.join(", ")}`)
          }
          const sanitized = sanitize(output)
          bytes += sanitized.bytes
          lines.push({ level, output: sanitized.output })
        }
        if (!Arr.isNonEmptyReadonlyArray(lines)) break
        const isExternal = log_source_id === undefined || log_source_id === nil
        if (isExternal && start === 0) yield* addSource(agent, externalSource)
        const source_id = isExternal ? externalSource.id : log_source_id
        const batch = { agent_id: agent.agent_id, source_id, created_at: nextTime(lines.length), lines, bytes, afterOverflow }
        const length = yield* repository.append(batch, maximumLogsLength)
        if (Option.isNone(length)) {
          if (yield* repository.markOverflowed(agent.agent_id)) yield* publishAgentEvent(agent, "agt_logs_overflow")
          return false
        }
        yield* publish(agentLogs(agent.agent_id), {})
        if (start === 0 && length.value === bytes) yield* publishAgentEvent(agent, "agt_first_logs")
      }
      return true
    })

  /** Checks whether the agent was replaced after each change that can replace it. */
  const followed = yield* makeSharedReads<AgentKey>({
    nameOf: ({ agent_id, owner_id, workspace_id }) => [agent_id, owner_id, workspace_id].join(" "),
    sourcesOf: ({ agent_id, owner_id }) => [
      source(agentLogs(agent_id)),
      source(workspaceEvents(owner_id), (event, agent) => event.kind === "state_change" && event.workspace_id === agent.workspace_id)
    ],
    every: recheck
  })

  const { pages, batches } = agentLogReads({ repository, followed, agents })

  return {
    addSource: Traced.fn("AgentLogs.addSource")(function* (
      agent: AgentWorkspace,
      source: { readonly id: Uuid; readonly display_name: string; readonly icon: string }
    ) {
      yield* Access.authorize("update", reportingObject(agent))
      const violation = pictureViolation(source.icon, maximumIcon)
      if (violation !== undefined) return yield* Invalid.field("icon", violation)
      return yield* addSource(agent, source)
    }),

    append: Traced.fn("AgentLogs.append")(function* (agent: AgentWorkspace, sent: SentLogs) {
      if (sent.logs.length === 0) return yield* Invalid.field("logs", "must not be empty", "No logs provided")
      if (!(yield* store(agent, sent, true))) return yield* tooMany
    }),

    report: Traced.fn("AgentLogs.report")(function* (agent: AgentWorkspace, sent: SentLogs) {
      return { log_limit_exceeded: !(yield* store(agent, sent, false)) }
    }),

    read: Traced.fn("AgentLogs.read")(function* (id: WorkspaceAgentId, after: number) {
      yield* readers.readable(id)
      return pages(id, after)
    }),

    readText: Traced.fn("AgentLogs.readText")(function* (id: WorkspaceAgentId, after: number) {
      const agent = yield* readers.readable(id)
      const sources = new Map((yield* repository.sourcesOf(id)).map((source) => [source.id, source.display_name]))
      return Stream.map(pages(id, after), (log) => textLine(log, agent.agent_name, sources.get(log.source_id) ?? ""))
    }),

    follow: Traced.fn("AgentLogs.follow")(function* (id: WorkspaceAgentId, after: number) {
      const [right, agent] = yield* readers.rightToRead(id)
      return { right, values: batches(agent, after) } satisfies Entitled<ReadonlyArray<AgentLog>>
    })
  }
})

/** `2026-01-31T23:59:59Z [info] [agent.main|Startup Script] output`. §5. */
export const textLine = (log: AgentLog, agentName: string, source: string): string => {
  const origin = `agent${agentName === "" ? "" : `.${agentName}`}${source === "" ? "" : `|${source}`}`
  return `${log.created_at.slice(0, 19)}Z [${log.level}] [${origin}] ${log.output}\n`
}

/** The logs of agents. */
export class AgentLogs extends Context.Tag("@atelier/core/AgentLogs")<AgentLogs, AgentLogsService>() {
  static readonly layer = standingOn(service(AgentLogs, make), Agents.layer)
}
