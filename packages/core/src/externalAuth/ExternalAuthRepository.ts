import { Context, type Effect, type Option } from "effect"
import type { Sealed } from "../platform/secrets/Encryption.js"
import type { SealedColumn } from "../platform/store/Resealing.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { SealedExternalAuthLink } from "./ExternalAuthLink.js"

export class ExternalAuthRepository extends Context.Tag("@atelier/core/ExternalAuthRepository")<
  ExternalAuthRepository,
  {
    /** By the provider's id. */
    readonly ofUser: (userId: Uuid) => Effect.Effect<ReadonlyArray<SealedExternalAuthLink>>
    readonly find: (userId: Uuid, providerId: string) => Effect.Effect<Option.Option<SealedExternalAuthLink>>
    /** Stores a link in place of the user's present one, whose time of creation it keeps. False if the user has been deleted. */
    readonly put: (link: SealedExternalAuthLink) => Effect.Effect<boolean>
    /** Replaces tokens that are still those; false when they have been replaced since they were read. */
    readonly replaceTokens: (
      id: Uuid,
      from: Sealed,
      to: Pick<SealedExternalAuthLink, "oauth_expiry" | "refresh_failure" | "tokens"> & { readonly updated_at: Timestamp }
    ) => Effect.Effect<boolean>
    /** Returns the removed link. */
    readonly remove: (userId: Uuid, providerId: string) => Effect.Effect<Option.Option<SealedExternalAuthLink>>
    readonly sealedOtherwise: SealedColumn["sealedOtherwise"]
    readonly reseal: SealedColumn["reseal"]
  }
>() {}
