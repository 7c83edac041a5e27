import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { User, UserId, UserStatus, UserWithOrganizations } from "./User.js"

export class UserRepository extends Context.Tag("@atelier/core/UserRepository")<
  UserRepository,
  {
    /** Deleted ones are found too. */
    readonly byId: (id: UserId) => Effect.Effect<Option.Option<UserWithOrganizations>>
    /** As `byId`, of many, in no order. */
    readonly byIds: (ids: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<UserWithOrganizations>>
    /** By username without regard to case, among those not deleted. */
    readonly byUsername: (username: string) => Effect.Effect<Option.Option<UserWithOrganizations>>
    /**
     * By e-mail address without regard to case, among users not deleted, with the stored password hash (null for a user without a
     * password).
     */
    readonly byEmail: (email: string) => Effect.Effect<Option.Option<User & { readonly hashed_password: string | null }>>
    /** Whether there is a user that is neither deleted nor the service's own. */
    readonly hasAny: Effect.Effect<boolean>
    /** Fails with the index `users_email` or `users_username`. */
    readonly insert: (user: User, hashedPassword: string | null) => Effect.Effect<void, Duplicate>
    /** Stores a user unless there is one that is neither deleted nor the service's own; false when there is. Safe among any number of callers. */
    readonly insertFirst: (user: User, hashedPassword: string | null) => Effect.Effect<boolean, Duplicate>
    /** Moves a user that is in `from` to another status; false when it was not in `from`. */
    readonly updateStatus: (id: UserId, from: UserStatus, to: UserStatus, at: Timestamp) => Effect.Effect<boolean>
  }
>() {}
