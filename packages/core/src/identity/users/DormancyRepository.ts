import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { User, UserId } from "./User.js"

export class DormancyRepository extends Context.Tag("@atelier/core/DormancyRepository")<
  DormancyRepository,
  {
    /**
     * Makes dormant the active users not seen since `before`, at most `limit`, the longest unseen first; returns them. The service's own
     * users stay active. Users that a concurrent transaction has locked are skipped.
     */
    readonly lapse: (before: Timestamp, at: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<Pick<User, "id" | "username">>>
    /** Makes a dormant user active and writes that it was seen; false if it is not dormant or deleted. */
    readonly wake: (id: UserId, at: Timestamp) => Effect.Effect<boolean>
  }
>() {}
