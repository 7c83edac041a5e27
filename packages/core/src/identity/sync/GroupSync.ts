import { Effect, Either } from "effect"
import { publishRightsChange } from "../../access/streams/RightsChanges.js"
import { everyoneName, type Group } from "../../groups/Group.js"
import type { OrganizationId } from "../../organizations/Organization.js"
import { Ids } from "../../platform/Ids.js"
import type { User } from "../users/User.js"
import { type Claims, claimValues, groupsFrom } from "./ClaimSync.js"
import type { GroupSyncSettings } from "./IdpSync.js"
import { IdpSyncInForce } from "./IdpSyncInForce.js"
import { LoginSyncRepository, type SyncedMembership } from "./LoginSyncRepository.js"
import { logSkipped } from "./SyncTrail.js"

/** Characters of the name of a group. */
const maximumGroupName = 255

/** Whether a group can have that name, and is not the one of all members. */
const isGroupName = (name: string): boolean =>
  name !== "" &&
  name.length <= maximumGroupName &&
  name.toLowerCase() !== everyoneName.toLowerCase() &&
  // No store holds these characters
  !/[\0\p{Cs}]/u.test(name)

/** The groups that follow from claims in one organization; undefined where they say nothing. */
const wantedGroups = (organizationId: OrganizationId, settings: GroupSyncSettings, claims: Claims) => {
  const wanted = Either.flatMap(claimValues(claims, settings.field), (values) => groupsFrom(values, settings))
  return Either.isLeft(wanted)
    ? Effect.as(logSkipped(organizationId, wanted.left), undefined)
    : Effect.succeed({
        organization_id: organizationId,
        ids: [...wanted.right.ids],
        names: [...wanted.right.names].filter(isGroupName),
        creates: settings.auto_create_missing_groups
      })
}

/** Puts the user into the groups that follow from its claims, and into no others, in each organization where some do.*/
export const makeGroupSync = Effect.gen(function* () {
  const repository = yield* LoginSyncRepository
  const inForce = yield* IdpSyncInForce
  const ids = yield* Ids

  return (user: User, claims: Claims, memberships: ReadonlyArray<SyncedMembership>) =>
    Effect.gen(function* () {
      const settings = yield* inForce.groups(memberships.map(({ is_default, organization_id: id }) => ({ id, is_default })))
      const followed = [...settings].filter(([, each]) => inForce.isOn("group", each))
      if (followed.length === 0) return
      const wanted = (yield* Effect.forEach(followed, ([id, each]) => wantedGroups(id, each, claims))).flatMap((each) => each ?? [])
      const found = yield* repository.findGroups(wanted)
      const missing = wanted.flatMap(({ creates, names, organization_id }) =>
        creates
          ? names
              .filter((name) => !found.some((group) => group.organization_id === organization_id && group.name === name))
              .map((name) => ({ organization_id, name }))
          : []
      )
      if (missing.length > 0) {
        // An organization whose last member is logging in may be deleted concurrently
        const locked = new Set(yield* repository.lockOrganizations(missing.map(({ organization_id }) => organization_id)))
        const made = yield* Effect.forEach(
          missing.filter(({ organization_id }) => locked.has(organization_id)),
          (group) =>
            Effect.map(ids.next, (id): Group => ({ ...group, id, display_name: "", avatar_url: "", quota_allowance: 0, source: "oidc" }))
        )
        yield* repository.createGroups(made)
      }
      const all = missing.length === 0 ? found : yield* repository.findGroups(wanted)
      const target = new Set(all.map(({ id }) => id))
      const present = yield* repository.groupsOf(
        user.id,
        wanted.map(({ organization_id }) => organization_id)
      )
      const left = present.filter((id) => !target.has(id))
      for (const id of present) target.delete(id)
      // Groups are locked before memberships change, in the same order as when a group is deleted
      yield* repository.enter(user.id, [...target])
      yield* repository.exit(user.id, left)
      if (left.length > 0) yield* publishRightsChange({ user_id: user.id })
    })
})
