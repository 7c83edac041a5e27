/** Daemons in other processes, which take jobs over a connection and report on them. templates-and-provisioning.md §6.4, §6.5, §7.3, §8.4. */
import { Cause, Context, Duration, Effect, Option, type Scope } from "effect"
import type { Actor } from "../../access/actors/Actor.js"
import type { StreamRight } from "../../access/streams/StreamRights.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Organizations } from "../../organizations/Organizations.js"
import * as Background from "../../platform/background/Background.js"
import type { Forbidden, Invalid, Unauthenticated, NotFound } from "../../platform/Errors.js"
import { type EventBus, listen } from "../../platform/events/EventBus.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
import type { Transactor } from "../../platform/store/Transactor.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import * as Worker from "../../platform/background/Worker.js"
import { type EngineSelection, makeDaemonSelection } from "../engines/EngineSelection.js"
import { TemplateSources } from "../engines/TemplateSources.js"
import type { ProvisionerJob } from "../jobs/ProvisionerJob.js"
import { makeDaemonGroups } from "../queue/DaemonGroups.js"
import { JobQueueRepository } from "../queue/JobQueueRepository.js"
import { tagsContain } from "../queue/ProvisionerTags.js"
import { noticeInterval, sayRefusals } from "../queue/WaitingJobs.js"
import { JobClaims } from "../queue/JobClaims.js"
import { WorkspaceBuildJobs } from "../jobs/WorkspaceBuildJobs.js"
import { jobPosted } from "../jobs/JobEvents.js"
import { ModuleArchives, type ModuleArchive } from "../files/ModuleArchives.js"
import type { ProvisionerDaemon } from "./ProvisionerDaemon.js"
import { ProvisionerDaemonRepository } from "./ProvisionerDaemonRepository.js"
import type { FileId } from "../files/File.js"
import { type Phase, ProvisionFailure } from "../engines/ProvisionerEngine.js"
import { ProvisionerKeys } from "../keys/ProvisionerKeys.js"
import { type DaemonWork, type RemoteJob, RemoteJobs } from "./RemoteJobs.js"
import { noCredential, daemonCredentials } from "./DaemonCredentials.js"
import { daemonAdmission } from "./DaemonAdmission.js"

/** The credential of a connection that has no session of a user. */
export interface DaemonSecrets {
  readonly key?: string | undefined
  readonly shared?: string | undefined
}

/** A daemon that wants to connect. */
export interface NewDaemon {
  readonly name: string
  readonly provisioners: ReadonlyArray<string>
  /** Undefined for a tag without a value. */
  readonly tags: ReadonlyArray<readonly [key: string, value: string | undefined]>
  /** Of the program. */
  readonly version: string
  /** The protocol's that it speaks; empty for the oldest. */
  readonly api_version: string
  /**
   * Phases of a build that another daemon may begin again after this one was lost in them. A daemon that names `plan` commits the quota
   * before each apply, which tells that the plan has ended. Other daemons name none, so their builds fail with them.
   */
  readonly repeatable: ReadonlyArray<string>
  /** The names of its engines; empty if it does not tell, as other programs' daemons do not. */
  readonly engines: ReadonlyArray<string>
}

/** How often daemons show that they are alive. §7.1. */
const seenInterval = Duration.seconds(60)

const startMarking = Background.repeating("provisioner_heartbeat")

/** Whether a daemon could take a job if it had its engine. */
const canTake = ({ organization_id, provisioners, tags }: ProvisionerDaemon, job: ProvisionerJob): boolean =>
  organization_id === job.organization_id && provisioners.includes(job.provisioner) && tagsContain(tags, job.tags)

/** A daemon that may connect. */
export interface AdmittedDaemon {
  readonly daemon: ProvisionerDaemon
  readonly work: DaemonWork
  /** Whether its credential is still good. */
  readonly isAllowed: Effect.Effect<boolean>
  readonly repeatable: ReadonlySet<Phase>
  /** The names of its engines; undefined if it has not told them. */
  readonly engines: ReadonlySet<string> | undefined
}

/** The admission of a daemon: its right lasts as long as its credential. */
export interface DaemonAdmission extends AdmittedDaemon {
  readonly right: StreamRight
  /** Completes with the last job of a daemon whose key was deleted. */
  readonly dismissed: Effect.Effect<void>
}

/** How a connected daemon takes jobs. */
export interface ConnectedDaemon {
  /** Waits for a job and hands it over. A job whose handing over fails to end is given back. */
  readonly acquire: <A, E>(handOver: (job: RemoteJob) => Effect.Effect<A, E>) => Effect.Effect<A, E | Unauthenticated, Scope.Scope>
  /** Stores the modules that an import has downloaded. */
  readonly storeModules: (tar: Uint8Array) => Effect.Effect<FileId>
  /** An archive of modules of the daemon's organization; None where the daemon may not know whether there is one. */
  readonly modules: (id: FileId) => Effect.Effect<Option.Option<ModuleArchive>>
  /** What the sweep of an engine asks, as engines of the service's own process do. Refused once the daemon's credential has ended. */
  readonly remains: (
    asked: Remains
  ) => Effect.Effect<{ readonly existing: ReadonlySet<Uuid>; readonly unsuccessful: ReadonlySet<Uuid> }, Unauthenticated>
}

/** The ids that an engine has found at things it made. */
export interface Remains {
  readonly workspaces: ReadonlyArray<Uuid>
  readonly builds: ReadonlyArray<Uuid>
}

