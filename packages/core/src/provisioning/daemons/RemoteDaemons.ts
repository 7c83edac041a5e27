/** Daemons in other processes, which take jobs over a connection and report on them. templates-and-provisioning.md §6.4, §6.5, §7.3, §8.4. */
import { Context, Deferred, Duration, Effect, Option, Schema, type Scope } from "effect"
import * as Access from "../../access/Access.js"
import { type Actor, CurrentActor } from "../../access/actors/Actor.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { rightTo, type StreamRight } from "../../access/streams/StreamRights.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { requireFeature } from "../../deployment/licenses/Entitlements.js"
import { Organizations } from "../../organizations/Organizations.js"
import * as Background from "../../platform/background/Background.js"
import { Forbidden, Invalid, type Unauthenticated, type NotFound } from "../../platform/Errors.js"
import { listen } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import * as Name from "../../platform/texts/Name.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nil } from "../../platform/texts/Uuid.js"
import { makeDaemonGroups } from "../queue/DaemonGroups.js"
import { JobClaims } from "../queue/JobClaims.js"
import { jobPosted } from "../jobs/JobEvents.js"
import { ModuleArchives, type ModuleArchive } from "../files/ModuleArchives.js"
import { provisionerApiVersion, type ProvisionerDaemon, sharedKeyId, userKeyId } from "./ProvisionerDaemon.js"
import { ProvisionerDaemonRepository } from "./ProvisionerDaemonRepository.js"
import type { FileId } from "../files/File.js"
import type { Phase } from "../engines/ProvisionerEngine.js"
import { ProvisionerType } from "../jobs/ProvisionerJob.js"
import { ProvisionerKeys } from "../keys/ProvisionerKeys.js"
import { normalizeTags, type ProvisionerTags, tagsViolation } from "../queue/ProvisionerTags.js"
import { type DaemonWork, type RemoteJob, RemoteJobs } from "./RemoteJobs.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { noCredential, daemonCredentials } from "./DaemonCredentials.js"

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
}

/** How often daemons show that they are alive. §7.1. */
const seenInterval = Duration.seconds(60)

const maximumName = 64

const oldestVersion = "1.0"

const isProvisioner = Schema.is(ProvisionerType)

const buildPhases = ["plan", "apply"] as const satisfies ReadonlyArray<Phase>

/** Whether a version of the protocol has the same major number and no larger minor one. §7.3. */
const isServed = (version: string): boolean => {
  const [, major, minor] = /^(\d{1,6})\.(\d{1,6})$/.exec(version) ?? []
  const [ownMajor, ownMinor] = provisionerApiVersion.split(".").map(Number)
  return major !== undefined && Number(major) === ownMajor && Number(minor) <= (ownMinor ?? 0)
}

const startMarking = Background.repeating("provisioner_heartbeat")

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
  ) => Effect.Effect<
    {
      readonly right: StreamRight
      readonly daemon: ProvisionerDaemon
      readonly work: DaemonWork
      readonly isAllowed: Effect.Effect<boolean>
      readonly repeatable: Set<"plan" | "apply">
      readonly dismissed: Effect.Effect<void>
    },
    Invalid | Unauthenticated | Forbidden | NotFound
  >

  /** Registers an admitted daemon until the scope closes, and answers how it takes jobs. Jobs that it leaves behind are given back. */
  readonly connect: (admitted: {
    readonly daemon: ProvisionerDaemon
    readonly work: DaemonWork
    readonly isAllowed: Effect.Effect<boolean>
    readonly repeatable: ReadonlySet<Phase>
  }) => Effect.Effect<
    {
      readonly acquire: <A, E>(handOver: (job: RemoteJob) => Effect.Effect<A, E>) => Effect.Effect<A, E | Unauthenticated, Scope.Scope>
      readonly storeModules: (tar: Uint8Array) => Effect.Effect<FileId>
      readonly modules: (id: FileId) => Effect.Effect<Option.Option<ModuleArchive>>
    },
    never,
    Scope.Scope
  >
}

