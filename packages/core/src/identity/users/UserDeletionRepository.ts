import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/Timestamp.js"
import type { UserId } from "./User.js"

export class UserDeletionRepository extends Context.Tag("@atelier/core/UserDeletionRepository")<
  UserDeletionRepository,
  {
    /** Whether a workspace of the user is not deleted. */
    readonly ownsWorkspace: (id: UserId) => Effect.Effect<boolean>
    /**
     * Marks the user as deleted, which frees its name and its address, and removes what it could act with, what it chose and where it
     * belonged: keys, also those for git, secrets, a one-time passcode, settings, memberships of organizations and groups, and what was
     * shared with it. Logs when. In as many statements, however much it is.
     */
    readonly delete: (id: UserId, at: Timestamp) => Effect.Effect<void>
  }
>() {}
