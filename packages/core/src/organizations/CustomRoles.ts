import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { assignable } from "../access/roles/Assignment.js"
import { beyond, type CustomRole, grantsOf, roleOf } from "../access/roles/CustomRole.js"
import { organizationRoles } from "../access/roles/OrganizationRoles.js"
import { organizationSystemRoles } from "../access/roles/OrganizationSystemRoles.js"
import { isValidPermission } from "../access/Resource.js"
import { permissionsOf, type Role } from "../access/roles/Role.js"
import { isBuiltIn } from "../access/roles/Roles.js"
import { roleNames } from "../access/actors/Subject.js"
import * as Audit from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { audited, auditedResource, ignored } from "../audit/AuditedResource.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import { IdpSyncRepository } from "../identity/sync/IdpSyncRepository.js"
import { Conflict, Invalid, type NotFound, refuseViolations, type Validation, type Forbidden } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Name from "../platform/texts/Name.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { CustomRoleRepository } from "./CustomRoleRepository.js"
import { MemberRepository } from "./MemberRepository.js"
import { displayNameViolation, type OrganizationId } from "./Organization.js"
import { OrganizationChangeRepository } from "./OrganizationChangeRepository.js"
import { Organizations } from "./Organizations.js"
import { RightsRepository } from "./RightsRepository.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { Auditing } from "../audit/Audit.js"
import { noRole, roleLocks } from "./RoleLocks.js"

/** A permission as it was sent: of any type and action. */
export interface RequestedPermission {
  readonly negate: boolean
  readonly resource_type: string
  readonly action: string
}

/** A requested role. Lists that are absent on the wire are empty here; only the organization's list may have entries. */
export interface RequestedRole {
  readonly name: string
  readonly display_name: string
  readonly site_permissions: ReadonlyArray<RequestedPermission>
  readonly user_permissions: ReadonlyArray<RequestedPermission>
  readonly organization_permissions: ReadonlyArray<RequestedPermission>
  readonly organization_member_permissions: ReadonlyArray<RequestedPermission>
}

/** A role of an organization, and whether the actor may give and take it. */
export interface OfferedRole {
  readonly role: Role
  readonly built_in: boolean
  readonly assignable: boolean
}

/** The most permissions of a request: some 200 exist. */
const maximumPermissions = 1000

/** Roles of one organization: its list has all of them, each with everything that it allows. */
const maximumRoles = 100

/** Violations that one refusal lists. */
const maximumViolations = 100

const builtIn = Invalid.field("name", "is the name of a built-in role")

const full = new Conflict({ message: `An organization has at most ${maximumRoles} roles of its own.` })

/** A role with its permissions as entries show them. */
interface AuditedRole extends Omit<CustomRole, "permissions"> {
  readonly site_permissions: ReadonlyArray<string>
  readonly org_permissions: ReadonlyArray<string>
  readonly user_permissions: ReadonlyArray<string>
  readonly member_permissions: ReadonlyArray<string>
}

const roleAudit = auditedResource<AuditedRole>({
  type: "custom_role",
  endsRightsOf: "everyone",
  fields: {
    id: ignored,
    organization_id: ignored,
    name: audited,
    display_name: audited,
    created_at: ignored,
    updated_at: ignored,
    site_permissions: audited,
    org_permissions: audited,
    user_permissions: audited,
    member_permissions: audited
  }
})

const recordOf = ({ permissions, ...role }: CustomRole): AuditedRole => {
  const { organization_member_permissions, organization_permissions, site_permissions, user_permissions } = permissionsOf(
    roleOf({ ...role, permissions })
  )
  return {
    ...role,
    site_permissions: site_permissions.map(inWords),
    org_permissions: organization_permissions.map(inWords),
    user_permissions: user_permissions.map(inWords),
    member_permissions: organization_member_permissions.map(inWords)
  }
}

/** A permission as entries show it. notifications-audit-insights.md §B4. */
const inWords = ({ action, negate, resource_type }: RequestedPermission): string => `${negate ? "-" : ""}${resource_type}.${action}`

const subjectOf = (action: AuditAction, role: Pick<CustomRole, "id" | "name" | "organization_id">) => ({
  action,
  resource: roleAudit,
  id: role.id,
  // A refused one may have any length
  target: role.name.slice(0, 64),
  organization_id: role.organization_id
})

