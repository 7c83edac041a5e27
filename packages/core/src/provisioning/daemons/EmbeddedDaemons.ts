/** The daemons inside a server: fibers that take jobs and run them. templates-and-provisioning.md §7.4. */
import { running } from "../../platform/wiring/Standing.js"
import { type Cause, Duration, Effect, Option, Schedule } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Replicas } from "../../deployment/Replicas.js"
import { Organizations } from "../../organizations/Organizations.js"
import * as Background from "../../platform/background/Background.js"
import { listen } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { afterwards } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { isManual, startSigns, startUnlessManual } from "../../platform/background/BackgroundWork.js"
import * as Worker from "../../platform/background/Worker.js"
import { makeEngineSelection } from "../engines/EngineSelection.js"
import { JobClaims, type JobSelection } from "../queue/JobClaims.js"
import { unrepeatableGrace } from "../queue/JobReturn.js"
import type { ClaimedJob } from "../jobs/ProvisionerJobRepository.js"
import { jobPosted } from "../jobs/JobEvents.js"
import { JobRunner } from "../jobs/JobRunner.js"
import { type JobTurns, makeJobTurns } from "../queue/JobTurns.js"
import { daemonTimeout, embeddedKeyId, provisionerApiVersion, type ProvisionerDaemon } from "./ProvisionerDaemon.js"
import { ProvisionerDaemonRepository } from "./ProvisionerDaemonRepository.js"
import { type Engine, ProvisionerEngines } from "../engines/ProvisionerEngine.js"
import { JobQueueRepository } from "../queue/JobQueueRepository.js"
import { tagsContain, untagged } from "../queue/ProvisionerTags.js"
import { noticeInterval, sayRefusals } from "../queue/WaitingJobs.js"
import { WorkspaceBuildJobs } from "../jobs/WorkspaceBuildJobs.js"

/** The host name and version that daemons report. */
export interface EmbeddedDaemonOptions {
  /** Of this machine: daemons are named after it. */
  readonly hostname: string
  /** Of the server. */
  readonly version: string
}

const maximumName = 64

/** How often daemons show that they are alive. §7.1. */
const seenInterval = Duration.seconds(60)

/** Registers as many daemons under the first names of the host that no other process uses, until the scope ends. */
const register = (options: EmbeddedDaemonOptions, count: number) =>
  Effect.gen(function* () {
    const organization = yield* (yield* Organizations).ensureDefault
    const repository = yield* ProvisionerDaemonRepository
    const queue = yield* JobQueueRepository
    const engines = (yield* ProvisionerEngines).map(({ name }) => name)
    // By which other processes know whose claims end with this one
    const { id: process_id } = yield* Replicas
    const now = yield* Timestamp.now
    // A store of one process at a time: every name is free
    const free_since = queue.isShared ? Timestamp.minus(now, daemonTimeout) : now
    yield* Effect.addFinalizer(() => Background.lastly(repository.release(process_id)))
    const registered: Array<ProvisionerDaemon> = []
    for (let index = 0; registered.length < count; index++) {
      const owner = { process_id, free_since, engines }
      const daemon = yield* repository.registerEmbedded(yield* embeddedDaemon(options, organization.id, index), owner)
      if (Option.isSome(daemon)) registered.push(daemon.value)
    }
    return registered
  })

const embeddedDaemon = (options: EmbeddedDaemonOptions, organizationId: Uuid, index: number) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const suffix = `-${index}`
    const daemon: ProvisionerDaemon = {
      id: yield* (yield* Ids).next,
      created_at: now,
      organization_id: organizationId,
      name: options.hostname.slice(0, maximumName - suffix.length) + suffix,
      // Which engine runs a source depends on its files, not on what its author calls it
      provisioners: ["terraform", "echo"],
      tags: untagged,
      version: options.version,
      api_version: provisionerApiVersion,
      key_id: embeddedKeyId,
      last_seen_at: now
    }
    return daemon
  })

