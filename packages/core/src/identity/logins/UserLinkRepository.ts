import { Context, type Effect, type Option } from "effect"
import type { Sealed } from "../../platform/secrets/Encryption.js"
import type { Duplicate } from "../../platform/Errors.js"
import type { SealedColumn } from "../../platform/store/Resealing.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { User, UserId } from "../users/User.js"
import type { ExternalLoginType, LinkClaims, UserLink } from "./UserLink.js"

/** A link with its tokens as they are stored. */
export interface SealedLink extends Pick<UserLink, "id" | "user_id" | "login_type" | "oauth_expiry"> {
  readonly value: Sealed
}

export class UserLinkRepository extends Context.Tag("@atelier/core/UserLinkRepository")<
  UserLinkRepository,
  {
    /** The link with this id of the provider. */
    readonly byLinkedId: (type: ExternalLoginType, linkedId: string) => Effect.Effect<Option.Option<UserLink>>
    readonly ofUser: (userId: UserId, type: ExternalLoginType) => Effect.Effect<Option.Option<UserLink>>
    readonly sealedOf: (userId: UserId, type: ExternalLoginType) => Effect.Effect<Option.Option<SealedLink>>
    readonly claimsOf: (userId: UserId, type: ExternalLoginType) => Effect.Effect<Option.Option<LinkClaims>>
    /** Fails with the index `user_links_login_type_linked_id` or `user_links_user_id_login_type`. */
    readonly insert: (link: UserLink, tokens: Sealed, claims: LinkClaims) => Effect.Effect<void, Duplicate>
    /** Writes everything but whose link it is, and since when. Fails with the index `user_links_login_type_linked_id`. */
    readonly update: (link: UserLink, tokens: Sealed, claims: LinkClaims) => Effect.Effect<void, Duplicate>
    /** Replaces tokens that are still those; false when they have been replaced since they were read. */
    readonly replaceTokens: (
      id: Uuid,
      from: Sealed,
      to: Pick<UserLink, "oauth_expiry" | "updated_at"> & { readonly value: Sealed }
    ) => Effect.Effect<boolean>
    readonly sealedOtherwise: SealedColumn["sealedOtherwise"]
    readonly reseal: SealedColumn["reseal"]
    /**
     * Writes what the provider says of the user; the account at github.com stays as it is when undefined. Fails with the index
     * `users_email`.
     */
    readonly mirror: (
      user: Pick<User, "id" | "email" | "name" | "avatar_url" | "updated_at">,
      githubUserId: number | undefined
    ) => Effect.Effect<void, Duplicate>
    /** Lets a user log in in another way, and no more with a password or a one-time passcode. */
    readonly convert: (id: UserId, to: ExternalLoginType, at: Timestamp) => Effect.Effect<void>
  }
>() {}