const permissionViolation = ({ action, negate, resource_type }: RequestedPermission): string | undefined => {
  if (negate) return "must not be negative"
  if (resource_type === "*" || action === "*") return "must name a type and an action, not *"
  return isValidPermission(resource_type, action)
    ? undefined
    : `${JSON.stringify(`${resource_type}:${action}`.slice(0, 64))} does not exist`
}

/** Returns every rule that a role breaks, independent of the actor. authorization.md §7.3. */
const violationsOf = (request: RequestedRole): ReadonlyArray<Validation> => {
  const levels = ["site_permissions", "user_permissions", "organization_member_permissions"] as const
  if (request.organization_permissions.length > maximumPermissions) {
    return [{ field: "organization_permissions", detail: `must be at most ${maximumPermissions}` }]
  }
  const fields = { name: Name.violation(request.name.toLowerCase()), display_name: displayNameViolation(request.display_name) }
  return [
    ...Object.entries(fields).flatMap(([field, detail]) => (detail === undefined ? [] : [{ field, detail }])),
    ...levels
      .filter((level) => request[level].length > 0)
      .map((field) => ({ field, detail: "must be empty for a role of an organization" })),
    ...request.organization_permissions.flatMap((permission) => {
      const detail = permissionViolation(permission)
      return detail === undefined ? [] : [{ field: "organization_permissions", detail }]
    })
  ].slice(0, maximumViolations)
}

/** Why no role of this name can be deleted. The implicit roles of members are reported as missing. */
const noSuchRole = (name: string): Invalid | NotFound => {
  if (organizationSystemRoles.some((system) => system === name)) return noRole
  if (isBuiltIn(name)) return builtIn
  const violation = Name.violation(name)
  return violation === undefined ? noRole : Invalid.field("roleName", violation)
}

/** The methods of {@link CustomRoles}. */
export interface CustomRolesService {
  /**
   * The roles that members of an organization can be given: the built-in ones, then its own by name. Fails with `NotFound` if the actor
   * may not read them. authorization.md §7.3.
   */
  readonly list: (reference: string) => Effect.Effect<ReadonlyArray<OfferedRole>, NotFound, CurrentActor>

  /**
   * Creates a role, its name in lower case. Fails with `NotFound` if the actor may not create roles, `Invalid` for a broken rule or
   * permissions beyond the actor's own, and `Conflict` for a taken name or a full list of 100. authorization.md §7.3.
   */
  readonly create: (
    reference: string,
    request: RequestedRole
  ) => Effect.Effect<Role, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Replaces a role, from the next request of its holders on. Fails as `create` does, but judges the role's rules before the actor's
   * rights, and with `NotFound` for an unknown role. authorization.md §7.3.
   */
  readonly update: (
    reference: string,
    request: RequestedRole
  ) => Effect.Effect<Role, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Deletes a role. Its holders keep their other roles, and mappings of claims lose it. Fails with `Forbidden` if the actor may not
   * delete roles, `Invalid` for a built-in role or an invalid name, and `NotFound` for an unknown role. authorization.md §7.3.
   */
  readonly delete: (reference: string, name: string) => Effect.Effect<undefined, Invalid | Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const organizations = yield* Organizations
  const changes = yield* OrganizationChangeRepository
  const repository = yield* CustomRoleRepository
  const members = yield* MemberRepository
  const claims = yield* IdpSyncRepository
  const rights = yield* RightsRepository
  const ids = yield* Ids

  /**
   * Returns the permissions of a requested role. Fails with `Invalid` for a broken rule, and for permissions that the actor does not hold
   * itself.
   */
  const grantsFor = (organizationId: OrganizationId, request: RequestedRole) =>
    Effect.gen(function* () {
      yield* refuseViolations(violationsOf(request))
      const grants = grantsOf(request.organization_permissions)
      const { subject } = yield* CurrentActor
      const lacking = beyond(subject, organizationId, grants)
      if (lacking.length > 0) {
        return yield* Invalid.field("organization_permissions", `you do not hold ${lacking.join(", ")} in the whole organization yourself`)
      }
      return grants
    })

  const { changing, named, present } = roleLocks({ rights, changes, repository })

