import { Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { CurrentActor } from "../../access/actors/Actor.js"
import type { UserWithOrganizations } from "./User.js"

/** The user with the memberships that the actor may read. identity.md §8.1. */
export const withReadableMemberships = <A extends Pick<UserWithOrganizations, "id" | "organization_ids">>(
  user: A
): Effect.Effect<A, never, CurrentActor> =>
  Effect.map(
    Access.filter("read", user.organization_ids, (organization_id) =>
      AccessObjects.organizationMember({ user_id: user.id, organization_id })
    ),
    // Mostly all of them, and then it is the same object, whose view and text may be kept
    (organization_ids) => (organization_ids.length === user.organization_ids.length ? user : { ...user, organization_ids })
  )
