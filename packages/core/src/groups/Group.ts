import { Schema } from "effect"
import type { User } from "../identity/users/User.js"
import { pictureViolation } from "../platform/texts/Address.js"
import { type Validation, validationsOf } from "../platform/Errors.js"
import * as Name from "../platform/texts/Name.js"
import * as Numbers from "../platform/Numbers.js"
import { Uuid } from "../platform/texts/Uuid.js"

export const GroupId = Uuid
export type GroupId = Uuid

/** The creator of a group: a user, or the sync of groups at a login. Never changes. */
export const GroupSource = Schema.Literal("user", "oidc")
export type GroupSource = typeof GroupSource.Type

/** Members of an organization who share rights, quota and budget. authorization.md §8. */
export const Group = Schema.Struct({
  id: GroupId,
  organization_id: Uuid,
  /** 1–255 characters, unique in the organization, in which lookups ignore case. */
  name: Schema.String,
  /** Empty if the group has none. */
  display_name: Schema.String,
  avatar_url: Schema.String,
  quota_allowance: Numbers.described(Numbers.Integer, "Credits that each member may spend a day in addition; 32 bits."),
  source: GroupSource
})
export interface Group extends Schema.Schema.Type<typeof Group> {}

/** A group as lists of groups show it. */
export interface GroupWithNames extends Group {
  readonly organization_name: string
  readonly organization_display_name: string
  /** The number of all members that are neither deleted nor the service's own, independent of the caller's rights. */
  readonly total_member_count: number
}

/**
 * A group with those of its members whose membership the actor may read. In streams it comes several times where they are many, with
 * some of them each, one behind the other.
 */
export interface GroupWithRoster extends GroupWithNames {
  readonly members: ReadonlyArray<User>
}

/** The name of the group that every member of an organization is in. */
export const everyoneName = "Everyone"

/** Whether it is the group of all members: it has the organization's id, and no stored members. */
export const isEveryone = ({ id, organization_id }: Pick<Group, "id" | "organization_id">): boolean => id === organization_id

/** The fields of a group that its creator and editors choose. */
export type GroupSettings = Pick<Group, "name" | "display_name" | "avatar_url" | "quota_allowance">

const maximumNameLength = 255

/** Bytes of UTF-8. */
const maximumDisplayName = 64

/** Characters. */
const maximumAvatarLength = 2048

const maximumAllowance = 2_147_483_647

/** The rules that settings break, one entry per field. authorization.md §8.1. */
export const groupViolations = (settings: GroupSettings): ReadonlyArray<Validation> => {
  const { avatar_url, display_name, name, quota_allowance } = settings
  const violations = {
    name: name === "" ? "is required" : Name.violation(name, maximumNameLength),
    display_name: Name.displayViolation(display_name, maximumDisplayName),
    avatar_url: pictureViolation(avatar_url, maximumAvatarLength),
    quota_allowance:
      quota_allowance < -maximumAllowance - 1 || quota_allowance > maximumAllowance ? "must be an integer of 32 bits" : undefined
  }
  return validationsOf(violations)
}
