import { Context, Effect } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import * as Audit from "../audit/Audit.js"
import { organizationAudit } from "./OrganizationAudit.js"
import { requireFeature } from "../deployment/licenses/Entitlements.js"
import { IdpSyncRepository } from "../identity/sync/IdpSyncRepository.js"
import { pictureViolation } from "../platform/texts/Address.js"
import { Conflict, type Forbidden, Invalid, refuseViolations, validationsOf, type NotFound } from "../platform/Errors.js"
import { Ids } from "../platform/Ids.js"
import * as Name from "../platform/texts/Name.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { nil } from "../platform/texts/Uuid.js"
import { defaultAlias, displayNameViolation, initialDefaultMemberRoles, missingOrganization, type Organization } from "./Organization.js"
import { OrganizationChangeRepository, type OrganizationContents } from "./OrganizationChangeRepository.js"
import { OrganizationRepository } from "./OrganizationRepository.js"
import { Organizations } from "./Organizations.js"
import { RightsRepository } from "./RightsRepository.js"
import { permitted, withCurrentRights } from "./CurrentRights.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { Auditing } from "../audit/Audit.js"
import { requireDefaultRoles } from "./DefaultRoleRules.js"

/** A requested organization. Texts that are absent on the wire are empty here. */
export type NewOrganization = Pick<Organization, "name" | "display_name" | "description" | "icon">

/** The requested changes; names that are absent or empty stay unchanged. */
export interface OrganizationEdit {
  readonly name?: string | undefined
  readonly display_name?: string | undefined
  readonly description?: string | undefined
  readonly icon?: string | undefined
  readonly default_org_member_roles?: ReadonlyArray<string> | undefined
}

const nameViolation = (name: string): string | undefined =>
  // In any case: the alias and the name would be hard to tell apart
  name.toLowerCase() === defaultAlias ? "is reserved for the default organization" : Name.violation(name)

/** In characters; lists of organizations show both in full. */
const maximumDescriptionLength = 8192

const maximumIconLength = 2048

const textViolations = ({ description = "", icon = "" }: Pick<OrganizationEdit, "description" | "icon">) => ({
  description: description.length > maximumDescriptionLength ? `must be at most ${maximumDescriptionLength} characters` : undefined,
  icon: pictureViolation(icon, maximumIconLength)
})

const taken = (name: string): Conflict => Conflict.taken("An organization", name)

/** Returns the refusal of deleting an organization with content. */
const remains = ({ groups, members, templates, workspaces }: OrganizationContents): Conflict | undefined => {
  const others = Math.max(0, members - 1)
  if (workspaces + templates + others + groups === 0) return undefined
  return new Conflict({
    message: "An organization that is in use cannot be deleted.",
    detail: `It still has ${workspaces} workspaces, ${templates} templates, ${others} other members and ${groups} groups.`
  })
}

/** The methods of {@link OrganizationChanges}. */
export interface OrganizationChangesService {
  /**
   * Creates an organization with its group Everyone; the creator becomes its only member. Fails with `Forbidden` unless the actor is an
   * owner, `Invalid` for a field that breaks a rule, and `Conflict` for a taken name, also if a concurrent call takes it.
   * authorization.md §6.2.
   */
  readonly create: (request: NewOrganization) => Effect.Effect<Organization, Invalid | Forbidden | Conflict, CurrentActor | Auditing>

  /**
   * Changes the given fields. Fails with `NotFound` if the actor may not change the organization, `Forbidden` for default roles that the
   * actor may not give or take, and otherwise as `create` does. authorization.md §6.2.
   */
  readonly update: (
    reference: string,
    edit: OrganizationEdit
  ) => Effect.Effect<Organization, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Deletes an organization with at most one member and no content but its group Everyone; its name becomes free. Fails with `Forbidden`
   * if the actor may read but not delete it, `Invalid` for the default organization, and `Conflict` with the remaining counts for one in
   * use. A concurrent addition either comes first or fails. authorization.md §6.2.
   */
  readonly delete: (reference: string) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const organizations = yield* Organizations
  const repository = yield* OrganizationRepository
  const changes = yield* OrganizationChangeRepository
  const claims = yield* IdpSyncRepository
  const rights = yield* RightsRepository
  const ids = yield* Ids

