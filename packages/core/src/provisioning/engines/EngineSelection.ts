/** Which jobs daemons take: those whose sources one of their engines understands. templates-and-provisioning.md §6.4. */
import { Effect, Option } from "effect"
import * as Lru from "../../platform/collections/Lru.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { FileId } from "../files/File.js"
import type { JobSelection } from "../queue/JobClaims.js"
import { JobQueueRepository } from "../queue/JobQueueRepository.js"
import { daemonTimeout, type ProvisionerDaemonId } from "../daemons/ProvisionerDaemon.js"
import type { ProvisionerJob, ProvisionerJobId } from "../jobs/ProvisionerJob.js"
import { type Opinion, TemplateSources } from "./TemplateSources.js"

/** Sources that are left to others; the oldest are judged anew. */
const maximumLeft = 1_000

/** Jobs that are taken to be failed. */
const keptRefusals = 100

interface LeftSource {
  readonly reason: string
  readonly since: Timestamp.Timestamp
}

/** Sources that are left to others, each with the reason. The oldest are forgotten. */
const leftSources = () => {
  const left = new Map<FileId, LeftSource>()
  return {
    left: Effect.sync(() => [...left.keys()]),
    /** Those that were judged so lately that the daemons they are left to still count as alive. */
    lately: Effect.map(Timestamp.now, (now) => {
      const judgedSince = Timestamp.minus(now, daemonTimeout)
      return [...left].flatMap(([id, { since }]) => (since > judgedSince ? [id] : []))
    }),
    reasonOf: (id: FileId): Option.Option<string> => Option.map(Option.fromNullable(left.get(id)), ({ reason }) => reason),
    leave: (id: FileId, reason: string) =>
      Effect.map(Timestamp.now, (since) => {
        left.delete(id)
        left.set(id, { reason, since })
        const [oldest] = left.keys()
        if (left.size > maximumLeft && oldest !== undefined) left.delete(oldest)
      })
  }
}

export interface EngineSelection extends JobSelection {
  /** Why the job is left to others; None where it is not, as far as is known. */
  readonly refusalOf: (job: ProvisionerJob) => Option.Option<string>
}

/**
 * Makes the selection of the daemons with these ids. A source that no engine of this process understands is left to other daemons that may take
 * the job, as long as one of them counts as alive. Without such a daemon the job is taken: it fails and says why.
 */
export const makeEngineSelection = (ids: ReadonlyArray<ProvisionerDaemonId>) =>
  Effect.gen(function* () {
    const sources = yield* TemplateSources
    const queue = yield* JobQueueRepository
    const own = new Set(ids)
    const { lately, leave, reasonOf } = leftSources()
    const refused = Lru.make<ProvisionerJobId, true>(keptRefusals)

    const selection: EngineSelection = {
      left: lately,
      isTaken: ({ file_id, id }) =>
        Option.exists(sources.opinionOf(file_id), ({ refusal }) => refusal === undefined || refused.get(id) === true),
      judge: ({ file_id, id }) =>
        Effect.gen(function* () {
          const { refusal } = yield* sources.judge(file_id)
          if (refusal === undefined) return true
          // It waits no more: another daemon has taken it, and may yet give it back
          if ((yield* queue.availableWorkers([id])).length === 0) return true
          const live = yield* queue.availableWorkers([id], Timestamp.minus(yield* Timestamp.now, daemonTimeout))
          const isLeft = live.some(({ daemon_id }) => !own.has(daemon_id))
          if (isLeft) yield* leave(file_id, refusal)
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
  const isRun = ({ engines: able }: Opinion): boolean => able === undefined || able.some((engine) => engines.has(engine))
  return {
    left,
    isTaken: ({ file_id }) => Option.exists(sources.opinionOf(file_id), isRun),
    judge: ({ file_id }) =>
      Effect.flatMap(sources.judge(file_id), (opinion) => {
        if (isRun(opinion)) return Effect.succeed(true)
        const reason = `A daemon with the tags of this job is connected, but it does not have the engine ${opinion.engines?.join(" or ")}.`
        return Effect.as(leave(file_id, reason), false)
      }),
    refusalOf: ({ file_id }) => reasonOf(file_id)
  }
}
