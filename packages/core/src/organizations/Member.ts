import type { LoginType, User, UserId, UserStatus } from "../identity/users/User.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { OrganizationId } from "./Organization.js"

/** That a user belongs to an organization. authorization.md §7.1. */
export interface OrganizationMember {
  readonly organization_id: OrganizationId
  readonly user_id: UserId
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
  /** Names of the roles that were given to the user here; those that every member has are not among them. */
  readonly roles: ReadonlyArray<string>
}

/** A member as lists show it: with what readers of the membership may know of the user. */
export interface Member
  extends OrganizationMember, Pick<User, "username" | "name" | "avatar_url" | "email" | "rbac_roles" | "last_seen_at"> {
  readonly status: UserStatus
  readonly login_type: LoginType
  readonly is_service_account: boolean
  readonly user_created_at: Timestamp
  readonly user_updated_at: Timestamp
}

/** A role that was given in an organization, by name. */
export interface GivenRole {
  readonly name: string
  readonly display_name: string
  readonly organization_id: OrganizationId
}

/** The same with the names that people know the roles by. */
export type WithRoleNames<A> = Omit<A, "roles"> & { readonly roles: ReadonlyArray<GivenRole> }
