/** The right to give and take roles of an organization, in addition to the table of authorization.md §2.4. */
import { Effect } from "effect"
import { CurrentActor } from "../access/actors/Actor.js"
import { roleChangeRefusal, type RoleChangeRefusal } from "../access/roles/Assignment.js"
import { beyond, type CustomRole } from "../access/roles/CustomRole.js"
import { organizationMember } from "../access/roles/OrganizationSystemRoles.js"
import { organizationRole } from "../access/roles/Roles.js"
import type { Subject } from "../access/actors/Subject.js"
import { Forbidden, NotFound } from "../platform/Errors.js"
import type { Organization, OrganizationId } from "./Organization.js"

/** The user is not a member, or the actor may not know. */
export const noMember = new NotFound({ resource: "organization_member" })

/** A change of a user's roles in an organization. */
export interface RoleChange {
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
  /** Those of the roles in `after` that the organization made for itself. */
  readonly custom: ReadonlyArray<CustomRole>
}

/**
 * Why the subject may not give and take these roles of an organization, or null where it may.
 *
 * A custom role is given only by those who hold each of its permissions. The table alone would let an administrator hand on what an owner put
 * into a role, and take it from the one it was handed to.
 */
export const organizationRolesRefusal = (
  subject: Subject,
  organizationId: OrganizationId,
  { after, before, custom }: RoleChange
): RoleChangeRefusal | null => {
  const refusal = roleChangeRefusal(subject, { before, after, organizationId })
  if (refusal !== null) return refusal
  const roles = custom
    .filter(({ name, permissions }) => !before.includes(name) && beyond(subject, organizationId, permissions).length > 0)
    .map(({ name }) => name)
  return roles.length === 0 ? null : { _tag: "NotAssignable", roles }
}

/**
 * Returns why the subject may not replace a member's roles, or null if it may. The actor must be allowed to give every role that the member
 * then holds: the implied role and the organization's default ones count as given. authorization.md §7.1.
 */
export const memberRolesRefusal = (
  subject: Subject,
  { default_org_member_roles, id }: Pick<Organization, "id" | "default_org_member_roles">,
  change: RoleChange
): RoleChangeRefusal | null =>
  organizationRolesRefusal(subject, id, { ...change, after: [...change.after, organizationMember, ...default_org_member_roles] })

/** Fails unless the actor may add members, with the implied and default roles that each member gets. authorization.md §7.1. */
export const requireAdmission = (organization: Organization): Effect.Effect<void, Forbidden | NotFound, CurrentActor> =>
  Effect.gen(function* () {
    const { subject } = yield* CurrentActor
    const refusal = memberRolesRefusal(subject, organization, { before: [], after: [], custom: [] })
    if (refusal?._tag === "NotPermitted") return yield* noMember
    if (refusal !== null) {
      const detail = `Members have ${refusal.roles.join(", ")}, which you may not give.`
      return yield* new Forbidden({ message: "You may not add members to the organization.", detail })
    }
  })

/** Whether a role removes permissions from its holders. */
const restricts = (name: string): boolean => Object.keys(organizationRole(name)?.deny ?? {}).length > 0

/**
 * Fails unless the actor may take the roles that keep a member from something: without the membership they would be gone, and the next one
 * would begin without them.
 */
export const requireRelease = (
  organizationId: OrganizationId,
  roles: ReadonlyArray<string>
): Effect.Effect<void, Forbidden, CurrentActor> =>
  Effect.gen(function* () {
    const { subject } = yield* CurrentActor
    const restrictions = roles.filter(restricts)
    if (roleChangeRefusal(subject, { before: restrictions, after: [], organizationId }) === null) return
    const detail = `The member has ${restrictions.join(", ")}, which you may not take.`
    return yield* new Forbidden({ message: "You may not remove this member.", detail })
  })
