import { type Array as Arr, Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { AgentLog, AgentLogSource, NewAgentLog } from "./AgentLog.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"

/** Lines that are stored together. */
export interface LogBatch {
  readonly agent_id: WorkspaceAgentId
  readonly source_id: Uuid
  /** The time of the first line. Each of the others is a microsecond later than the one before. */
  readonly created_at: Timestamp
  readonly lines: Arr.NonEmptyReadonlyArray<NewAgentLog>
  /** Bytes of the lines in UTF-8, before they were cut. */
  readonly bytes: number
  /** Whether the batch may be stored although an earlier one did not fit. */
  readonly afterOverflow: boolean
}

export class AgentLogRepository extends Context.Tag("@atelier/core/AgentLogRepository")<
  AgentLogRepository,
  {
    /** Stores a source unless the agent has one with the id, or `maximum` of them; answers whether it has one now. */
    readonly addSource: (source: AgentLogSource, maximum: number) => Effect.Effect<boolean>
    readonly sourcesOf: (id: WorkspaceAgentId) => Effect.Effect<ReadonlyArray<AgentLogSource>>
    /**
     * Stores a batch, whole or not at all, behind all earlier ones of the agent, so that a reader that continues behind an id misses none. Returns the bytes that
     * the agent's logs now take; None, with nothing stored, if they would exceed `maximum`.
     */
    readonly append: (batch: LogBatch, maximum: number) => Effect.Effect<Option.Option<number>>
    /** False when the agent's logs had overflowed before. */
    readonly markOverflowed: (id: WorkspaceAgentId) => Effect.Effect<boolean>
    /** Lines with ids larger than `after`, oldest first. */
    readonly after: (id: WorkspaceAgentId, after: number, limit: number) => Effect.Effect<ReadonlyArray<AgentLog>>
  }
>() {}
