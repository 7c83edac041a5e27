import { Effect, Option } from "effect"
import { Conflict } from "../../platform/Errors.js"
import type { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { isSameAddress } from "../users/EmailAddress.js"
import type { LinkTokens } from "./LinkTokens.js"
import { ProviderFailure, type VerifiedIdentity } from "./LoginProvider.js"
import { avatarFrom, fullNameFrom } from "./ProviderProfile.js"
import type { User } from "../users/User.js"
import type { ExternalLoginType, UserLink } from "./UserLink.js"
import type { UserLinkRepository } from "./UserLinkRepository.js"
import type { UserRepository } from "../users/UserRepository.js"

interface Needs {
  readonly links: UserLinkRepository["Type"]
  readonly users: UserRepository["Type"]
  readonly ids: Ids["Type"]
  readonly tokens: LinkTokens["Type"]
}

/** How an identity of a provider is matched with a user, and linked to the user. */
export const loginLinks = ({ links, users, ids, tokens }: Needs) => {
  /** Finds the user by the provider's id, or else by the address. identity.md §7.4 no. 1, 2. */
  const find = (type: ExternalLoginType, { email, linked_id }: VerifiedIdentity) =>
    Effect.gen(function* () {
      const link = yield* links.byLinkedId(type, linked_id)
      const linked = Option.isSome(link) ? yield* users.byId(link.value.user_id) : Option.none()
      if (Option.isSome(linked) && !linked.value.deleted) return Option.some<User>(linked.value)
      const found = yield* users.byEmail(email)
      // A store may treat different letters as equal regardless of case. A user with such an address is not this user.
      if (Option.isSome(found) && !isSameAddress(found.value.email, email)) {
        return yield* new Conflict({ message: "Another account has an address that is too similar to yours." })
      }
      return found
    })

  /** Stores who the user is at the provider and what the provider gave. A link keeps the id it has. identity.md §7.4 no. 6. */
  const link = (user: User, type: ExternalLoginType, identity: VerifiedIdentity, existing: Option.Option<UserLink>) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const fresh: UserLink = {
        id: yield* ids.next,
        user_id: user.id,
        login_type: type,
        linked_id: identity.linked_id,
        oauth_expiry: identity.tokens.expires_at,
        created_at: now,
        updated_at: now
      }
      const stored = Option.match(existing, {
        onNone: () => fresh,
        onSome: ({ created_at, id, linked_id }): UserLink => ({ ...fresh, id, created_at, linked_id: linked_id || identity.linked_id })
      })
      const sealed = yield* tokens.seal(stored, identity.tokens)
      yield* (Option.isNone(existing) ? links.insert : links.update)(stored, sealed, identity.claims)
    })

  /** Shows the user as the provider does, but for the username. identity.md §7.4 no. 8. */
  const mirror = (user: User, { avatar_url, email, github_com_user_id, name }: VerifiedIdentity) =>
    Effect.gen(function* () {
      if (email.toLowerCase() !== user.email.toLowerCase() && Option.isSome(yield* users.byEmail(email))) {
        return yield* new ProviderFailure({
          message: "The provider's address of this user belongs to another account.",
          detail: `There is another account with the address ${email}.`
        })
      }
      yield* links.mirror(
        { id: user.id, email, name: fullNameFrom(name), avatar_url: avatarFrom(avatar_url), updated_at: yield* Timestamp.now },
        github_com_user_id
      )
    })

  return { find, link, mirror }
}

/** The result of {@link loginLinks}. */
export type LoginLinks = ReturnType<typeof loginLinks>
