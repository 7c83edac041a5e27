/** The daemons inside a server: fibers that take jobs and run them. templates-and-provisioning.md §7.4. */
import { type Cause, Duration, Effect, Layer, Option, Queue, Schedule, Stream } from "effect"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import { Organizations } from "../organizations/Organizations.js"
import { subscribe } from "../platform/EventBus.js"
import { Ids } from "../platform/Ids.js"
import { storeUnavailable } from "../platform/StoreUnavailable.js"
import * as Timestamp from "../platform/Timestamp.js"
import type { Uuid } from "../platform/Uuid.js"
import { JobClaims, unrepeatableGrace } from "./JobClaims.js"
import { jobPosted } from "./JobEvents.js"
import { JobRunner } from "./JobRunner.js"
import { daemonTimeout, embeddedKeyId, provisionerApiVersion, type ProvisionerDaemon } from "./ProvisionerDaemon.js"
import { ProvisionerDaemonRepository } from "./ProvisionerDaemonRepository.js"
import { ProvisionerEngines } from "./ProvisionerEngine.js"
import { JobQueueRepository } from "./JobQueueRepository.js"
import { tagsContain, untagged } from "./ProvisionerTags.js"
import { WorkspaceBuildJobs } from "./WorkspaceBuildJobs.js"

/** The host name and version that daemons report. */
export interface EmbeddedDaemonOptions {
  /** Of this machine: daemons are named after it. */
  readonly hostname: string
  /** Of the server. */
  readonly version: string
}

const maximumName = 64

/** How long waiting daemons rely on being told of new jobs. §6.4. */
const pollInterval = Duration.seconds(30)

/** How often daemons show that they are alive. §7.1. */
const seenInterval = Duration.seconds(60)

/** Registers as many daemons under the first names of the host that no other process uses, until the scope ends. */
const register = (options: EmbeddedDaemonOptions, count: number) =>
  Effect.gen(function* () {
    const organization = yield* (yield* Organizations).ensureDefault
    const repository = yield* ProvisionerDaemonRepository
    const queue = yield* JobQueueRepository
    const process_id = yield* (yield* Ids).next
    const now = yield* Timestamp.now
    // A store of one process at a time: every name is free
    const free_since = queue.isShared ? Timestamp.minus(now, daemonTimeout) : now
    yield* Effect.addFinalizer(() => Effect.ignoreLogged(Effect.sandbox(repository.release(process_id))))
    const registered: Array<ProvisionerDaemon> = []
    for (let index = 0; registered.length < count; index++) {
      const daemon = yield* repository.registerEmbedded(yield* embeddedDaemon(options, organization.id, index), { process_id, free_since })
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

/**
 * Lets engines take up the workspaces that run on this machine. Recovery may be slow, as ending agents may be. Engines skip workspaces that
 * a job of this process has touched, so jobs need not wait for recovery, nor for the list of workspaces that should run.
 */
const recover = Effect.gen(function* () {
  const engines = yield* ProvisionerEngines
  const recovering = engines.flatMap((engine) => engine.recover ?? [])
  const { running } = yield* WorkspaceBuildJobs
  yield* Effect.forkScoped(Effect.forEach(recovering, (recover) => Effect.catchAllCause(recover(running), notRecovered), { discard: true }))
})

const notRecovered = (cause: Cause.Cause<unknown>) => Effect.logError("workspaces of this machine could not be recovered", cause)

/** One daemon: takes a job, runs it, and takes the next. While it waits for a job, the others of this process wait for it. */
const work = (daemon: ProvisionerDaemon, turn: Effect.Semaphore, posted: Queue.Dequeue<void>) =>
  Effect.gen(function* () {
    const claims = yield* JobClaims
    const runner = yield* JobRunner
    const next = Effect.gen(function* () {
      for (;;) {
        const job = yield* claims.take(daemon)
        if (job._tag === "Some") return job.value
        yield* Effect.timeoutOption(Queue.take(posted), pollInterval)
      }
    })
    yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(restore(turn.withPermits(1)(next)), (job) => restore(runner.run(job)))
    ).pipe(
      Effect.catchAllCause((cause) => Effect.zipRight(Effect.logError("a daemon failed", cause), Effect.sleep("1 second"))),
      Effect.forever
    )
  })

/** Registers the daemons, and lets each take jobs until the scope closes. */
const start = (options: EmbeddedDaemonOptions, count: number) =>
  Effect.gen(function* () {
    const queue = yield* JobQueueRepository
    const repository = yield* ProvisionerDaemonRepository
    // A store of one process at a time: the process that held a lease is gone, for certain
    if (!queue.isShared) yield* queue.endLeases(Timestamp.minus(yield* Timestamp.now, unrepeatableGrace))
    if (count === 0) return
    const daemons = yield* register(options, count)
    const posted = yield* Queue.sliding<void>(1)
    const postings = yield* subscribe(jobPosted)
    yield* postings.pipe(
      Stream.filter(
        (delivery) =>
          delivery._tag === "Lost" ||
          daemons.some(
            ({ organization_id, tags }) => organization_id === delivery.event.organization_id && tagsContain(tags, delivery.event.tags)
          )
      ),
      Stream.runForEach(() => Queue.offer(posted, undefined)),
      Effect.forkScoped
    )
    const ids = daemons.map(({ id }) => id)
    yield* Effect.flatMap(Timestamp.now, (now) => repository.seen(ids, now)).pipe(
      Effect.catchAllCause((cause) => Effect.logWarning("daemons could not be marked as alive", cause)),
      Effect.repeat(Schedule.fixed(seenInterval)),
      Effect.forkScoped
    )
    const turn = yield* Effect.makeSemaphore(1)
    yield* Effect.forEach(daemons, (daemon) => Effect.forkScoped(work(daemon, turn, posted)), { discard: true })
  })

/** How long after a failure the daemons are started again. */
const startInterval = Duration.seconds(1)

/**
 * Starts `DeploymentOptions.provisioner.daemons` daemons. When the layer is released, they return their unfinished jobs to the queue. A store
 * that takes no writes at present, because its disk is full, delays the daemons and not the server.
 */
export const embeddedDaemons = (options: EmbeddedDaemonOptions) =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const { provisionerDaemons } = yield* DeploymentOptions
      if (provisionerDaemons > 0) yield* recover
      const starting = start(options, provisionerDaemons)
      const later = (cause: Cause.Cause<never>) =>
        Effect.zipRight(
          Effect.logWarning("the store takes no writes: provisioner daemons start later", cause),
          Effect.forkScoped(Effect.retry(Effect.sandbox(starting), Schedule.spaced(startInterval)).pipe(Effect.delay(startInterval)))
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
