/** Which jobs daemons take: those whose sources one of their engines understands. templates-and-provisioning.md §6.4. */
import { Effect, Option } from "effect"
import * as Lru from "../../platform/collections/Lru.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { FileId } from "../files/File.js"
import type { JobSelection } from "../queue/JobClaims.js"
import { type AvailableWorker, JobQueueRepository } from "../queue/JobQueueRepository.js"
import { daemonTimeout, type ProvisionerDaemonId } from "../daemons/ProvisionerDaemon.js"
import type { ProvisionerJob, ProvisionerJobId } from "../jobs/ProvisionerJob.js"
import { ProvisionerEngines } from "./ProvisionerEngine.js"
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

/** Jobs that are taken although no engine understands their sources: they fail, and say why. */
const makeRefused = () => {
  const refused = Lru.make<ProvisionerJobId, true>(keptRefusals)
  return { has: (id: ProvisionerJobId) => refused.get(id) === true, add: (id: ProvisionerJobId) => void refused.set(id, true) }
}

/**
 * Returns what becomes of a job that a daemon cannot run: `taken` if it waits no more, `other` if one of the daemons that fit its tags and count as alive
 * `isOther`, and else `none`.
 */
const fateOf = (queue: JobQueueRepository["Type"], id: ProvisionerJobId, isOther: (worker: AvailableWorker) => boolean) =>
  Effect.gen(function* () {
    // Another daemon has taken it, and may yet give it back
    if ((yield* queue.availableWorkers([id])).length === 0) return "taken"
    const live = yield* queue.availableWorkers([id], Timestamp.minus(yield* Timestamp.now, daemonTimeout))
    return live.some(isOther) ? "other" : "none"
  })

/**
 * Makes the selection of the daemons with these ids. A source that no engine of this process understands is left to other daemons that may take
 * the job, as long as one of them counts as alive and may have an engine for it. Without such a daemon the job is taken: it fails and says why.
 */
export const makeEngineSelection = (ids: ReadonlyArray<ProvisionerDaemonId>) =>
  Effect.gen(function* () {
    const sources = yield* TemplateSources
    const queue = yield* JobQueueRepository
    const engines = new Set((yield* ProvisionerEngines).map(({ name }) => name))
    const own = new Set(ids)
    const { lately, leave, reasonOf } = leftSources()
    const refused = makeRefused()

    const selection: EngineSelection = {
      left: lately,
      isTaken: ({ file_id, id }) => Option.exists(sources.opinionOf(file_id), ({ refusal }) => refusal === undefined || refused.has(id)),
      judge: ({ file_id, id }) =>
        Effect.gen(function* () {
          const { engines: able, refusal } = yield* sources.judge(file_id)
          if (refusal === undefined) return true
          // Where no engine is known for the source, one that this process does not have may be
          const mayRun = (engine: string): boolean => (able === undefined ? !engines.has(engine) : able.includes(engine))
          const fate = yield* fateOf(queue, id, (worker) => !own.has(worker.daemon_id) && (worker.engines?.some(mayRun) ?? true))
          if (fate === "other") yield* leave(file_id, refusal)
          else if (fate === "none") refused.add(id)
          return fate !== "other"
        }),
      refusalOf: ({ file_id }) => reasonOf(file_id)
    }
    return selection
  })

/**
 * Makes the selection of a daemon in another process that has told its engines. It leaves a source that another engine runs, as far as this process
 * knows: by an engine of its own. Any other source is given to the daemon, which knows best. So is one for which no daemon that counts as alive may have
 * an engine: the job fails, and says why.
 */
export const makeDaemonSelection = (
  engines: ReadonlySet<string>,
  sources: TemplateSources["Type"],
  queue: JobQueueRepository["Type"]
): EngineSelection => {
  const { lately, leave, reasonOf } = leftSources()
  const refused = makeRefused()
  const isRun = ({ engines: able }: Opinion): boolean => able === undefined || able.some((engine) => engines.has(engine))
  return {
    left: lately,
    isTaken: ({ file_id, id }) => Option.exists(sources.opinionOf(file_id), (opinion) => isRun(opinion) || refused.has(id)),
    judge: ({ file_id, id }) =>
      Effect.gen(function* () {
        const opinion = yield* sources.judge(file_id)
        if (isRun(opinion)) return true
        const able = opinion.engines ?? []
        const fate = yield* fateOf(queue, id, (worker) => worker.engines?.some((engine) => able.includes(engine)) ?? true)
        if (fate === "none") refused.add(id)
        if (fate !== "other") return true
        yield* leave(file_id, `A daemon with the tags of this job is connected, but it does not have the engine ${able.join(" or ")}.`)
        return false
      }),
    refusalOf: ({ file_id }) => reasonOf(file_id)
  }
}
