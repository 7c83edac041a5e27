/** Public keys by which users' SSH clients log in to the gateway. identity.md §8.9. */
import { Context, Effect, Encoding, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type Actor, type CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { allScope } from "../../access/scopes/Scope.js"
import * as Audit from "../../audit/Audit.js"
import type { Auditing } from "../../audit/Audit.js"
import { audited, auditedResource, ignored } from "../../audit/AuditedResource.js"
import { Conflict, Forbidden, Invalid, NotFound, Unauthenticated } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { excess } from "../sessions/Delegation.js"
import { keyHolders } from "../sessions/KeyHolders.js"
import { TrustedUsers } from "../sessions/TrustedUsers.js"
import { lockedAccount } from "../users/Account.js"
import { AccountRepository } from "../users/AccountRepository.js"
import { Users } from "../users/Users.js"
import { readPublicKey } from "./PublicKey.js"
import { type SshKey, SshKeyRepository } from "./SshKey.js"

/** Keys of a user: a list of them has no pages. */
const maximumKeys = 100

const maximumNameLength = 255

/** How long the use of a key is not recorded anew. */
const useInterval = "1 hour"

const keyAudit = auditedResource<SshKey>({
  type: "user_ssh_key",
  endsRightsOf: "user",
  fields: {
    id: ignored,
    user_id: audited,
    name: audited,
    public_key: ignored,
    fingerprint: audited,
    created_at: ignored,
    last_used_at: ignored
  }
})

/** Entries about keys have the id of their user. */
const subjectOf = (action: "create" | "delete", { name, user_id }: SshKey) =>
  ({ action, resource: keyAudit, id: user_id, target: name }) as const

const missing = new NotFound({ resource: "ssh_key" })

const unknownKey = new Unauthenticated({ message: "The key is not one of a user." })

const taken = new Conflict({
  message: "This key is in use already.",
  validations: [{ field: "public_key", detail: "belongs to a user already" }]
})

/** The request for a key. */
export interface NewSshKey {
  /** Absent or empty: the comment of the key, or its type. */
  readonly name?: string | undefined
  /** One line of an `authorized_keys` file, without options. */
  readonly public_key: string
}

/** The methods of {@link SshKeys}. */
export interface SshKeysService {
  /**
   * Adds a key, which logs in with all rights that the user has to connect to workspaces. Fails with `Forbidden` for another user than the actor, and
   * for a credential with fewer rights than its user has, with `Conflict` for a key that a user has already, and with `Invalid` for a broken rule.
   */
  readonly add: (
    reference: string,
    request: NewSshKey
  ) => Effect.Effect<SshKey, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /** The user's keys, oldest first. Fails with `NotFound` if the actor may not read them. */
  readonly list: (reference: string) => Effect.Effect<ReadonlyArray<SshKey>, NotFound, CurrentActor>

  /** Deletes a key. The connections that were made with it end. */
  readonly delete: (reference: string, id: Uuid) => Effect.Effect<void, NotFound, CurrentActor | Auditing>

  /**
   * The user whose client has proven to have the private half of a key. Records the use, at most hourly. Fails for a key that no user has, and for a user
   * who is not active.
   */
  readonly authenticate: (blob: Uint8Array, info: CallInfo) => Effect.Effect<Actor, Unauthenticated>
}

const make = Effect.gen(function* () {
  const users = yield* Users
  const trusted = yield* TrustedUsers
  const accounts = yield* AccountRepository
  const repository = yield* SshKeyRepository
  const ids = yield* Ids
  const { sha256 } = yield* Cryptography
  const { holder, newHolder } = keyHolders({ users })

  const fingerprintOf = (blob: Uint8Array) => Effect.map(sha256(blob), (hash) => `SHA256:${Encoding.encodeBase64(hash).replace(/=+$/, "")}`)

  /** The user of a stored key. The key may be deleted while a connection goes on. */
  const holderOf = (id: Uuid, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
    Effect.gen(function* () {
      const key = Option.getOrUndefined(yield* repository.byId(id))
      if (key === undefined) return yield* unknownKey
      const actor = yield* trusted.actorOf(key.user_id, info)
      return { ...actor, credential: { name: id, renew: Effect.suspend(() => holderOf(id, info)) } }
    })

  return {
    add: Traced.fn("SshKeys.add")(function* (reference: string, request: NewSshKey) {
      const user = yield* newHolder(reference)
      const { subject, userId } = yield* CurrentActor
      yield* Access.authorize("create", AccessObjects.ownedBy("api_key", user.id))
      // It would let the actor into workspaces as the other user
      if (userId !== user.id) return yield* new Forbidden({ message: "Users add their SSH keys themselves." })
      const validations = excess(subject, [allScope], unrestrictedAllowList)
      if (validations.length > 0)
        return yield* new Forbidden({ message: "A key cannot have more rights than the credential that creates it.", validations })
      const { blob, comment, type } = yield* Effect.mapError(readPublicKey(request.public_key), (detail) =>
        Invalid.field("public_key", detail)
      )
      const name = (request.name ?? "").trim() || comment || type
      if (name.length > maximumNameLength) return yield* Invalid.field("name", `must be at most ${maximumNameLength} characters`)
      const key: SshKey = {
        id: yield* ids.next,
        user_id: user.id,
        name,
        public_key: `${type} ${Encoding.encodeBase64(blob)}`,
        fingerprint: yield* fingerprintOf(blob),
        created_at: yield* Timestamp.now,
        last_used_at: null
      }
      return yield* Audit.audited(
        subjectOf("create", key),
        Effect.gen(function* () {
          yield* lockedAccount(accounts, user.id)
          if ((yield* repository.ofUser(user.id)).length >= maximumKeys)
            return yield* new Invalid({ message: `A user can have at most ${maximumKeys} SSH keys.` })
          yield* Effect.mapError(repository.insert(key), () => taken)
          return { value: key, after: key }
        })
      )
    }),

    list: Traced.fn("SshKeys.list")(function* (reference: string) {
      const user = yield* holder(reference)
      yield* Access.authorizeOrHide("read", AccessObjects.ownedBy("api_key", user.id), missing)
      return yield* repository.ofUser(user.id)
    }),

    delete: Traced.fn("SshKeys.delete")(function* (reference: string, id: Uuid) {
      const user = yield* holder(reference)
      const key = Option.getOrUndefined(yield* repository.byId(id))
      if (key === undefined || key.user_id !== user.id) return yield* missing
      yield* Access.authorizeOrHide("delete", AccessObjects.ownedBy("api_key", user.id), missing)
      yield* Audit.audited(
        subjectOf("delete", key),
        Effect.flatMap(repository.delete(id), (deleted) => (deleted ? Effect.succeed({ value: undefined, before: key }) : missing))
      )
    }),

    authenticate: (blob: Uint8Array, info: CallInfo): Effect.Effect<Actor, Unauthenticated> =>
      Effect.gen(function* () {
        const key = Option.getOrUndefined(yield* repository.byFingerprint(yield* fingerprintOf(blob)))
        if (key === undefined) return yield* unknownKey
        const actor = yield* holderOf(key.id, info)
        const now = yield* Timestamp.now
        yield* repository.recordUse(key.id, now, Timestamp.minus(now, useInterval))
        return actor
      })
  }
})

/** Keys of users' SSH clients, and whom they authenticate. */
export class SshKeys extends Context.Tag("@atelier/core/SshKeys")<SshKeys, SshKeysService>() {
  static readonly layer = standingOn(service(SshKeys, make), Users.layer, TrustedUsers.layer)
}