/** How long after it could not be read which workspaces run engines are asked to recover them again. */
const recoverInterval = Duration.seconds(5)

const notRecovered = (cause: Cause.Cause<unknown>) => Background.logFailure("workspaces of this machine could not be recovered", cause)

/**
 * Lets engines take up the workspaces that run on this machine. Recovery may be slow, as ending agents may be. Engines skip workspaces that
 * a job of this process has touched, so jobs need not wait for recovery, nor for the list of workspaces that should run. A store that is away is waited for:
 * no other start may follow for long.
 */
const recover = Effect.gen(function* () {
  const engines = yield* ProvisionerEngines
  const recovering = engines.flatMap((engine) => engine.recover ?? [])
  const { running } = yield* WorkspaceBuildJobs
  const one = (recover: NonNullable<Engine["recover"]>) =>
    Effect.suspend(() => {
      // An outage of hours would be a line every few seconds
      let isKnown = false
      const tell = (cause: Cause.Cause<unknown>) => {
        const isAway = Option.isSome(storeUnavailable(cause))
        if (isAway && isKnown) return Effect.void
        isKnown = isAway
        return notRecovered(cause)
      }
      return Effect.sandbox(recover(running)).pipe(
        Effect.tapError(tell),
        Effect.retry({ while: (cause) => Option.isSome(storeUnavailable(cause)), schedule: Schedule.spaced(recoverInterval) }),
        Effect.ignore
      )
    })
  const all = Effect.forEach(recovering, one, { concurrency: "unbounded", discard: true })
  yield* Background.once("recovery_of_workspaces", Effect.zipRight(Worker.begun, all))
})

/** How often engines look for remains of deleted workspaces and of builds that were given up. */
const sweepInterval = Duration.minutes(10)

/** How long one engine may look and remove. */
const sweepLimit = Duration.minutes(5)

/**
 * Lets engines remove the remains of deleted workspaces. Each process asks its own engines: those of another one may work on another machine.
 */
const sweep = Effect.gen(function* () {
  const sweeping = (yield* ProvisionerEngines).flatMap(({ sweep }) => sweep ?? [])
  if (sweeping.length === 0) return
  const { existing, unsuccessful } = yield* WorkspaceBuildJobs
  const all = Background.each("engine_sweep", sweeping, (sweep) => sweep(existing, unsuccessful), { within: sweepLimit })
  yield* Background.repeat("engine_sweep", Worker.begun.pipe(Effect.zipRight(all), Effect.zipRight(Effect.sleep(sweepInterval))))
})

const heartbeat = "provisioner_heartbeat"

const startWorking = Background.repeating("provisioner_daemon")

/** Starts one daemon: takes a job, runs it, and takes the next. */
const work = (daemon: ProvisionerDaemon, turns: JobTurns, selection: JobSelection) =>
  Effect.gen(function* () {
    const claims = yield* JobClaims
    const runner = yield* JobRunner
    let hasJob = false
    const run = (job: ClaimedJob) =>
      Effect.suspend(() => {
        hasJob = true
        return Effect.ensuring(
          runner.run(job),
          Effect.sync(() => void (hasJob = false))
        )
      })
    yield* startWorking(
      Effect.zipRight(Worker.begun, Effect.uninterruptible(Effect.flatMap(turns.next(claims.takeSelected(daemon, selection)), run))),
      // The engine ends its work, and the job is given back. A claim that the store does not answer is left: its lease passes
      () => hasJob
    )
  })

/** The name by which a program whose work is manual has the jobs that wait run. */
const jobs = "provisioner_jobs"

