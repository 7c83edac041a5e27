import { Schema } from "effect"
import { type Validation, validationsOf } from "../../platform/Errors.js"
import * as Name from "../../platform/texts/Name.js"
import { never, Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { isEmailAddress } from "./EmailAddress.js"

export const UserId = Uuid
export type UserId = Uuid

/** How a user logs in. identity.md §8. */
export const LoginType = Schema.Literal("", "password", "github", "oidc", "token", "none").annotations({ identifier: "LoginType" })
export type LoginType = typeof LoginType.Type

/** `dormant` users count for no license and become active when they are seen again. identity.md §9. */
export const UserStatus = Schema.Literal("active", "dormant", "suspended").annotations({ identifier: "UserStatus" })
export type UserStatus = typeof UserStatus.Type

/** A person, a service account or one of the service's own accounts. identity.md §8. */
export const User = Schema.Struct({
  id: UserId,
  /** Unique without regard to case among those not deleted; empty for service accounts only. */
  email: Schema.String,
  /** 1–32 bytes, unique without regard to case among those not deleted. */
  username: Schema.String,
  /** Full name; may be empty. */
  name: Schema.String,
  avatar_url: Schema.String,
  status: UserStatus,
  login_type: LoginType,
  /** Names of the site roles given explicitly; `member` is implied. */
  rbac_roles: Schema.Array(Schema.String),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_seen_at: Timestamp,
  deleted: Schema.Boolean,
  is_system: Schema.Boolean,
  is_service_account: Schema.Boolean,
  theme_preference: Schema.String,
  quiet_hours_schedule: Schema.String
})
export interface User extends Schema.Schema.Type<typeof User> {}

/** A user as readers see it: with the organizations it is a member of. */
export interface UserWithOrganizations extends User {
  readonly organization_ids: ReadonlyArray<Uuid>
}

/** How paths name the caller. */
export const meAlias = "me"

/** The site role that may do everything. */
export const ownerRole = "owner"

/** The longest full name, in UTF-8 bytes. */
const maximumNameBytes = 128

/**
 * Returns the rule that a username breaks, or undefined. Usernames follow the rules of other names, and `me` is reserved in any case.
 * identity.md §8.1.
 */
const usernameViolation = (username: string): string | undefined =>
  username === "" ? "is required" : username.toLowerCase() === meAlias ? "is reserved" : Name.violation(username)

/** Whether a user can have this name. */
export const isUsername = (text: string): boolean => usernameViolation(text) === undefined

/** The rules that a new user's names and address break, one entry per field. identity.md §1.4, §8.1. */
export const profileViolations = (user: Pick<User, "email" | "username" | "name">): ReadonlyArray<Validation> => {
  const violations = {
    email: emailViolation(user.email),
    username: usernameViolation(user.username),
    name: Name.displayViolation(user.name, maximumNameBytes)
  }
  return validationsOf(violations)
}

/** Returns the error of a required e-mail address, or undefined. */
export const emailViolation = (email: string): string | undefined =>
  email === "" ? "is required" : isEmailAddress(email) ? undefined : "must be an e-mail address"

/** A new user, never seen, with defaults for all that is not given. */
export const newUser = (
  given: Pick<User, "id" | "email" | "username" | "name" | "status" | "login_type"> & Partial<User>,
  now: Timestamp
): User => ({
  avatar_url: "",
  rbac_roles: [],
  created_at: now,
  updated_at: now,
  last_seen_at: never,
  deleted: false,
  is_system: false,
  is_service_account: false,
  theme_preference: "",
  quiet_hours_schedule: "",
  ...given
})