/** The methods of {@link RemoteDaemons}. */
export interface RemoteDaemonsService {
  /**
   * Decides whether a daemon may connect, and as which one. Fails with the first check that does not hold, in the order of
   * §7.3. The right ends with the key or the session; where the key is deleted while jobs run, `dismissed` completes with the last of them.
   */
  readonly admit: (
    reference: string,
    caller: Option.Option<Actor>,
    secrets: DaemonSecrets,
    asked: NewDaemon
  ) => Effect.Effect<DaemonAdmission, Invalid | Unauthenticated | Forbidden | NotFound>

  /** Registers an admitted daemon until the scope closes, and answers how it takes jobs. Jobs that it leaves behind are given back. */
  readonly connect: (admitted: AdmittedDaemon) => Effect.Effect<ConnectedDaemon, never, Scope.Scope>
}

/** Ends a job that could not be handed over. It is given back unless the same would come about each time. */
const notHandedOver = ({ fail, leave }: RemoteJob, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Cause.isDie(cause) && Option.isNone(storeUnavailable(cause))
    ? Effect.zipRight(
        Effect.logError("a job could not be handed to a daemon", cause),
        fail(new ProvisionFailure({ message: "The service could not hand the job to a daemon." }))
      )
    : leave

const make = Effect.gen(function* () {
  const repository = yield* ProvisionerDaemonRepository
  const queue = yield* JobQueueRepository
  const organizations = yield* Organizations
  const keys = yield* ProvisionerKeys
  const claims = yield* JobClaims
  const remoteJobs = yield* RemoteJobs
  const modules = yield* ModuleArchives
  const jobs = yield* WorkspaceBuildJobs
  const options = yield* DeploymentOptions
  const ids = yield* Ids

  const sources = yield* TemplateSources
  const services = yield* Effect.context<EventBus | Transactor>()

  const groups = makeDaemonGroups()
  yield* listen(jobPosted, groups.heard)

  /** Why each connected daemon that has told its engines leaves a job. */
  const refusers = new Set<EngineSelection["refusalOf"]>()
  const refusalOf = (job: ProvisionerJob): Option.Option<string> => Option.firstSomeOf([...refusers].map((refusal) => refusal(job)))
  const telling = Effect.suspend(() => (refusers.size === 0 ? Effect.void : sayRefusals(refusalOf)))
  yield* Background.repeat("daemon_refusals", Effect.zipRight(Worker.begun, Effect.zipRight(telling, Effect.sleep(noticeInterval))))

  /** Makes the selection of a daemon that has told its engines. It speaks in the logs of jobs until the scope closes. */
  const selectionOf = (daemon: ProvisionerDaemon, engines: ReadonlySet<string>) => {
    const selection = makeDaemonSelection(engines, sources, queue)
    const refusal = (job: ProvisionerJob) => (canTake(daemon, job) ? selection.refusalOf(job) : Option.none())
    return Effect.acquireRelease(
      Effect.sync(() => {
        refusers.add(refusal)
        return selection
      }),
      () => Effect.sync(() => refusers.delete(refusal))
    )
  }

  const { admittedBy, organizationOf } = daemonCredentials({ keys, options, organizations })

  return {
    ...daemonAdmission({ admittedBy, organizationOf, ids, keys }),

    connect: (admitted: AdmittedDaemon) =>
      Effect.gen(function* () {
        const { engines } = admitted
        const daemon = yield* repository.register(admitted.daemon, engines === undefined ? null : [...engines])
        const turns = yield* groups.join({ ...daemon, engines })
        const seen = Effect.flatMap(Timestamp.now, (now) => repository.seen([daemon.id], now))
        yield* startMarking(Effect.zipRight(seen, Effect.sleep(seenInterval)))

        const claim =
          engines === undefined
            ? claims.take(daemon)
            : Effect.provide(claims.takeSelected(daemon, yield* selectionOf(daemon, engines)), services)
        const take = Effect.flatMap(admitted.isAllowed, (isAllowed) => (isAllowed ? claim : noCredential))

        return {
          /** Waits for a job and hands it over. A job whose handing over is interrupted, or finds the store away, is given back. It fails for another defect. */
          acquire: <A, E>(handOver: (job: RemoteJob) => Effect.Effect<A, E>): Effect.Effect<A, E | Unauthenticated, Scope.Scope> =>
            Effect.uninterruptibleMask((restore) =>
              Effect.gen(function* () {
                const remote = yield* remoteJobs.begin(yield* turns.next(take), admitted)
                return yield* Effect.onError(restore(handOver(remote)), (cause) => notHandedOver(remote, cause))
              })
            ),

          /** Stores the modules that an import has downloaded. */
          storeModules: modules.store,

          /** An archive of modules of the daemon's organization; None where the daemon may not know whether there is one. */
          modules: (id: FileId) => modules.inOrganization(id, daemon.organization_id),

          /** Answers only what the sweep needs: of ids that a daemon cannot guess. */
          remains: ({ builds, workspaces }: Remains) =>
            Effect.flatMap(admitted.isAllowed, (isAllowed) =>
              isAllowed ? Effect.all({ existing: jobs.existing(workspaces), unsuccessful: jobs.unsuccessful(builds) }) : noCredential
            )
        }
      })
  }
})

/** Daemons that connect from other processes. */
export class RemoteDaemons extends Context.Tag("@atelier/core/RemoteDaemons")<RemoteDaemons, RemoteDaemonsService>() {
  static readonly layer = standingOn(
    service(RemoteDaemons, make),
    Organizations.layer,
    ProvisionerKeys.layer,
    JobClaims.layer,
    ModuleArchives.layer,
    TemplateSources.layer,
    RemoteJobs.layer
  )
}