/** Has a daemon take jobs and run them, one after the other, until it finds none. */
const workOff = (daemon: ProvisionerDaemon, selection: JobSelection) =>
  Effect.gen(function* () {
    const claims = yield* JobClaims
    const runner = yield* JobRunner
    const next = Effect.flatMap(
      claims.takeSelected(daemon, selection),
      Option.match({ onNone: () => Effect.succeed(false), onSome: (job) => Effect.as(runner.run(job), true) })
    )
    while (yield* Effect.uninterruptible(next)) yield* Effect.void
  })

/** Registers the daemons, and lets each take jobs until the scope closes. */
const start = (options: EmbeddedDaemonOptions, count: number) =>
  Effect.gen(function* () {
    const queue = yield* JobQueueRepository
    const repository = yield* ProvisionerDaemonRepository
    // A store of one process at a time: the process that held a lease is gone, for certain
    if (!queue.isShared) yield* queue.endLeases(Timestamp.minus(yield* Timestamp.now, unrepeatableGrace))
    // A daemon without an engine could run nothing
    if (count === 0 || (yield* ProvisionerEngines).length === 0) return
    const isAlone = yield* isManual
    const daemons = yield* register(options, isAlone ? 1 : count)
    const ids = daemons.map(({ id }) => id)
    const selection = yield* makeEngineSelection(ids)
    const seen = Effect.flatMap(Timestamp.now, (now) => repository.seen(ids, now))
    const beating = Background.repeat(heartbeat, Effect.zipRight(Worker.begun, Effect.zipRight(seen, Effect.sleep(seenInterval))))
    yield* startSigns(heartbeat, seen, beating)
    if (isAlone) {
      return yield* Effect.forEach(daemons, (daemon) => startUnlessManual(jobs, workOff(daemon, selection), Effect.void), { discard: true })
    }
    const turns = makeJobTurns()
    yield* listen(jobPosted, (delivery) => {
      if (delivery._tag === "Lost") return turns.lost()
      const { event } = delivery
      const isTaken = daemons.some(
        ({ organization_id, tags }) => organization_id === event.organization_id && tagsContain(tags, event.tags)
      )
      if (isTaken) turns.posted()
    })
    const saying = Effect.zipRight(sayRefusals(selection.refusalOf), Effect.sleep(noticeInterval))
    yield* Background.repeat("provisioner_refusals", Effect.zipRight(Worker.begun, saying))
    yield* Effect.forEach(daemons, (daemon) => work(daemon, turns, selection), { discard: true })
  })

/** How long after a failure the daemons are started again. */
const startInterval = Duration.seconds(1)

/**
 * Starts `DeploymentOptions.provisioner.daemons` daemons. When the layer is released, they return their unfinished jobs to the queue. A store
 * that takes no writes at present, because its disk is full, delays the daemons and not the server.
 */
export const embeddedDaemons = (options: EmbeddedDaemonOptions) =>
  running(
    Effect.gen(function* () {
      const { provisionerDaemons } = yield* DeploymentOptions
      if (provisionerDaemons > 0) yield* Effect.zipRight(recover, sweep)
      const starting = start(options, provisionerDaemons)
      const later = (cause: Cause.Cause<never>) =>
        Effect.zipRight(
          Effect.logWarning("the store takes no writes: provisioner daemons start later", cause),
          Effect.retry(Effect.sandbox(starting), Schedule.spaced(startInterval)).pipe(
            Effect.delay(startInterval),
            afterwards,
            Effect.forkScoped
          )
        )
      yield* Effect.catchSomeCause(starting, (cause) => Option.as(storeUnavailable(cause), later(cause)))
    })
  )

/** How long a daemon that is not heard of stays in lists. §7.1. */
const forgottenAfter = Duration.days(7)

/** Removes daemons that have not been heard of for long. */
export const daemonCleaner = {
  name: "provisioner_daemon_cleaner",
  every: Duration.minutes(10),
  run: Effect.gen(function* () {
    const repository = yield* ProvisionerDaemonRepository
    yield* repository.deleteUnseen(Timestamp.minus(yield* Timestamp.now, forgottenAfter))
  })
}
