import { Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { Actor, CurrentActor } from "../../access/actors/Actor.js"
import { permits } from "../../access/decisions/Decision.js"
import type { UserWithOrganizations } from "./User.js"

type Member = Pick<UserWithOrganizations, "id" | "organization_ids">

const membershipOf = (user: Member, organization_id: Member["organization_ids"][number]) =>
  AccessObjects.organizationMember({ user_id: user.id, organization_id })

/** Whether an actor may read all memberships of a user. */
export const readsMemberships = ({ subject }: Actor, user: Member): boolean =>
  user.organization_ids.every((id) => permits(subject, "read", membershipOf(user, id)))

/** The user with the memberships that the actor may read. identity.md §8.1. */
export const withReadableMemberships = <A extends Member>(user: A): Effect.Effect<A, never, CurrentActor> =>
  Effect.map(
    Access.filter("read", user.organization_ids, (id) => membershipOf(user, id)),
    // Mostly all of them, and then it is the same object, whose view and text may be kept
    (organization_ids) => (organization_ids.length === user.organization_ids.length ? user : { ...user, organization_ids })
  )
