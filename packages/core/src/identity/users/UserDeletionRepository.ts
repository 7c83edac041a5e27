import { Context, type Effect } from "effect"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { UserId } from "./User.js"

export class UserDeletionRepository extends Context.Tag("@atelier/core/UserDeletionRepository")<
  UserDeletionRepository,
  {
    /** Whether a workspace of the user is not deleted. */
    readonly ownsWorkspace: (id: UserId) => Effect.Effect<boolean>
    /**
     * Marks the user as deleted, which frees its name and its address. Removes its credentials, settings and memberships: keys, git keys, SSH keys,
     * secrets, a one-time passcode, settings, memberships of organizations and groups, and its shares. Logs the time. The number of
     * statements does not grow with the rows.
     */
    readonly delete: (id: UserId, at: Timestamp) => Effect.Effect<void>
  }
>() {}