  return {
    list: Traced.fn("CustomRoles.list")(function* (reference: string) {
      const { id } = yield* organizations.get(reference)
      yield* Access.authorizeOrHide("read", AccessObjects.inOrganization("assign_org_role", id))
      const mayAssign = yield* Access.can("assign", AccessObjects.inOrganization("assign_org_role", id))
      const { subject } = yield* CurrentActor
      const held = roleNames(subject)
      const mayGive = (name: string) => mayAssign && assignable(held, name, id)
      const own = yield* repository.ofOrganization(id)
      return [
        ...organizationRoles.map((role): OfferedRole => ({
          role: { ...role, organization_id: id },
          built_in: true,
          assignable: mayGive(role.name)
        })),
        ...own.map((role): OfferedRole => ({
          role: roleOf(role),
          built_in: false,
          assignable: mayGive(role.name) && beyond(subject, id, role.permissions).length === 0
        }))
      ]
    }),

    create: Traced.fn("CustomRoles.create")(function* (reference: string, request: RequestedRole) {
      yield* requireFeature("custom_roles")
      const { id: organization_id } = yield* organizations.get(reference)
      const now = yield* Timestamp.now
      const name = request.name.toLowerCase()
      const id = yield* ids.next
      return yield* Audit.audited(
        subjectOf("create", { id, name, organization_id }),
        changing(
          organization_id,
          Access.authorizeOrHide("create", AccessObjects.inOrganization("assign_org_role", organization_id), noRole),
          Effect.gen(function* () {
            if (isBuiltIn(name)) return yield* builtIn
            const permissions = yield* grantsFor(organization_id, request)
            if ((yield* repository.count(organization_id)) >= maximumRoles) return yield* full
            const { display_name } = request
            const role: CustomRole = { id, organization_id, name, display_name, permissions, created_at: now, updated_at: now }
            yield* Effect.mapError(repository.insert(role), () => Conflict.taken("A role", name))
            return { value: roleOf(role), after: recordOf(role) }
          })
        )
      )
    }),

    update: Traced.fn("CustomRoles.update")(function* (reference: string, request: RequestedRole) {
      yield* requireFeature("custom_roles")
      const { id: organization_id } = yield* organizations.get(reference)
      yield* refuseViolations(violationsOf(request))
      const mayUpdate = Access.authorizeOrHide("update", AccessObjects.inOrganization("assign_org_role", organization_id), noRole)
      const found = Option.getOrUndefined(yield* named(organization_id, request.name))
      if (found === undefined) {
        yield* mayUpdate
        return yield* isBuiltIn(request.name.toLowerCase()) ? builtIn : noRole
      }
      return yield* Audit.audited(
        subjectOf("write", found),
        changing(
          organization_id,
          mayUpdate,
          Effect.gen(function* () {
            const before = yield* present(found)
            const permissions = yield* grantsFor(organization_id, request)
            const after: CustomRole = { ...before, display_name: request.display_name, permissions, updated_at: yield* Timestamp.now }
            yield* repository.update(after)
            return { value: roleOf(after), before: recordOf(before), after: recordOf(after) }
          })
        )
      )
    }),

    delete: Traced.fn("CustomRoles.delete")(function* (reference: string, name: string) {
      yield* requireFeature("custom_roles")
      const { id: organization_id } = yield* organizations.get(reference)
      const mayDelete = Access.authorize("delete", AccessObjects.inOrganization("assign_org_role", organization_id))
      const found = Option.getOrUndefined(yield* named(organization_id, name))
      if (found === undefined) {
        yield* mayDelete
        return yield* noSuchRole(name.toLowerCase())
      }
      yield* Audit.audited(
        subjectOf("delete", found),
        changing(
          organization_id,
          mayDelete,
          Effect.gen(function* () {
            const before = yield* present(found)
            const now = yield* Timestamp.now
            yield* members.withdrawRole(organization_id, before.name, now)
            // Another one of that name would follow from the same claims
            yield* claims.unmap({ kind: "role", organization_id }, before.name, now)
            yield* repository.delete(before.id)
            return { value: undefined, before: recordOf(before) }
          })
        )
      )
    })
  }
})

/** The roles that members of organizations can be given. */
export class CustomRoles extends Context.Tag("@atelier/core/CustomRoles")<CustomRoles, CustomRolesService>() {
  static readonly layer = standingOn(service(CustomRoles, make), Organizations.layer)
}
