import { Context, Effect } from "effect"
import * as Access from "../access/Access.js"
import { AccessPredicate } from "../access/decisions/AccessPredicate.js"
import { type AclChange, changedAcl, grantedIds, readAclChange, type RoleActions } from "../access/AclRoles.js"
import { CurrentActor } from "../access/actors/Actor.js"
import type { Acl } from "../access/Resource.js"
import type { UserWithOrganizations } from "../identity/users/User.js"
import type { OrganizationId } from "../organizations/Organization.js"
import { Invalid, refuseViolations, type Validation } from "../platform/Errors.js"
import { parse, type Uuid } from "../platform/texts/Uuid.js"
import { GranteeRepository } from "./GranteeRepository.js"
import type { GroupWithNames } from "./Group.js"
import { GroupRepository } from "./GroupRepository.js"
import { service } from "../platform/wiring/Standing.js"

/** Roles by id as they were sent, and what refusals call the map. */
export interface AskedRoles {
  readonly field: string
  readonly roles: Readonly<Record<string, string>>
}

/** An object's two ACLs. */
export interface Acls {
  readonly user_acl: Acl
  readonly group_acl: Acl
}

/** A change of an object's ACLs. Fails with `Invalid` if one grows beyond a thousand entries. */
export type AclChanges = (before: Acls) => Effect.Effect<Acls, Invalid>

/** The methods of {@link Grantees}. */
export interface GranteesService {
  /** A change that removes all entries. Call it as `change`. */
  readonly clearing: Effect.Effect<() => Effect.Effect<Acls, Invalid>, never, CurrentActor>

  /**
   * Reads a change of roles. Fails with `Invalid`, with an entry for each invalid id or role and each user or group that does not exist;
   * entries that only remove a role are not looked up. Call it in the transaction of the change, before locking the object: it locks the
   * users and groups that are given a role against deletion, and a later deletion removes their entries. authorization.md §12.2.
   */
  readonly change: <Role extends string>(
    ofUsers: AskedRoles,
    ofGroups: AskedRoles,
    roles: RoleActions<Role>,
    organizationId: OrganizationId
  ) => Effect.Effect<AclChanges, Invalid, CurrentActor>

  /** The existing users and groups that an object's ACLs name. */
  readonly of: (acls: Acls) => Effect.Effect<{
    readonly users: ReadonlyArray<UserWithOrganizations>
    readonly groups: ReadonlyArray<GroupWithNames>
  }>
}

const make = Effect.gen(function* () {
  const users = yield* GranteeRepository
  const groups = yield* GroupRepository

  const usersOf = (ids: ReadonlyArray<Uuid>) => (ids.length === 0 ? Effect.succeed([]) : users.users(ids))
  const groupsOf = (ids: ReadonlyArray<Uuid>) => (ids.length === 0 ? Effect.succeed([]) : groups.list({ ids }, AccessPredicate.True()))

  const missing = (field: string, wanted: ReadonlyArray<Uuid>, found: ReadonlyArray<Uuid>): ReadonlyArray<Validation> => {
    const known = new Set<string>(found)
    return wanted.filter((id) => !known.has(id)).map((id) => ({ field, detail: `${id} does not exist` }))
  }

  /** Groups that the actor may name: those of the object's organization, and those it may read. Others are as if they did not exist. */
  const nameable = (ids: ReadonlyArray<Uuid>, organizationId: OrganizationId) =>
    Effect.gen(function* () {
      const own = (yield* groupsOf(ids)).filter(({ organization_id }) => organization_id === organizationId)
      const readable = own.length === ids.length ? [] : yield* groups.list({ ids }, yield* Access.predicate("read", "group"))
      return [...own, ...readable].map(({ id }) => id)
    })

  /** Users are always locked in the order of their ids. The actor, whose rights are judged later, is locked with the others. */
  const lockUsers = (ids: ReadonlyArray<Uuid>) => Effect.flatMap(CurrentActor, ({ userId }) => users.lockUsers([...ids, userId]))

  return {
    clearing: Effect.as(lockUsers([]), (): Effect.Effect<Acls, Invalid> => Effect.succeed({ user_acl: {}, group_acl: {} })),

    change: <Role extends string>(
      ofUsers: AskedRoles,
      ofGroups: AskedRoles,
      roles: RoleActions<Role>,
      organizationId: OrganizationId
    ): Effect.Effect<AclChanges, Invalid, CurrentActor> =>
      Effect.gen(function* () {
        const toUsers = readAclChange(ofUsers.field, ofUsers.roles, roles)
        const toGroups = readAclChange(ofGroups.field, ofGroups.roles, roles)
        const [userIds, groupIds] = [grantedIds(toUsers.change), grantedIds(toGroups.change)]
        if (userIds.length > maximumEntries) return yield* tooMany(ofUsers.field)
        if (groupIds.length > maximumEntries) return yield* tooMany(ofGroups.field)
        const violations = [
          ...toUsers.faults,
          ...missing(ofUsers.field, userIds, yield* lockUsers(userIds)),
          ...toGroups.faults,
          ...missing(
            ofGroups.field,
            groupIds,
            groupIds.length === 0 ? [] : yield* nameable(yield* users.lockGroups(groupIds), organizationId)
          )
        ].slice(0, maximumValidations)
        yield* refuseViolations(violations, true)
        return ({ group_acl, user_acl }): Effect.Effect<Acls, Invalid> =>
          Effect.all({
            user_acl: grown(ofUsers.field, user_acl, toUsers.change),
            group_acl: grown(ofGroups.field, group_acl, toGroups.change)
          })
      }),

    of: ({
      group_acl,
      user_acl
    }: Acls): Effect.Effect<{
      readonly users: ReadonlyArray<UserWithOrganizations>
      readonly groups: ReadonlyArray<GroupWithNames>
    }> =>
      Effect.all({
        users: usersOf(Object.keys(user_acl).flatMap((id) => parse(id) ?? [])),
        groups: groupsOf(Object.keys(group_acl).flatMap((id) => parse(id) ?? []))
      })
  }
})

/** Entries that one refusal has at most. */
const maximumValidations = 100

/** The most entries of an ACL. Every list of such objects reads the ACLs of all of them. */
const maximumEntries = 1000

const tooMany = (field: string): Invalid => Invalid.field(field, `would make more than ${maximumEntries} entries`)

const grown = (field: string, before: Acl, change: AclChange): Effect.Effect<Acl, Invalid> => {
  const after = changedAcl(before, change)
  const size = Object.keys(after).length
  return size > maximumEntries && size > Object.keys(before).length ? tooMany(field) : Effect.succeed(after)
}

/** Users and groups that something is shared with. */
export class Grantees extends Context.Tag("@atelier/core/Grantees")<Grantees, GranteesService>() {
  static readonly layer = service(Grantees, make)
}
