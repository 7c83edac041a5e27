import { Chunk, Data, Effect, Option, Stream, type Scope } from "effect"
import type * as Feed from "../../platform/events/Feed.js"
import { following, type SharedReads } from "../../platform/events/SharedReads.js"
import type { AgentLog } from "./AgentLog.js"
import type { AgentLogRepository } from "./AgentLogRepository.js"
import type { AgentRepository } from "../AgentRepository.js"
import type { AgentWorkspace } from "../AgentWorkspace.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"

/** Lines read at a time. */
const pageSize = 1000

/** The key of an agent's log events. */
const keyOf = ({ agent_id, owner_id, workspace_id }: AgentWorkspace) => Data.struct({ agent_id, owner_id, workspace_id })

export type AgentKey = ReturnType<typeof keyOf>

interface Needs {
  readonly repository: AgentLogRepository["Type"]
  readonly reads: (agent: AgentKey) => Effect.Effect<SharedReads, never, Scope.Scope>
  readonly agents: AgentRepository["Type"]
}

/** The lines of an agent that are stored, and those that come. */
export const agentLogReads = ({ repository, reads, agents }: Needs) => {
  /** Lines behind an id, oldest first, in pages. */
  const pages = (id: WorkspaceAgentId, after: number): Stream.Stream<AgentLog> =>
    Stream.paginateChunkEffect(after, (cursor) =>
      Effect.map(repository.after(id, cursor, pageSize), (rows) => {
        const last = rows.at(-1)
        return [Chunk.unsafeFromArray(rows), last === undefined || rows.length < pageSize ? Option.none() : Option.some(last.id)] as const
      })
    )

  const batches = (agent: AgentWorkspace, after: number): Stream.Stream<ReadonlyArray<AgentLog>> =>
    following(reads(keyOf(agent)), (shared) => {
      let cursor = after
      let isFirst = true
      let isFull = false
      let isLast = false
      /** The next lines behind the cursor. Full pages are followed by others at once. */
      const round: Feed.Pull<ReadonlyArray<AgentLog>> = Effect.gen(function* () {
        // Asked before the lines are read: what was stored until the agent was replaced is read with the last round
        const isLatest = yield* shared.once("is latest", agents.isLatest(agent.agent_id))
        const rows = yield* shared.once(`after ${cursor}`, repository.after(agent.agent_id, cursor, pageSize))
        cursor = rows.at(-1)?.id ?? cursor
        isFull = rows.length === pageSize
        isLast = !isLatest && !isFull
        const isSent = isFirst || rows.length > 0
        isFirst = false
        return Option.some(isSent ? [rows] : [])
      })
      return { pull: Effect.suspend(() => (isLast ? Effect.succeedNone : round)), hasMore: () => isFull || isLast }
    })

  return { pages, batches }
}
