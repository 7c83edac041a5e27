import { Context, type Effect, type Option } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Grant, RefreshToken } from "./Grant.js"

/** A row that a presented secret may be of. */
export interface Hashed<A> {
  readonly value: A
  readonly hashed_secret: Uint8Array
}

export class GrantRepository extends Context.Tag("@atelier/core/GrantRepository")<
  GrantRepository,
  {
    /** Stores a new grant with its code. It ends with the key that the user consented with, as long as its code is not redeemed. */
    readonly insert: (
      grant: Grant,
      code: { readonly prefix: string; readonly hashedSecret: Uint8Array },
      consentKeyId: string | undefined
    ) => Effect.Effect<void>
    readonly byId: (id: Uuid) => Effect.Effect<Option.Option<Grant>>
    readonly byCode: (prefix: string) => Effect.Effect<Option.Option<Hashed<Grant>>>
    readonly byAccessToken: (apiKeyId: string) => Effect.Effect<Option.Option<Hashed<Grant>>>
    readonly refreshToken: (prefix: string) => Effect.Effect<Option.Option<Hashed<RefreshToken>>>
    /** Ends a grant with its access token. False when it has another status by now. */
    readonly end: (grant: Grant, status: "revoked" | "expired", at: Timestamp) => Effect.Effect<boolean>
    /** Gives a grant its next tokens; the key exists already, and the one before it ends. False when it has another status by now. */
    readonly renew: (
      grant: Grant,
      next: {
        readonly apiKeyId: string
        readonly secretId: Uuid | null
        /** The thumbprint of the key that the tokens are bound to. */
        readonly dpopKey: string | undefined
        readonly refreshToken: { readonly prefix: string; readonly hashedSecret: Uint8Array; readonly expires_at: Timestamp }
        /** The refresh token that is replaced. */
        readonly replaces: string | undefined
      },
      at: Timestamp
    ) => Effect.Effect<boolean>
    /** Ends everything that a user gave an app, also permissions of devices that have not come for their tokens yet. */
    readonly deleteOfUser: (appId: Uuid, userId: Uuid) => Effect.Effect<void>
    /** Deletes the oldest grants that a user gave an app, beyond a number of them. */
    readonly deleteBeyond: (appId: Uuid, userId: Uuid, kept: number) => Effect.Effect<void>
    /** Deletes at most `limit` grants that ended, or whose code expired, before an instant. Returns how many. */
    readonly deleteEnded: (before: Timestamp, limit: number) => Effect.Effect<number>
    /** Deletes at most `limit` grants whose refresh token expired before `now`, and whose access token did before `keysBefore`. Returns how many. */
    readonly deleteLapsed: (before: { readonly keysBefore: Timestamp; readonly now: Timestamp }, limit: number) => Effect.Effect<number>
    /** Deletes at most `limit` refresh tokens that expired before an instant. Returns how many. */
    readonly deleteRefreshTokens: (before: Timestamp, limit: number) => Effect.Effect<number>
  }
>() {}
