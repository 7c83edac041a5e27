/** The rules of a change of a group, and of the members that it adds and removes. authorization.md §8.3. */
import { Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { prebuildsUserId } from "../access/decisions/Decision.js"
import type { UserId } from "../identity/users/User.js"
import type { UserRepository } from "../identity/users/UserRepository.js"
import type { OrganizationId } from "../organizations/Organization.js"
import { Forbidden, Invalid, refuseViolations } from "../platform/Errors.js"
import { parse } from "../platform/texts/Uuid.js"
import { everyoneName, type Group, type GroupSettings, groupViolations, isEveryone } from "./Group.js"
import type { GroupMemberRepository } from "./GroupMemberRepository.js"

/** The changes of a group; absent fields stay. */
export interface GroupChange {
  /** Empty: the present one. */
  readonly name: string
  readonly display_name: string | null
  readonly avatar_url: string | null
  readonly quota_allowance: number | null
  /** Ids, as they were sent. */
  readonly add_users: ReadonlyArray<string>
  readonly remove_users: ReadonlyArray<string>
}

/** The refusal of the name of the group that all members are in. */
export const reserved = Invalid.field("name", `must not be "${everyoneName}"`)

export const isReserved = (name: string): boolean => name.toLowerCase() === everyoneName.toLowerCase()

/** Returns whether a change gives a group another name. */
export const renames = ({ name }: GroupChange, group: Group): boolean => name !== "" && name !== group.name

/** The settings of a group after a change. */
export const settingsAfter = (group: Group, change: GroupChange): GroupSettings => ({
  name: change.name === "" ? group.name : change.name,
  display_name: change.display_name ?? group.display_name,
  avatar_url: change.avatar_url ?? group.avatar_url,
  quota_allowance: change.quota_allowance ?? group.quota_allowance
})

/** Fails with `Invalid` for a broken rule, and with `Forbidden` for members of Everyone. */
export const requireAllowed = (group: Group, change: GroupChange): Effect.Effect<void, Invalid | Forbidden> =>
  Effect.gen(function* () {
    const everyone = isEveryone(group)
    const renamed = renames(change, group)
    const settings = settingsAfter(group, change)
    // A login may have created a group with a name that users cannot choose
    yield* refuseViolations(groupViolations(settings).filter(({ field }) => field !== "name" || renamed))
    if (everyone && renamed) return yield* Invalid.field("name", `cannot be changed for the ${everyoneName} group`)
    if (everyone && settings.display_name !== "") return yield* Invalid.field("display_name", `cannot be set for the ${everyoneName} group`)
    if (isReserved(settings.name) && !everyone) return yield* reserved
    if (everyone && change.add_users.length + change.remove_users.length > 0) {
      return yield* new Forbidden({ message: `The members of ${everyoneName} are exactly the members of the organization.` })
    }
  })

/** Parses ids. Fails with `Invalid` naming the list if one of them is invalid. */
export const idsOf = (field: string, texts: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<UserId>, Invalid> =>
  Effect.forEach(texts, (text) => {
    const id = parse(text)
    return id === undefined ? Invalid.field(field, `${JSON.stringify(text.slice(0, 64))} is not a UUID`) : Effect.succeed(id)
  })

interface Lookups {
  readonly memberships: GroupMemberRepository["Type"]
  readonly users: UserRepository["Type"]
}

/** Fails with `Invalid` unless all are members of the organization that the actor can see; they then stay while the transaction lasts. */
export const requireMembers = (
  { memberships, users }: Lookups,
  organization_id: OrganizationId,
  field: string,
  userIds: ReadonlyArray<UserId>
) =>
  Effect.gen(function* () {
    const members = new Set<string>(yield* memberships.among(organization_id, userIds))
    yield* Effect.forEach(
      new Set(userIds),
      (user_id) =>
        Effect.gen(function* () {
          const isKnown =
            user_id === prebuildsUserId
              ? Option.isSome(yield* users.byId(user_id))
              : members.has(user_id) && (yield* Access.can("read", AccessObjects.organizationMember({ user_id, organization_id })))
          if (!isKnown) return yield* Invalid.field(field, `${user_id} is not a member of the organization`)
        }),
      { discard: true }
    )
  })
