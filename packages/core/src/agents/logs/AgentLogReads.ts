import { Chunk, Effect, Option, Stream } from "effect"
import type * as Feed from "../../platform/events/Feed.js"
import type { Things } from "../../platform/events/SharedReads.js"
import type { AgentLog } from "./AgentLog.js"
import type { AgentLogRepository } from "./AgentLogRepository.js"
import type { AgentRepository } from "../AgentRepository.js"
import type { AgentWorkspace } from "../AgentWorkspace.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"

/** Lines read at a time. */
const pageSize = 1000

/** The key of an agent's log events. */
export interface AgentKey extends Pick<AgentWorkspace, "agent_id" | "owner_id" | "workspace_id"> {}

interface Needs {
  readonly repository: AgentLogRepository["Type"]
  readonly followed: Things<AgentKey>
  readonly agents: AgentRepository["Type"]
}

/** The lines of an agent that are stored, and those that come. */
export const agentLogReads = ({ repository, followed, agents }: Needs) => {
  /** Lines behind an id, oldest first, in pages. */
  const pages = (id: WorkspaceAgentId, after: number): Stream.Stream<AgentLog> =>
    Stream.paginateChunkEffect(after, (cursor) =>
      Effect.map(repository.after(id, cursor, pageSize), (rows) => {
        const last = rows.at(-1)
        return [Chunk.unsafeFromArray(rows), last === undefined || rows.length < pageSize ? Option.none() : Option.some(last.id)] as const
      })
    )

  const batches = ({ agent_id, owner_id, workspace_id }: AgentWorkspace, after: number): Stream.Stream<ReadonlyArray<AgentLog>> =>
    followed({ agent_id, owner_id, workspace_id }, (shared) => {
      let cursor = after
      let isFirst = true
      let isFull = false
      let isLast = false
      /** The next lines behind the cursor. Full pages are followed by others at once. */
      const round: Feed.Pull<ReadonlyArray<AgentLog>> = Effect.gen(function* () {
        // Asked before the lines are read: what was stored until the agent was replaced is read with the last round
        const isLatest = yield* shared.once("is latest", agents.isLatest(agent_id))
        const rows = yield* shared.once(`after ${cursor}`, repository.after(agent_id, cursor, pageSize))
        cursor = rows.at(-1)?.id ?? cursor
        isFull = rows.length === pageSize
        isLast = !isLatest && !isFull
        const isSent = isFirst || rows.length > 0
        isFirst = false
        return Option.some(isSent ? [rows] : [])
      })
      return { pull: () => (isLast ? Effect.succeedNone : round), hasMore: () => isFull || isLast }
    })

  return { pages, batches }
}
