/** Groups as audit entries show them. notifications-audit-insights.md §B4. */
import { Effect } from "effect"
import type { AuditAction } from "../audit/AuditEntry.js"
import { audited, auditedList, auditedResource, ignored } from "../audit/AuditedResource.js"
import type { UserId } from "../identity/users/User.js"
import type { Group, GroupId } from "./Group.js"
import type { GroupMemberRepository } from "./GroupMemberRepository.js"

/**
 * Members of a group that the entry of a change lists with those who come and go; of a larger group it lists these alone, and
 * that of its deletion only says how many they were.
 */
export const maximumListed = 1000

/** A group, with its members where the entry lists them. */
export interface AuditedGroup extends Group {
  readonly members?: ReadonlyArray<{ readonly user_id: UserId; readonly group_id: GroupId }>
}

const groupAudit = auditedResource<AuditedGroup>({
  type: "group",
  endsRightsOf: "everyone",
  fields: {
    id: audited,
    organization_id: ignored,
    name: audited,
    display_name: audited,
    avatar_url: audited,
    quota_allowance: audited,
    source: ignored,
    members: auditedList
  }
})

export const groupSubject = (action: AuditAction, { id, name, organization_id }: Group) => ({
  action,
  resource: groupAudit,
  id,
  // A refused one may have any length
  target: name.slice(0, 256),
  organization_id
})

/** The group as audit entries show it: with all of its members, or those among some users. */
export const groupRecord = (
  memberships: GroupMemberRepository["Type"],
  group: Group,
  among?: ReadonlyArray<UserId>
): Effect.Effect<AuditedGroup> =>
  Effect.map(memberships.ids(group.id, among), (members) => ({
    ...group,
    members: members.map((user_id) => ({ user_id, group_id: group.id }))
  }))

/** The group as the entry of a change shows it afterwards. It follows from the change: what others change at the same time is told by entries of their own. */
export const changedRecord = (
  before: AuditedGroup,
  group: Group,
  { added, removed }: { readonly added: ReadonlyArray<UserId>; readonly removed: ReadonlyArray<UserId> }
): AuditedGroup => {
  const gone = new Set(removed)
  const joined = added.map((user_id) => ({ user_id, group_id: group.id }))
  return { ...group, members: [...(before.members ?? []), ...joined].filter(({ user_id }) => !gone.has(user_id)) }
}