const make = Effect.gen(function* () {
  const repository = yield* ProvisionerDaemonRepository
  const organizations = yield* Organizations
  const keys = yield* ProvisionerKeys
  const claims = yield* JobClaims
  const remoteJobs = yield* RemoteJobs
  const modules = yield* ModuleArchives
  const options = yield* DeploymentOptions
  const ids = yield* Ids

  const groups = makeDaemonGroups()
  yield* listen(jobPosted, groups.heard)

  const tagsOf = ({ tags }: NewDaemon) => {
    const broken = tags.find(([, value]) => value === undefined)
    return broken === undefined
      ? Effect.succeed(Object.fromEntries(tags.map(([key, value]): [string, string] => [key, value ?? ""])))
      : Invalid.field("tag", `${JSON.stringify(broken[0])} has no value: write key=value`)
  }

  const { admittedBy, organizationOf } = daemonCredentials({ keys, options, organizations })

  return {
    admit: Traced.fn("RemoteDaemons.admit")(function* (
      reference: string,
      caller: Option.Option<Actor>,
      secrets: DaemonSecrets,
      asked: NewDaemon
    ) {
      yield* requireFeature("external_provisioner_daemons")
      const credential = yield* admittedBy(caller, secrets)
      const found = yield* organizationOf(reference, credential)
      const given: ProvisionerTags = yield* tagsOf(asked)
      const provisioners = asked.provisioners.filter(isProvisioner)
      if (provisioners.length === 0 || provisioners.length < asked.provisioners.length) {
        return yield* Invalid.field("provisioner", `must name ${ProvisionerType.literals.join(" or ")}`)
      }
      const [tags, key_id, organization] = yield* Effect.gen(function* () {
        switch (credential._tag) {
          case "User": {
            const object = AccessObjects.inOrganization("provisioner_daemon", found.id)
            // Jobs hold credentials of their users
            yield* Effect.provideService(Access.refuseApps, CurrentActor, credential.actor)
            if (given["scope"] !== "user") {
              yield* Effect.provideService(Access.authorize("create", object), CurrentActor, credential.actor)
            }
            return [normalizeTags(given, credential.actor.userId), userKeyId, found] as const
          }
          case "Key": {
            if (asked.tags.length > 0) return yield* new Forbidden({ message: "A daemon with a provisioner key has the tags of its key." })
            return [normalizeTags(credential.key.tags, nil), credential.key.id, found] as const
          }
          case "Shared": {
            if (!found.is_default) return yield* new Forbidden({ message: "The pre-shared key is for the default organization." })
            return [normalizeTags(given, nil), sharedKeyId, found] as const
          }
        }
      })
      const violation = tagsViolation(tags)
      if (violation !== undefined) return yield* Invalid.field("tags", violation)
      const api_version = asked.api_version || oldestVersion
      if (!isServed(api_version)) {
        return yield* Invalid.field("version", `must be a version from ${oldestVersion} to ${provisionerApiVersion}`)
      }
      const now = yield* Timestamp.now
      const daemon: ProvisionerDaemon = {
        id: yield* ids.next,
        created_at: now,
        organization_id: organization.id,
        name: (asked.name || (yield* Name.random("_"))).slice(0, maximumName),
        provisioners: [...new Set(provisioners)],
        tags,
        version: asked.version.slice(0, maximumName),
        api_version,
        key_id,
        last_seen_at: now
      }
      const dismissed = yield* Deferred.make<void>()
      let isKeyDeleted = false
      /** Jobs that the daemon works on. A deleted key lets it end them. */
      const work: DaemonWork = {
        running: 0,
        ended: () => {
          work.running -= 1
          if (isKeyDeleted && work.running === 0) Deferred.unsafeDone(dismissed, Effect.void)
        }
      }
      const actor: Actor = Option.getOrElse(caller, () => ({
        ...SystemActor.provisionerd,
        credential: {
          renew: Effect.suspend(() =>
            credential._tag === "Key"
              ? Effect.matchEffect(keys.authenticate(credential.secret), {
                  onFailure: () => {
                    isKeyDeleted = true
                    return work.running === 0 ? noCredential : Effect.succeed(actor)
                  },
                  onSuccess: () => Effect.succeed(actor)
                })
              : Effect.succeed(actor)
          )
        }
      }))
      const [right] = yield* Effect.provideService(rightTo(`provisioner_daemon:${daemon.id}`, Effect.void), CurrentActor, actor)
      const isAllowed =
        credential._tag === "Key"
          ? Effect.map(Effect.either(keys.authenticate(credential.secret)), ({ _tag }) => _tag === "Right")
          : Effect.succeed(true)
      const repeatable = new Set(buildPhases.filter((phase) => asked.repeatable.includes(phase)))
      return { right, daemon, work, isAllowed, repeatable, dismissed: Deferred.await(dismissed) }
    }),

    connect: (admitted: {
      readonly daemon: ProvisionerDaemon
      readonly work: DaemonWork
      readonly isAllowed: Effect.Effect<boolean>
      readonly repeatable: ReadonlySet<Phase>
    }) =>
      Effect.gen(function* () {
        const daemon = yield* repository.register(admitted.daemon)
        const turns = yield* groups.join(daemon)
        const seen = Effect.flatMap(Timestamp.now, (now) => repository.seen([daemon.id], now))
        yield* startMarking(Effect.zipRight(seen, Effect.sleep(seenInterval)))

        const take = Effect.flatMap(admitted.isAllowed, (isAllowed) => (isAllowed ? claims.take(daemon) : noCredential))

        return {
          /** Waits for a job and hands it over. A job whose handing over fails to end is given back. */
          acquire: <A, E>(handOver: (job: RemoteJob) => Effect.Effect<A, E>): Effect.Effect<A, E | Unauthenticated, Scope.Scope> =>
            Effect.uninterruptibleMask((restore) =>
              Effect.gen(function* () {
                const remote = yield* remoteJobs.begin(yield* turns.next(take), admitted)
                return yield* Effect.onInterrupt(restore(handOver(remote)), () => remote.leave)
              })
            ),

          /** Stores the modules that an import has downloaded. */
          storeModules: modules.store,

          /** An archive of modules of the daemon's organization; None where the daemon may not know whether there is one. */
          modules: (id: FileId) => modules.inOrganization(id, daemon.organization_id)
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
    RemoteJobs.layer
  )
}
