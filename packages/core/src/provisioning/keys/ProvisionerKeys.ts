import { Array as Arr, Context, Duration, Effect, Encoding, Option, Redacted, Schema } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { publishRightsChange } from "../../access/streams/RightsChanges.js"
import type { Organization } from "../../organizations/Organization.js"
import { Organizations } from "../../organizations/Organizations.js"
import { Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import { Conflict, Invalid, Unauthenticated, type Forbidden, type NotFound } from "../../platform/Errors.js"
import { type Channel, channelsOf, type EventBus } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish, transaction, type Transactor } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { builtInKeyNames, DaemonStatus, userKeyId } from "../daemons/ProvisionerDaemon.js"
import { ProvisionerDaemonRepository, type DaemonWithJobs } from "../daemons/ProvisionerDaemonRepository.js"
import { missingProvisionerKey, type ProvisionerKey, provisionerKeyNameViolation, provisionerSecretLength } from "./ProvisionerKey.js"
import { ProvisionerKeyRepository } from "./ProvisionerKeyRepository.js"
import { type ProvisionerTags, tagsViolation } from "../queue/ProvisionerTags.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** A daemon of the list of keys was seen within this time. §7.2. */
const recently = Duration.minutes(3)

/** A key was deleted: the sessions that daemons opened with it end. §7.3. */
export const provisionerKeyDeleted: (id: Uuid) => Channel<{}> = channelsOf("provisioner_key_deleted", Schema.Struct({}))

const unknownKey = new Unauthenticated({ message: "The provisioner key is invalid, or was deleted." })

const names = new Set(builtInKeyNames.values())

/** The methods of {@link ProvisionerKeys}. */
export interface ProvisionerKeysService {
  /**
   * Makes a key for daemons and returns its secret, which is shown once. Fails with `Forbidden` if the actor may not make daemons, and with
   * `Conflict` for a name that is taken in any case. templates-and-provisioning.md §7.2.
   */
  readonly create: (
    reference: string,
    name: string,
    tags: ProvisionerTags
  ) => Effect.Effect<Redacted.Redacted<string>, Invalid | Forbidden | NotFound | Conflict, CurrentActor>

  /** The keys that were made in an organization, by creation. §7.2. */
  readonly list: (reference: string) => Effect.Effect<ReadonlyArray<ProvisionerKey>, NotFound, CurrentActor>

  /** All keys of an organization, each with its daemons that were seen lately. Two statements. §7.2. */
  readonly withDaemons: (
    reference: string
  ) => Effect.Effect<
    { readonly key: ProvisionerKey; readonly daemons: [] | [DaemonWithJobs, ...DaemonWithJobs[]] }[],
    NotFound,
    CurrentActor
  >

  /** Deletes a key, which ends the sessions of its daemons. Fails with `Invalid` for a built-in one. §7.2. */
  readonly delete: (
    reference: string,
    name: string
  ) => Effect.Effect<undefined, Invalid | Forbidden | NotFound, CurrentActor | EventBus | Transactor>

  /** The key with this secret. Fails with `Invalid` for a text that is no secret, and `Unauthenticated` for an unknown one. §7.2. */
  readonly authenticate: (secret: Redacted.Redacted<string>) => Effect.Effect<ProvisionerKey, Invalid | Unauthenticated>
}

const make = Effect.gen(function* () {
  const repository = yield* ProvisionerKeyRepository
  const daemons = yield* ProvisionerDaemonRepository
  const organizations = yield* Organizations
  const cryptography = yield* Cryptography
  const ids = yield* Ids

  const object = ({ id }: Pick<Organization, "id">) => AccessObjects.inOrganization("provisioner_daemon", id)

  const readable = (reference: string) =>
    Effect.tap(organizations.get(reference), (organization) => Access.authorizeOrHide("read", object(organization)))

  /** Those that exist without being made: all of them in the default organization, that of users in each. */
  const builtIn = ({ created_at, id, is_default }: Organization): ReadonlyArray<ProvisionerKey> =>
    [...builtInKeyNames]
      .filter(([key]) => is_default || key === userKeyId)
      .map(([key, name]) => ({ id: key, created_at, organization_id: id, name, tags: {} }))

  return {
    create: Traced.fn("ProvisionerKeys.create")(function* (reference: string, name: string, tags: ProvisionerTags) {
      const organization = yield* organizations.get(reference)
      yield* Access.authorize("create", object(organization))
      const violation = provisionerKeyNameViolation(name, names)
      if (violation !== undefined) return yield* Invalid.field("name", violation)
      const wrongTags = tagsViolation(tags)
      if (wrongTags !== undefined) return yield* Invalid.field("tags", wrongTags)
      const secret = Encoding.encodeBase64Url(yield* cryptography.randomBytes(32))
      const key: ProvisionerKey = {
        id: yield* ids.next,
        created_at: yield* Timestamp.now,
        organization_id: organization.id,
        name: name.toLowerCase(),
        tags
      }
      yield* Effect.catchTag(repository.insert(key, yield* hashSecret(cryptography, secret)), "Duplicate", () =>
        Conflict.taken("A provisioner key", key.name)
      )
      return Redacted.make(secret)
    }),

    list: Traced.fn("ProvisionerKeys.list")(function* (reference: string) {
      return yield* repository.list((yield* readable(reference)).id)
    }),

    withDaemons: Traced.fn("ProvisionerKeys.withDaemons")(function* (reference: string) {
      const organization = yield* readable(reference)
      const now = yield* Timestamp.now
      const seen_since = Timestamp.minus(now, recently)
      const found = yield* daemons.list({
        organization_id: organization.id,
        statuses: DaemonStatus.literals,
        seen_since,
        alive_since: now,
        limit: 0
      })
      const heard = found.filter(({ last_seen_at }) => last_seen_at !== null)
      const ofKey = Arr.groupBy(
        heard.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
        ({ key_id }) => key_id
      )
      const keys = [...builtIn(organization), ...(yield* repository.list(organization.id))]
      return keys.map((key) => ({ key, daemons: ofKey[key.id] ?? [] }))
    }),

    delete: Traced.fn("ProvisionerKeys.delete")(function* (reference: string, name: string) {
      const organization = yield* organizations.get(reference)
      yield* Access.authorize("delete", object(organization))
      if (names.has(name.toLowerCase())) return yield* new Invalid({ message: "A built-in key cannot be deleted." })
      yield* transaction(
        Effect.gen(function* () {
          const key = Option.getOrUndefined(yield* repository.byName(organization.id, name.toLowerCase()))
          if (key === undefined || !(yield* repository.delete(key.id))) return yield* missingProvisionerKey
          yield* publish(provisionerKeyDeleted(key.id), {})
          // The connections of its daemons are judged again
          yield* publishRightsChange({})
        })
      )
    }),

    authenticate: Traced.fn("ProvisionerKeys.authenticate")(function* (secret: Redacted.Redacted<string>) {
      const text = Redacted.value(secret)
      if (text.length !== provisionerSecretLength)
        return yield* new Invalid({ message: "The provisioner key does not have the form of a key." })
      return yield* Effect.mapError(Effect.flatten(repository.bySecret(yield* hashSecret(cryptography, text))), () => unknownKey)
    })
  }
})

/** Keys of daemons on other machines. */
export class ProvisionerKeys extends Context.Tag("@atelier/core/ProvisionerKeys")<ProvisionerKeys, ProvisionerKeysService>() {
  static readonly layer = standingOn(service(ProvisionerKeys, make), Organizations.layer)
}
