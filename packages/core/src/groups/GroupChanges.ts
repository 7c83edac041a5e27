import { Context, Effect, Option, Stream } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import type { CurrentActor } from "../access/actors/Actor.js"
import { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import * as Audit from "../audit/Audit.js"
import type { Auditing } from "../audit/Audit.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import { IdpSyncRepository } from "../identity/sync/IdpSyncRepository.js"
import { UserRepository } from "../identity/users/UserRepository.js"
import type { OrganizationId } from "../organizations/Organization.js"
import { Organizations } from "../organizations/Organizations.js"
import { Conflict, type Forbidden, Invalid, NotFound, refuseViolations } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import {
  everyoneName,
  type Group,
  type GroupSettings,
  groupViolations,
  type GroupWithNames,
  type GroupWithRoster,
  isEveryone
} from "./Group.js"
import { changedRecord, groupRecord, groupSubject, maximumListed } from "./GroupAudit.js"
import {
  type GroupChange,
  idsOf,
  isReserved,
  renames,
  requireAllowed,
  requireMembers,
  reserved,
  settingsAfter
} from "./GroupChangeRules.js"
import { GroupMemberRepository } from "./GroupMemberRepository.js"
import { GroupRepository } from "./GroupRepository.js"
import { Groups } from "./Groups.js"

/** Members of a group that is answered with them when it is deleted: they are held while it is. */
const maximumAnswered = 10_000

const missing = new NotFound({ resource: "group" })

const taken = (name: string): Conflict => Conflict.taken("A group", name)

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
   * Changes a group and its members, completely or not at all. Fails with `NotFound` if the actor may not read it, `Forbidden` for
   * members of Everyone, `Invalid` if the actor may not change it, as clients of the interface expect, for a broken rule, for users that are not members of the organization and for those already in the
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

  /** Fails with `Conflict` when another group of the organization has the name, in whatever case. */
  const requireFreeName = (id: string, organization_id: OrganizationId, name: string) =>
    Effect.flatMap(repository.list({ organization_id, name }, AccessPredicate.True()), (found) =>
      found.some((other) => other.id !== id) ? taken(name) : Effect.void
    )

  const refused = new Invalid({ message: "You do not have permission to change this group." })

  const alreadyMember = Invalid.field("add_users", "names a user who is in the group already, or a user twice")

  const present = (id: Group["id"]) => Effect.flatMap(repository.byId(id), Option.match({ onNone: () => missing, onSome: Effect.succeed }))

  return {
    create: Traced.fn("GroupChanges.create")(function* (reference: string, settings: GroupSettings) {
      yield* requireFeature("template_rbac")
      const organization = yield* organizations.get(reference)
      const group: Group = { ...settings, id: yield* ids.next, organization_id: organization.id, source: "user" }
      return yield* Audit.audited(
        groupSubject("create", group),
        Effect.gen(function* () {
          yield* refuseViolations(groupViolations(settings))
          if (isReserved(group.name)) return yield* reserved
          yield* Access.authorize("create", AccessObjects.inOrganization("group", organization.id))
          if (!(yield* repository.lockOrganization(organization.id))) return yield* new NotFound({ resource: "organization" })
          yield* Effect.mapError(repository.insert(group), () => taken(group.name))
          const value: GroupWithRoster = { ...(yield* present(group.id)), members: [] }
          return { value, after: yield* groupRecord(memberships, group) }
        })
      )
    }),

    update: Traced.fn("GroupChanges.update")(function* (reference: string, change: GroupChange) {
      const found: GroupWithNames = yield* groups.find(reference)
      return yield* Audit.audited(
        groupSubject("write", found),
        Effect.gen(function* () {
          yield* requireAllowed(found, change)
          const renamed = renames(change, found)
          const added = yield* idsOf("add_users", change.add_users)
          const removed = yield* idsOf("remove_users", change.remove_users)
          // Lock only after the permission check
          const mayUpdate = yield* Access.can("update", AccessObjects.group(found))
          if (mayUpdate) yield* memberships.lock(found.organization_id, added)
          if (mayUpdate && renamed && !(yield* repository.lockOrganization(found.organization_id))) return yield* missing
          const locked = mayUpdate ? Option.getOrUndefined(yield* repository.lock(found.id)) : undefined
          // An actor who cannot see the group's members must not learn of them from errors either
          yield* requireMembers({ memberships, users }, found.organization_id, "add_users", added)
          yield* requireMembers({ memberships, users }, found.organization_id, "remove_users", removed)
          if (!mayUpdate) return yield* refused
          // Before what is told of others' names
          if (locked === undefined) return yield* missing
          if (renamed) yield* requireFreeName(found.id, found.organization_id, change.name)

          const named = found.total_member_count > maximumListed ? [...added, ...removed] : undefined
          const before = yield* groupRecord(memberships, locked, named)
          // A change that named the group as it was found does not undo a name that it has been given since
          const group: Group = { ...locked, ...settingsAfter(locked, renamed ? change : { ...change, name: "" }) }
          yield* Effect.mapError(repository.update(group), () => taken(group.name))
          if (new Set(added).size < added.length) return yield* alreadyMember
          yield* Effect.mapError(memberships.add(group.id, added), () => alreadyMember)
          yield* memberships.remove(group.id, removed)
          const after = changedRecord(before, group, { added, removed })
          return { value: yield* groups.withRoster(yield* present(group.id)), before, after }
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
        { ...groupSubject("delete", found), additional_fields: isListed ? undefined : counted },
        Effect.gen(function* () {
          if (isEveryone(found)) return yield* new Invalid({ message: `The group ${everyoneName} cannot be deleted.` })
          yield* Access.authorizeOrHide("delete", AccessObjects.group(found), missing)
          const locked = Option.getOrUndefined(yield* repository.lockForDeletion(found.id))
          if (locked === undefined) return yield* missing
          // While it has its members
          const parts = yield* Stream.runCollect(isAnswered ? yield* groups.withRoster(yield* present(found.id)) : Stream.succeed(empty))
          const before = isListed ? yield* groupRecord(memberships, locked) : locked
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
