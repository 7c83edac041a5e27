import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/Timestamp.js"
import type { User } from "./User.js"

export class DormancyRepository extends Context.Tag("@atelier/core/DormancyRepository")<
  DormancyRepository,
  {
    /**
     * Makes dormant those active users that nobody has seen since `before`, at most `limit` of them, longest unseen first; answers them.
     * The service's own users stay active. Users that somebody else is changing are left for another time.
     */
    readonly lapse: (before: Timestamp, at: Timestamp, limit: number) => Effect.Effect<ReadonlyArray<Pick<User, "id" | "username">>>
  }
>() {}
