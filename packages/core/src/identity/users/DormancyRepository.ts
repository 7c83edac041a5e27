import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { User, UserId } from "./User.js"

export class DormancyRepository extends Context.Tag("@atelier/core/DormancyRepository")<
  DormancyRepository,
  {
    /**
     * Makes dormant the active users not seen since `before`, at most `limit`, the longest unseen first; returns them. The service's own
     * users stay active. Users that a concurrent transaction has locked are skipped, as are those of `except`.
     */
    readonly lapse: (
      before: Timestamp,
      at: Timestamp,
      which: { readonly limit: number; readonly except: ReadonlyArray<UserId> } | { readonly only: UserId }
    ) => Effect.Effect<ReadonlyArray<Pick<User, "id" | "username">>>
    /** The users that `lapse` would make dormant. */
    readonly unseen: (before: Timestamp, limit: number, except: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserId>>
    /** Makes a dormant user active and writes that it was seen; false if it is not dormant or deleted. */
    readonly wake: (id: UserId, at: Timestamp) => Effect.Effect<boolean>
  }
>() {}
