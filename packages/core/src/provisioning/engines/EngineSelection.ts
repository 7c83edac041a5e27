/** Which jobs the daemons of a server take: those whose sources an engine of the server understands. templates-and-provisioning.md §6.4. */
import { Effect, Option } from "effect"
import * as Lru from "../../platform/collections/Lru.js"
import type { FileId } from "../files/File.js"
import type { JobSelection } from "../queue/JobClaims.js"
import { JobQueueRepository } from "../queue/JobQueueRepository.js"
import type { ProvisionerDaemonId } from "../daemons/ProvisionerDaemon.js"
import type { ProvisionerJob, ProvisionerJobId } from "../jobs/ProvisionerJob.js"
import { TemplateSources } from "./TemplateSources.js"

/** Sources that are left to others; the oldest are judged anew. */
const maximumLeft = 1_000

/** Jobs that are taken to be failed. */
const keptRefusals = 100

export interface EngineSelection extends JobSelection {
  /** Why the job is left to others; None where it is not, as far as is known. */
  readonly refusalOf: (job: ProvisionerJob) => Option.Option<string>
}

/**
 * Makes the selection of the daemons with these ids. A source that no engine of this process understands is left to other daemons that may take
 * the job, connected or not: they may be on their way back. Without such daemons the job is taken: it fails and says why.
 */
export const makeEngineSelection = (ids: ReadonlyArray<ProvisionerDaemonId>) =>
  Effect.gen(function* () {
    const sources = yield* TemplateSources
    const queue = yield* JobQueueRepository
    const own = new Set(ids)
    const left = new Map<FileId, string>()
    const refused = Lru.make<ProvisionerJobId, true>(keptRefusals)

    const leave = (id: FileId, reason: string): void => {
      left.set(id, reason)
      const [oldest] = left.keys()
      if (left.size > maximumLeft && oldest !== undefined) left.delete(oldest)
    }

    const selection: EngineSelection = {
      left: () => [...left.keys()],
      isTaken: ({ file_id, id }) =>
        Option.exists(sources.opinionOf(file_id), ({ refusal }) => refusal === undefined || refused.get(id) === true),
      judge: ({ file_id, id }) =>
        Effect.gen(function* () {
          const { refusal } = yield* sources.judge(file_id)
          if (refusal === undefined) return true
          const workers = yield* queue.availableWorkers([id])
          // It waits no more: another daemon has taken it, and may yet give it back
          if (workers.length === 0) return true
          const isLeft = workers.some(({ daemon_id }) => !own.has(daemon_id))
          if (isLeft) leave(file_id, refusal)
          else refused.set(id, true)
          return !isLeft
        }),
      refusalOf: ({ file_id }) => Option.fromNullable(left.get(file_id))
    }
    return selection
  })
