/** Which jobs daemons take: those whose sources one of their engines understands. templates-and-provisioning.md §6.4. */
import { Effect, Option } from "effect"
import * as Lru from "../../platform/collections/Lru.js"
import type { FileId } from "../files/File.js"
import type { JobSelection } from "../queue/JobClaims.js"
import { JobQueueRepository } from "../queue/JobQueueRepository.js"
import type { ProvisionerDaemonId } from "../daemons/ProvisionerDaemon.js"
import type { ProvisionerJob, ProvisionerJobId } from "../jobs/ProvisionerJob.js"
import { type Opinion, TemplateSources } from "./TemplateSources.js"

/** Sources that are left to others; the oldest are judged anew. */
const maximumLeft = 1_000

/** Jobs that are taken to be failed. */
const keptRefusals = 100

/** Sources that are left to others, each with the reason. The oldest are forgotten. */
const leftSources = () => {
  const left = new Map<FileId, string>()
  return {
    left: () => [...left.keys()],
    reasonOf: (id: FileId): Option.Option<string> => Option.fromNullable(left.get(id)),
    leave: (id: FileId, reason: string): void => {
      left.set(id, reason)
      const [oldest] = left.keys()
      if (left.size > maximumLeft && oldest !== undefined) left.delete(oldest)
    }
  }
}

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
    const { leave, left, reasonOf } = leftSources()
    const refused = Lru.make<ProvisionerJobId, true>(keptRefusals)

    const selection: EngineSelection = {
      left,
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
      refusalOf: ({ file_id }) => reasonOf(file_id)
    }
    return selection
  })

/**
 * Makes the selection of a daemon in another process that has told its engines. It leaves a source that another engine runs, as far as this process
 * knows: by an engine of its own. Any other source is given to the daemon, which knows best.
 */
export const makeDaemonSelection = (engines: ReadonlySet<string>, sources: TemplateSources["Type"]): EngineSelection => {
  const { leave, left, reasonOf } = leftSources()
  const isRun = ({ engine }: Opinion): boolean => engine === undefined || engines.has(engine)
  return {
    left,
    isTaken: ({ file_id }) => Option.exists(sources.opinionOf(file_id), isRun),
    judge: ({ file_id }) =>
      Effect.map(sources.judge(file_id), (opinion) => {
        if (isRun(opinion)) return true
        leave(file_id, `A daemon with the tags of this job is connected, but it does not have the engine ${opinion.engine}.`)
        return false
      }),
    refusalOf: ({ file_id }) => reasonOf(file_id)
  }
}