  return {
    create: Traced.fn("OrganizationChanges.create")(function* (request: NewOrganization) {
      yield* requireFeature("multiple_organizations")
      const { subject, userId } = yield* CurrentActor
      const now = yield* Timestamp.now
      const organization: Organization = {
        ...request,
        id: yield* ids.next,
        display_name: request.display_name === "" ? request.name : request.display_name,
        created_at: now,
        updated_at: now,
        is_default: false,
        deleted: false,
        default_org_member_roles: initialDefaultMemberRoles,
        shareable_workspace_owners: "everyone"
      }
      const { id: organization_id, name } = organization
      return yield* Audit.audited(
        // A refused name may have any length
        { action: "create", resource: organizationAudit, id: organization_id, target: name.slice(0, 64), organization_id },
        withCurrentRights(rights)(
          Effect.gen(function* () {
            yield* refuseViolations(
              validationsOf({
                name: nameViolation(name),
                display_name: displayNameViolation(request.display_name),
                ...textViolations(request)
              })
            )
            yield* Access.authorize("create", AccessObjects.bare("organization"))
            yield* Effect.mapError(repository.insert(organization), () => taken(name))
            if (subject.kind !== "system") {
              yield* repository.addMember({ organization_id, user_id: userId, roles: [], created_at: now })
            }
            return { value: organization, after: organization }
          })
        )
      )
    }),

    update: Traced.fn("OrganizationChanges.update")(function* (reference: string, edit: OrganizationEdit) {
      yield* requireFeature("multiple_organizations")
      const found = yield* organizations.get(reference)
      return yield* Audit.audited(
        { action: "write", resource: organizationAudit, id: found.id, target: found.name, organization_id: found.id },
        permitted(rights)(
          Access.authorizeOrHide("update", AccessObjects.organization(found)),
          Effect.mapError(Effect.flatten(changes.lock(found.id)), () => missingOrganization),
          (before) =>
            Effect.gen(function* () {
              const { name = "", display_name = "" } = edit
              yield* refuseViolations(
                validationsOf({
                  name: name === "" ? undefined : nameViolation(name),
                  display_name: displayNameViolation(display_name),
                  ...textViolations(edit)
                })
              )
              const roles = edit.default_org_member_roles
              if (roles !== undefined) yield* requireDefaultRoles(before, roles)
              const after: Organization = {
                ...before,
                name: name === "" ? before.name : name,
                display_name: display_name === "" ? before.display_name : display_name,
                description: edit.description ?? before.description,
                icon: edit.icon ?? before.icon,
                default_org_member_roles: roles === undefined ? before.default_org_member_roles : Array.from(new Set(roles)),
                updated_at: yield* Timestamp.now
              }
              yield* Effect.mapError(changes.update(after), () => taken(after.name))
              return { value: after, before, after }
            })
        )
      )
    }),

    delete: Traced.fn("OrganizationChanges.delete")(function* (reference: string) {
      yield* requireFeature("multiple_organizations")
      const found = yield* organizations.get(reference)
      yield* Audit.audited(
        { action: "delete", resource: organizationAudit, id: found.id, target: found.name, organization_id: found.id },
        permitted(rights)(
          Access.authorize("delete", AccessObjects.organization(found)),
          Effect.mapError(Effect.flatten(changes.lockForDeletion(found.id)), () => missingOrganization),
          (before) =>
            Effect.gen(function* () {
              if (before.is_default) return yield* new Invalid({ message: "The default organization cannot be deleted." })
              const left = remains(yield* changes.contents(before.id))
              if (left !== undefined) return yield* left
              const now = yield* Timestamp.now
              yield* claims.unmap({ kind: "organization", organization_id: nil }, before.id, now)
              yield* changes.delete(before.id, now)
              return { value: undefined, before }
            })
        )
      )
    })
  }
})

/** How organizations come to be, change and go. */
export class OrganizationChanges extends Context.Tag("@atelier/core/OrganizationChanges")<
  OrganizationChanges,
  OrganizationChangesService
>() {
  static readonly layer = standingOn(service(OrganizationChanges, make), Organizations.layer)
}
