import { Context, type Effect, type Option } from "effect"
import type { Duplicate } from "../../platform/Errors.js"
import type { OrganizationId } from "../../organizations/Organization.js"
import type { Timestamp } from "../../platform/time/Timestamp.js"
import type { User, UserId } from "./User.js"

/** A user's roles in an organization, without those that every member has. */
export interface OrganizationRoles {
  readonly organization_id: OrganizationId
  readonly roles: ReadonlyArray<string>
}

/** Writes to one user by its administrators. */
export class AccountRepository extends Context.Tag("@atelier/core/AccountRepository")<
  AccountRepository,
  {
    /**
     * Those of the users that are not deleted, kept from other writers until the transaction ends. Several are locked in one order,
     * whatever the order they are named in.
     */
    readonly lock: (ids: ReadonlyArray<UserId>) => Effect.Effect<ReadonlyArray<User>>
    /** The owners of the deployment that can act, who keep the role and their status until the transaction ends. */
    readonly lockOwners: Effect.Effect<ReadonlyArray<UserId>>
    /** The stored password hash of a user that is not deleted; null for a user without a password. */
    readonly hashedPassword: (id: UserId) => Effect.Effect<Option.Option<string | null>>
    /** Whether a user that is not deleted has a password hash that begins otherwise. Reads all users. */
    readonly hasOtherScheme: (scheme: string) => Effect.Effect<boolean>
    /** Replaces a password's hash by another of the same password, unless it is not the stored one any more. Keys and passcodes stay. */
    readonly rehashPassword: (id: UserId, from: string, to: string) => Effect.Effect<void>
    /** Fails with the index `users_username`. */
    readonly updateProfile: (user: Pick<User, "id" | "username" | "name" | "avatar_url" | "updated_at">) => Effect.Effect<void, Duplicate>
    /** Writes when a user that is not deleted was last seen. Its `updated_at` stays: a login changes nothing of the account. */
    readonly recordSeen: (id: UserId, at: Timestamp) => Effect.Effect<void>
    readonly updateRoles: (user: Pick<User, "id" | "rbac_roles" | "updated_at">) => Effect.Effect<void>
    readonly updateQuietHours: (user: Pick<User, "id" | "quiet_hours_schedule" | "updated_at">) => Effect.Effect<void>
    /** The roles a user was given in each organization that is not deleted; by organization. */
    readonly organizationRoles: (id: UserId) => Effect.Effect<ReadonlyArray<OrganizationRoles>>
    /**
     * Stores a password's hash and deletes every key of the user and a one-time passcode: whatever was logged in or made with the former
     * password, or might have replaced it, ends.
     */
    readonly updatePassword: (id: UserId, hashedPassword: string, at: Timestamp) => Effect.Effect<void>
  }
>() {}
