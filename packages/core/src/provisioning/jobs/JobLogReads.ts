import { Chunk, Effect, Option, Stream } from "effect"
import type * as Feed from "../../platform/events/Feed.js"
import type { Things } from "../../platform/events/SharedReads.js"
import type { JobLog } from "../logs/JobLog.js"
import type { JobLogRepository } from "../logs/JobLogRepository.js"
import { isActive, jobStatus, type ProvisionerJobId } from "./ProvisionerJob.js"
import type { ProvisionerJobRepository } from "./ProvisionerJobRepository.js"

/** Rows of a log that are read at once. */
const logPage = 1_000

interface Needs {
  readonly logs: JobLogRepository["Type"]
  readonly followed: Things<ProvisionerJobId>
  readonly repository: ProvisionerJobRepository["Type"]
}

/** The lines of a job that are stored, and those that come. */
export const jobLogReads = ({ followed, logs, repository }: Needs) => {
  const logsAfter = (id: ProvisionerJobId, after: number): Stream.Stream<JobLog> =>
    Stream.paginateChunkEffect(after, (from) =>
      Effect.map(logs.after(id, from, logPage), (rows) => {
        const last = rows.at(-1)
        return [Chunk.unsafeFromArray(rows), last === undefined || rows.length < logPage ? Option.none() : Option.some(last.id)]
      })
    )

  return {
    logsAfter,

    follow: (id: ProvisionerJobId, after: number): Stream.Stream<JobLog> =>
      followed(id, (shared) => {
        let cursor = after
        let isFull = false
        let isLast = false
        const hasEnded = Effect.suspend(() =>
          shared.once(
            "has ended",
            Effect.map(repository.byId(id), Option.match({ onNone: () => true, onSome: (job) => !isActive(jobStatus(job)) }))
          )
        )
        /** Full pages are followed by others at once. */
        const turn: Feed.Pull<JobLog> = Effect.gen(function* () {
          // Asked before the rows are read: a row written in between is read with them
          const ended = yield* hasEnded
          const page = yield* shared.once(`after ${cursor}`, logs.after(id, cursor, logPage))
          cursor = page.at(-1)?.id ?? cursor
          isFull = page.length === logPage
          isLast = ended && !isFull
          return Option.some(page)
        })
        return { pull: () => (isLast ? Effect.succeedNone : turn), hasMore: () => isFull || isLast }
      })
  }
}
