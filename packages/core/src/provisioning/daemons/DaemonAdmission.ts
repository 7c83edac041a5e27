import { Deferred, Effect, Option, Schema } from "effect"
import * as Access from "../../access/Access.js"
import { type Actor, CurrentActor } from "../../access/actors/Actor.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { rightTo } from "../../access/streams/StreamRights.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import { requireFeature } from "../../deployment/licenses/Entitlements.js"
import { Forbidden, Invalid } from "../../platform/Errors.js"
import type { Ids } from "../../platform/Ids.js"
import * as Name from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nil } from "../../platform/texts/Uuid.js"
import { provisionerApiVersion, type ProvisionerDaemon, sharedKeyId, userKeyId } from "./ProvisionerDaemon.js"
import type { Phase } from "../engines/ProvisionerEngine.js"
import { ProvisionerType } from "../jobs/ProvisionerJob.js"
import type { ProvisionerKeys } from "../keys/ProvisionerKeys.js"
import { normalizeTags, type ProvisionerTags, tagsViolation } from "../queue/ProvisionerTags.js"
import type { DaemonWork } from "./RemoteJobs.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { type DaemonCredentials, noCredential } from "./DaemonCredentials.js"
import type { DaemonSecrets, NewDaemon } from "./RemoteDaemons.js"

const maximumName = 64

const oldestVersion = "1.0"

const isProvisioner = Schema.is(ProvisionerType)

/** Engines of one daemon, and what their names are made of. */
const maximumEngines = 64
const engineName = /^[a-z0-9-]{1,64}$/

const buildPhases = ["plan", "apply"] as const satisfies ReadonlyArray<Phase>

/** Whether a version of the protocol has the same major number and no larger minor one. §7.3. */
const isServed = (version: string): boolean => {
  const [, major, minor] = /^(\d{1,6})\.(\d{1,6})$/.exec(version) ?? []
  const [ownMajor, ownMinor] = provisionerApiVersion.split(".").map(Number)
  return major !== undefined && Number(major) === ownMajor && Number(minor) <= (ownMinor ?? 0)
}

const tagsOf = ({ tags }: NewDaemon) => {
  const broken = tags.find(([, value]) => value === undefined)
  return broken === undefined
    ? Effect.succeed(Object.fromEntries(tags.map(([key, value]): [string, string] => [key, value ?? ""])))
    : Invalid.field("tags", `${JSON.stringify(broken[0])} has no value: write key=value`)
}

interface Needs {
  readonly admittedBy: DaemonCredentials["admittedBy"]
  readonly organizationOf: DaemonCredentials["organizationOf"]
  readonly ids: Ids["Type"]
  readonly keys: ProvisionerKeys["Type"]
}

/** The admission of a daemon: its tags, its version, and how long its right lasts. */
export const daemonAdmission = ({ admittedBy, organizationOf, ids, keys }: Needs) => ({
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
    if (asked.engines.length > maximumEngines || !asked.engines.every((name) => engineName.test(name))) {
      return yield* Invalid.field("engine", `must be at most ${maximumEngines} names of lower-case letters, digits and hyphens`)
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
    const [right] = yield* Effect.provideService(
      rightTo(`provisioner_daemon:${daemon.id}`, () => Effect.void),
      CurrentActor,
      actor
    )
    const isAllowed =
      credential._tag === "Key"
        ? Effect.map(Effect.either(keys.authenticate(credential.secret)), ({ _tag }) => _tag === "Right")
        : Effect.succeed(true)
    const engines = asked.engines.length === 0 ? undefined : new Set(asked.engines)
    const repeatable = new Set(buildPhases.filter((phase) => asked.repeatable.includes(phase)))
    return { right, daemon, work, isAllowed, repeatable, engines, dismissed: Deferred.await(dismissed) }
  })
})
