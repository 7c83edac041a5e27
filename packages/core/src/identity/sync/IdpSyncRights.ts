/**
 * The rights that a mapping of claims requires. A change of the mapping gives and takes roles at later logins, so the actor needs the
 * rights to give and take them by hand. authorization.md §2.4, §11.1.
 */
import { Effect } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import type { RoleChangeRefusal } from "../../access/roles/Assignment.js"
import { type CustomRole, holdsWhateverRolesAllow } from "../../access/roles/CustomRole.js"
import { organizationRoles } from "../../access/roles/OrganizationRoles.js"
import { memberRolesRefusal, organizationRolesRefusal } from "../../organizations/MemberRoles.js"
import type { Organization, OrganizationId } from "../../organizations/Organization.js"
import { Forbidden } from "../../platform/Errors.js"
import type { Mapping, OrganizationSyncSettings, RoleSyncSettings } from "./IdpSync.js"

/** Whether another claim is followed than before. */
const followsAnother = (before: { readonly field: string }, after: { readonly field: string }): boolean =>
  after.field !== "" && after.field !== before.field

/** The targets that values have in one mapping and not in the other; an unmapped value keeps its own name as target. */
const gained = <A extends string>(
  from: Mapping<A>,
  to: Mapping<A>,
  unmapped: (value: string) => ReadonlyArray<A> = () => []
): ReadonlySet<A> => {
  const standsFor = (mapping: Mapping<A>, value: string) => (Object.hasOwn(mapping, value) ? mapping[value] : undefined) ?? unmapped(value)
  const values = new Set([...Object.keys(from), ...Object.keys(to)])
  return new Set(
    [...values].flatMap((value) => {
      const known = new Set(standsFor(from, value))
      return standsFor(to, value).filter((target) => !known.has(target))
    })
  )
}

/**
 * The roles that newly follow from claims, and those that no longer do; `names` are all roles of the organization. The values of another
 * claim are unknown: each existing role may then be given or taken.
 */
export const changedRoles = (
  before: RoleSyncSettings,
  after: RoleSyncSettings,
  names: ReadonlySet<string>
): { readonly given: ReadonlySet<string>; readonly taken: ReadonlySet<string> } => {
  if (followsAnother(before, after)) return { given: new Set([...names, ...Object.values(after.mapping).flat()]), taken: names }
  const named = (value: string) => (names.has(value) ? [value] : [])
  const taken = gained(after.mapping, before.mapping, named)
  return { given: gained(before.mapping, after.mapping, named), taken: new Set([...taken].filter((name) => names.has(name))) }
}

/** The organizations that users come to be members of; some of them may be gone. */
export const joinedOrganizations = (
  before: OrganizationSyncSettings,
  after: OrganizationSyncSettings,
  defaultId: OrganizationId
): ReadonlySet<OrganizationId> => {
  const another = followsAnother(before, after)
  const joinsDefault = after.organization_assign_default && (another || !before.organization_assign_default)
  const mapped = another ? Object.values(after.mapping).flat() : gained(before.mapping, after.mapping)
  return new Set([...mapped, ...(joinsDefault ? [defaultId] : [])])
}

/** Roles that a refusal names. */
const maximumNamed = 20

const refused = (refusal: RoleChangeRefusal): Forbidden =>
  new Forbidden(
    refusal._tag === "NotPermitted"
      ? { message: "You may not give or take roles." }
      : {
          message: "You may not give or take roles that follow from these settings.",
          detail: refusal.roles
            .slice(0, maximumNamed)
            .map((name) => name.slice(0, 64))
            .join(", ")
        }
  )

/**
 * Fails unless the actor may give and take the roles that a change of settings concerns; `custom` are the organization's own. A role that
 * does not exist yet may come to allow anything, and the mapping would give it as soon as it is created.
 */
export const requireRoles = (
  organizationId: OrganizationId,
  custom: ReadonlyArray<CustomRole>,
  before: RoleSyncSettings,
  after: RoleSyncSettings
): Effect.Effect<void, Forbidden, CurrentActor> =>
  Effect.gen(function* () {
    const { subject } = yield* CurrentActor
    const names = new Set([...organizationRoles, ...custom].map(({ name }) => name))
    const { given, taken } = changedRoles(before, after, names)
    const refusal =
      organizationRolesRefusal(subject, organizationId, {
        before: [],
        after: [...given],
        custom: custom.filter(({ name }) => given.has(name))
      }) ?? organizationRolesRefusal(subject, organizationId, { before: [...taken], after: [], custom: [] })
    if (refusal !== null) return yield* refused(refusal)
    const later = [...given].filter((name) => !names.has(name))
    if (later.length > 0 && !holdsWhateverRolesAllow(subject, organizationId)) {
      return yield* refused({ _tag: "NotAssignable", roles: later })
    }
  })

/** Fails unless the actor may add members to the organizations. */
export const requireMemberships = (organizations: ReadonlyArray<Organization>): Effect.Effect<void, Forbidden, CurrentActor> =>
  Effect.forEach(
    organizations,
    (organization) =>
      Effect.gen(function* () {
        yield* Access.authorize("create", AccessObjects.inOrganization("organization_member", organization.id))
        const { subject } = yield* CurrentActor
        const refusal = memberRolesRefusal(subject, organization, { before: [], after: [], custom: [] })
        if (refusal !== null) return yield* refused(refusal)
      }),
    { discard: true }
  )
