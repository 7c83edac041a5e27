import { Context, Effect, Option, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import { prebuildsUserId } from "../access/decisions/Decision.js"
import * as Audit from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { audited, auditedList, auditedResource, ignored } from "../audit/AuditedResource.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import { IdpSyncRepository } from "../identity/sync/IdpSyncRepository.js"
import type { UserId } from "../identity/users/User.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import type { OrganizationId } from "../organizations/Organization.js"
import { Organizations } from "../organizations/Organizations.js"
import { Conflict, Forbidden, Invalid, NotFound, refuseViolations } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { parse } from "../platform/texts/Uuid.js"
import {
  everyoneName,
  type Group,
  groupViolations,
  type GroupId,
  type GroupSettings,
  type GroupWithNames,
  type GroupWithRoster,
  isEveryone
} from "./Group.js"
import { GroupMemberRepository } from "./GroupMemberRepository.js"
import { GroupRepository } from "./GroupRepository.js"
import { Groups } from "./Groups.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import type { Auditing } from "../audit/Audit.js"

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

/**
 * Members of a group that the entry of a change lists with those who come and go; of a larger group it lists these alone, and
 * that of its deletion only says how many they were.
 */
const maximumListed = 1000

/** Members of a group that is answered with them when it is deleted: they are held while it is. */
const maximumAnswered = 10_000

const missing = new NotFound({ resource: "group" })

const taken = (name: string): Conflict => Conflict.taken("A group", name)

const reserved = Invalid.field("name", `must not be "${everyoneName}"`)

const isReserved = (name: string): boolean => name.toLowerCase() === everyoneName.toLowerCase()

/** Parses ids. Fails with `Invalid` naming the list if one of them is invalid. */
const idsOf = (field: string, texts: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<UserId>, Invalid> =>
  Effect.forEach(texts, (text) => {
    const id = parse(text)
    return id === undefined ? Invalid.field(field, `${JSON.stringify(text.slice(0, 64))} is not a UUID`) : Effect.succeed(id)
  })

interface AuditedGroup extends Group {
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

const subjectOf = (action: AuditAction, { id, name, organization_id }: Group) => ({
  action,
  resource: groupAudit,
  id,
  // A refused one may have any length
  target: name.slice(0, 256),
  organization_id
})

/** The methods of {@link GroupChanges}. */
export interface GroupChangesService {
  /**
   * Creates a group without members. Fails with `Invalid` for settings that break a rule, `Forbidden` if the actor may not create groups,
   * and `Conflict` for a name that is taken. authorization.md §8.2.
   */
  readonly create: (
    reference: string,
    settings: GroupSettings
  ) => Effect.Effect<GroupWithRoster, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Changes a group and its members, completely or not at all. Fails with `NotFound` if the actor may not change it, `Forbidden` for
   * members of Everyone, `Invalid` for a broken rule, for users that are not members of the organization and for those already in the
   * group, and `Conflict` for a name that another group has in any case. authorization.md §8.3.
   */
  readonly update: (
    reference: string,
    change: GroupChange
  ) => Effect.Effect<Stream.Stream<GroupWithRoster>, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Deletes a group with its budget and all access that its members had through it. Returns the group as it was; without members if there
   * are more than 10,000. The number of statements does not grow with its members or shares. Fails with `Invalid` for Everyone, and
   * `NotFound` if the actor may not delete the group. authorization.md §8.2.
   */
  readonly delete: (
    reference: string
  ) => Effect.Effect<Stream.Stream<GroupWithRoster>, Invalid | Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const repository = yield* GroupRepository
  const memberships = yield* GroupMemberRepository
  const groups = yield* Groups
  const users = yield* UserRepository
  const organizations = yield* Organizations
  const claims = yield* IdpSyncRepository
  const ids = yield* Ids

  /** The group as audit entries show it: with all of its members, or those among some users. */
  const recordOf = (group: Group, among?: ReadonlyArray<UserId>): Effect.Effect<AuditedGroup> =>
    Effect.map(memberships.ids(group.id, among), (members) => ({
      ...group,
      members: members.map((user_id) => ({ user_id, group_id: group.id }))
    }))

  /** Fails with `Conflict` when another group of the organization has the name, in whatever case. */
  const requireFreeName = (id: string, organization_id: OrganizationId, name: string) =>
    Effect.flatMap(repository.list({ organization_id, name }, AccessPredicate.True()), (found) =>
      found.some((other) => other.id !== id) ? taken(name) : Effect.void
    )

  /** Fails with `Invalid` unless all are members of the organization that the actor can see; they then stay while the transaction lasts. */
  const requireMembers = (organization_id: OrganizationId, field: string, userIds: ReadonlyArray<UserId>) =>
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

  const alreadyMember = Invalid.field("add_users", "names a user who is in the group already, or a user twice")

  const present = (id: Group["id"]) => Effect.flatMap(repository.byId(id), Option.match({ onNone: () => missing, onSome: Effect.succeed }))

  return {
    create: Traced.fn("GroupChanges.create")(function* (reference: string, settings: GroupSettings) {
      yield* requireFeature("template_rbac")
      const organization = yield* organizations.get(reference)
      const group: Group = { ...settings, id: yield* ids.next, organization_id: organization.id, source: "user" }
      return yield* Audit.audited(
        subjectOf("create", group),
        Effect.gen(function* () {
          yield* refuseViolations(groupViolations(settings))
          if (isReserved(group.name)) return yield* reserved
          yield* Access.authorize("create", AccessObjects.inOrganization("group", organization.id))
          if (!(yield* repository.lockOrganization(organization.id))) return yield* new NotFound({ resource: "organization" })
          yield* Effect.mapError(repository.insert(group), () => taken(group.name))
          const value: GroupWithRoster = { ...(yield* present(group.id)), members: [] }
          return { value, after: yield* recordOf(group) }
        })
      )
    }),

    update: Traced.fn("GroupChanges.update")(function* (reference: string, change: GroupChange) {
      const found: GroupWithNames = yield* groups.find(reference)
      return yield* Audit.audited(
        subjectOf("write", found),
        Effect.gen(function* () {
          const everyone = isEveryone(found)
          const renamed = change.name !== "" && change.name !== found.name
          const settings: GroupSettings = {
            name: renamed ? change.name : found.name,
            display_name: change.display_name ?? found.display_name,
            avatar_url: change.avatar_url ?? found.avatar_url,
            quota_allowance: change.quota_allowance ?? found.quota_allowance
          }
          // A login may have created a group with a name that users cannot choose
          yield* refuseViolations(groupViolations(settings).filter(({ field }) => field !== "name" || renamed))
          if (everyone && renamed) return yield* Invalid.field("name", `cannot be changed for the ${everyoneName} group`)
          if (everyone && settings.display_name !== "")
            return yield* Invalid.field("display_name", `cannot be set for the ${everyoneName} group`)
          if (isReserved(settings.name) && !everyone) return yield* reserved
          if (everyone && change.add_users.length + change.remove_users.length > 0) {
            return yield* new Forbidden({ message: `The members of ${everyoneName} are exactly the members of the organization.` })
          }
          const added = yield* idsOf("add_users", change.add_users)
          const removed = yield* idsOf("remove_users", change.remove_users)
          // Lock only after the permission check
          const mayUpdate = yield* Access.can("update", AccessObjects.group(found))
          if (mayUpdate) yield* memberships.lock(found.organization_id, added)
          if (mayUpdate && renamed && !(yield* repository.lockOrganization(found.organization_id))) return yield* missing
          const locked = mayUpdate ? Option.getOrUndefined(yield* repository.lock(found.id)) : undefined
          // An actor who cannot see the group's members must not learn of them from errors either
          yield* requireMembers(found.organization_id, "add_users", added)
          yield* requireMembers(found.organization_id, "remove_users", removed)
          // Before what is told of others' names
          if (locked === undefined) return yield* missing
          if (renamed) yield* requireFreeName(found.id, found.organization_id, settings.name)

          const named = found.total_member_count > maximumListed ? [...added, ...removed] : undefined
          const before = yield* recordOf(locked, named)
          const group: Group = {
            ...locked,
            name: renamed ? change.name : locked.name,
            display_name: change.display_name ?? locked.display_name,
            avatar_url: change.avatar_url ?? locked.avatar_url,
            quota_allowance: change.quota_allowance ?? locked.quota_allowance
          }
          yield* Effect.mapError(repository.update(group), () => taken(group.name))
          if (new Set(added).size < added.length) return yield* alreadyMember
          yield* Effect.mapError(memberships.add(group.id, added), () => alreadyMember)
          yield* memberships.remove(group.id, removed)
          return { value: yield* groups.withRoster(yield* present(group.id)), before, after: yield* recordOf(group, named) }
        })
      )
    }),

    delete: Traced.fn("GroupChanges.delete")(function* (reference: string) {
      const found: GroupWithNames = yield* groups.find(reference)
      const isListed = found.total_member_count <= maximumListed
      const isAnswered = found.total_member_count <= maximumAnswered
      const empty: GroupWithRoster = { ...found, members: [] }
      const counted = { total_member_count: String(found.total_member_count) }
      return yield* Audit.audited(
        { ...subjectOf("delete", found), additional_fields: isListed ? undefined : counted },
        Effect.gen(function* () {
          if (isEveryone(found)) return yield* new Invalid({ message: `The group ${everyoneName} cannot be deleted.` })
          yield* Access.authorizeOrHide("delete", AccessObjects.group(found), missing)
          const locked = Option.getOrUndefined(yield* repository.lockForDeletion(found.id))
          if (locked === undefined) return yield* missing
          // While it has its members
          const parts = yield* Stream.runCollect(isAnswered ? yield* groups.withRoster(yield* present(found.id)) : Stream.succeed(empty))
          const before = isListed ? yield* recordOf(locked) : locked
          yield* claims.unmap({ kind: "group", organization_id: found.organization_id }, found.id, yield* Timestamp.now)
          yield* repository.delete(found.id)
          return { value: Stream.rechunk(Stream.fromChunk(parts), 1), before }
        })
      )
    })
  }
})

/** Makes, changes and deletes groups. */
export class GroupChanges extends Context.Tag("@atelier/core/GroupChanges")<GroupChanges, GroupChangesService>() {
  static readonly layer = standingOn(service(GroupChanges, make), Groups.layer, Organizations.layer)
}
