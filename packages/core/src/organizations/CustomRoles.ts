import { Context, Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { roleNames } from "../access/actors/Subject.js"
import { assignable } from "../access/roles/Assignment.js"
import { beyond, type CustomRole, roleOf } from "../access/roles/CustomRole.js"
import { organizationRoles } from "../access/roles/OrganizationRoles.js"
import type { Role } from "../access/roles/Role.js"
import { isBuiltIn } from "../access/roles/Roles.js"
import * as Audit from "../audit/Audit.js"
import type { Auditing } from "../audit/Audit.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import { IdpSyncRepository } from "../identity/sync/IdpSyncRepository.js"
import { Conflict, type Forbidden, type Invalid, type NotFound, refuseViolations } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import { roleRecord, roleSubject } from "./CustomRoleAudit.js"
import { CustomRoleRepository } from "./CustomRoleRepository.js"
import { builtIn, grantsFor, noSuchRole, type RequestedRole, violationsOf } from "./CustomRoleRules.js"
import { MemberRepository } from "./MemberRepository.js"
import { OrganizationChangeRepository } from "./OrganizationChangeRepository.js"
import { Organizations } from "./Organizations.js"
import { RightsRepository } from "./RightsRepository.js"
import { noRole, roleLocks } from "./RoleLocks.js"

/** A role of an organization, and whether the actor may give and take it. */
export interface OfferedRole {
  readonly role: Role
  readonly built_in: boolean
  readonly assignable: boolean
}

/** Roles of one organization: its list has all of them, each with everything that it allows. */
const maximumRoles = 100

const full = new Conflict({ message: `An organization has at most ${maximumRoles} roles of its own.` })

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
        roleSubject("create", { id, name, organization_id }),
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
            return { value: roleOf(role), after: roleRecord(role) }
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
        roleSubject("write", found),
        changing(
          organization_id,
          mayUpdate,
          Effect.gen(function* () {
            const before = yield* present(found)
            const permissions = yield* grantsFor(organization_id, request)
            const after: CustomRole = { ...before, display_name: request.display_name, permissions, updated_at: yield* Timestamp.now }
            yield* repository.update(after)
            return { value: roleOf(after), before: roleRecord(before), after: roleRecord(after) }
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
        roleSubject("delete", found),
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
            return { value: undefined, before: roleRecord(before) }
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
