import { Context, Effect, Option } from "effect"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { Cryptography, randomAlphanumeric } from "../../platform/secrets/Cryptography.js"
import { Conflict, Duplicate, Forbidden } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import { random as randomName } from "../../platform/texts/Name.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { GitSshKeyPairs } from "../secrets/GitSshKeyPairs.js"
import { AccountNotifications } from "../users/AccountNotifications.js"
import { isUsername, newUser, ownerRole, type User, type UserId } from "../users/User.js"
import { UserRepository } from "../users/UserRepository.js"
import type { LoginProvider, VerifiedIdentity } from "./LoginProvider.js"
import { avatarFrom, fullNameFrom, suffixed, usernameFrom } from "./ProviderProfile.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { GitSshKey } from "../secrets/GitSshKey.js"

/** Names that are tried for a new user. */
const nameAttempts = 10

/** Letters and digits behind a name that is taken. */
const suffixLength = 6

/** A provider, as far as it decides who gets an account. */
type Voucher = Pick<LoginProvider, "type" | "allow_signups" | "signups_disabled_text">

/** Writes the key for git of a user who is being made. */
export type SshKeyWriter = Effect.Effect.Success<GitSshKeyPairs["Type"]["prepare"]>

const signupsDisabled = ({ signups_disabled_text }: Voucher): Forbidden =>
  new Forbidden({
    message: "Signups are disabled.",
    detail: signups_disabled_text || "There is no account for you, and none is made. Ask an administrator for one."
  })

/** The methods of {@link ExternalSignups}. */
export interface ExternalSignupsService {
  /**
   * Prepares a new user's key pair before the transaction, because generating it takes too long for one. Fails with `Forbidden` if
   * signups are disabled.
   */
  readonly prepare: (provider: Voucher) => Effect.Effect<(userId: UserId, now: Timestamp.Timestamp) => Effect.Effect<GitSshKey>, Forbidden>

  /**
   * Stores a new user, as the owner if the deployment has no user yet. Fails with `Forbidden` if signups are disabled, `Conflict` if no
   * username is free, and `Duplicate` if a concurrent login stored the user first. identity.md §7.4 no. 3.
   */
  readonly register: (
    provider: Voucher,
    identity: VerifiedIdentity,
    storeSshKey: SshKeyWriter
  ) => Effect.Effect<User, Forbidden | Duplicate | Conflict>
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const organizations = yield* OrganizationRepository
  const sshKeys = yield* GitSshKeyPairs
  const ids = yield* Ids
  const notifications = yield* AccountNotifications
  const cryptography = yield* Effect.context<Cryptography>()

  /** A free username, derived from what the provider proposes. */
  const freeUsername = ({ email, username }: VerifiedIdentity) =>
    Effect.gen(function* () {
      const wanted = usernameFrom(username, email) ?? (yield* randomName("-"))
      let name = wanted
      for (let attempt = 0; attempt <= nameAttempts; attempt++) {
        if (isUsername(name) && Option.isNone(yield* users.byUsername(name))) return name
        name = suffixed(wanted, yield* randomAlphanumeric(suffixLength))
      }
      return yield* new Conflict({ message: `No free username could be made of ${wanted}.` })
    })

  return {
    prepare: Traced.fn("ExternalSignups.prepare")(function* (provider: Voucher) {
      if (!provider.allow_signups && (yield* users.hasAny)) return yield* signupsDisabled(provider)
      return yield* sshKeys.prepare
    }),

    register: Traced.fn("ExternalSignups.register")(function* (provider: Voucher, identity: VerifiedIdentity, storeSshKey: SshKeyWriter) {
      const now = yield* Timestamp.now
      const user = newUser(
        {
          id: yield* ids.next,
          email: identity.email,
          username: yield* freeUsername(identity),
          name: fullNameFrom(identity.name),
          avatar_url: avatarFrom(identity.avatar_url),
          status: "active",
          login_type: provider.type
        },
        now
      )
      const owner: User = { ...user, rbac_roles: [ownerRole] }
      const isFirst = !(yield* users.hasAny)
      if (isFirst) {
        // A concurrent login created the first user, perhaps from another window of the same browser
        if (!(yield* users.insertFirst(owner, null))) return yield* new Duplicate({ constraint: "the first user" })
      } else {
        if (!provider.allow_signups) return yield* signupsDisabled(provider)
        yield* users.insert(user, null)
      }
      const organization = yield* Effect.flatMap(organizations.default, Effect.orDie)
      yield* organizations.addMember({ organization_id: organization.id, user_id: user.id, roles: [], created_at: now })
      yield* storeSshKey(user.id, now)
      if (!isFirst) yield* notifications.signedUp(user)
      return isFirst ? owner : user
    }, Effect.provide(cryptography))
  }
})

/** New users whom a provider vouches for. */
export class ExternalSignups extends Context.Tag("@atelier/core/ExternalSignups")<ExternalSignups, ExternalSignupsService>() {
  static readonly layer = standingOn(service(ExternalSignups, make), GitSshKeyPairs.layer, AccountNotifications.layer)
}
