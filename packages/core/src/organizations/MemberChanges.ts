import { Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { isBuiltIn, organizationRole } from "../access/roles/Roles.js"
import * as Audit from "../audit/Audit.js"
import type { AuditAction } from "../audit/AuditEntry.js"
import { memberAudit } from "./MemberAudit.js"
import type { IdpSyncInForce } from "../identity/sync/IdpSyncInForce.js"
import type { Users } from "../identity/users/Users.js"
import { Forbidden, Invalid, NotFound } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { CustomRoleRepository } from "./CustomRoleRepository.js"
import type { Member, OrganizationMember } from "./Member.js"
import type { MemberRepository } from "./MemberRepository.js"
import { memberRolesRefusal, noMember, requireAdmission, requireRelease } from "./MemberRoles.js"
import { missingOrganization, type Organization, type OrganizationId } from "./Organization.js"
import type { OrganizationChangeRepository } from "./OrganizationChangeRepository.js"
import type { Organizations } from "./Organizations.js"
import type { RightsRepository } from "./RightsRepository.js"
import { permitted } from "./CurrentRights.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { MemberViews } from "./MemberViews.js"

/** The most roles that a member is given. */
const maximumRoles = 100

const unknownRole = (name: string): Invalid =>
  Invalid.field("roles", `${JSON.stringify(name.slice(0, 64))} is not a role of members of the organization`)

const subjectOf = (action: AuditAction, member: Pick<Member, "organization_id" | "user_id" | "username">) => ({
  action,
  resource: memberAudit,
  id: member.user_id,
  target: member.username,
  organization_id: member.organization_id
})

/** Fails with `Invalid` where the member is the actor itself. */
const refuseSelf = (member: Pick<Member, "user_id">, message: string) =>
  Effect.flatMap(CurrentActor, ({ userId }) => (member.user_id === userId ? new Invalid({ message }) : Effect.void))

interface Needs extends Pick<MemberViews, "namedOne" | "find"> {
  readonly rights: RightsRepository["Type"]
  readonly changes: OrganizationChangeRepository["Type"]
  readonly users: Users["Type"]
  readonly organizations: Organizations["Type"]
  readonly sync: IdpSyncInForce["Type"]
  readonly repository: MemberRepository["Type"]
  readonly customRoles: CustomRoleRepository["Type"]
}

/** Changes of an organization's members and of their roles. */
export const memberChanges = ({ rights, changes, users, organizations, sync, repository, namedOne, find, customRoles }: Needs) => {
  /** Runs a change of the organization's members or their roles, locked against concurrent ones. */
  const changing = <A, E1, E2, R1, R2>(
    id: OrganizationId,
    permit: Effect.Effect<void, E1, R1>,
    change: (organization: Organization) => Effect.Effect<A, E2, R2>
  ) =>
    permitted(rights)(
      permit,
      Effect.mapError(Effect.flatten(changes.lock(id)), () => missingOrganization),
      change
    )

  return {
    add: Traced.fn("Members.add")(function* (reference: string, userReference: string) {
      const user = yield* users.get(userReference)
      if (user.deleted || user.is_system) return yield* new NotFound({ resource: "user" })
      const { id: organization_id } = yield* organizations.get(reference)
      const now = yield* Timestamp.now
      const membership: OrganizationMember = { organization_id, user_id: user.id, created_at: now, updated_at: now, roles: [] }
      return yield* Audit.audited(
        subjectOf("create", { organization_id, user_id: user.id, username: user.username }),
        changing(
          organization_id,
          Access.authorizeOrHide("create", AccessObjects.organizationMember(membership), noMember),
          (organization) =>
            Effect.gen(function* () {
              yield* requireAdmission(organization)
              if (user.login_type === "oidc" && sync.isOn("organization", yield* sync.organizations)) {
                return yield* new Invalid({ message: "The memberships of this user follow from the claims of its identity provider." })
              }
              if (!(yield* repository.insert(membership))) {
                const isMember = Option.isSome(yield* repository.byId(organization_id, user.id))
                return yield* isMember
                  ? new Invalid({ message: "The user is a member of the organization already." })
                  : new NotFound({ resource: "user" })
              }
              return { value: yield* namedOne(membership), after: { ...membership, username: user.username } }
            })
        )
      )
    }),

    remove: Traced.fn("Members.remove")(function* (reference: string, user: string) {
      const { id } = yield* organizations.get(reference)
      const found = yield* find(id, user)
      yield* Audit.audited(
        subjectOf("delete", found),
        changing(
          id,
          Effect.zipRight(
            refuseSelf(found, "You cannot remove yourself."),
            Access.authorizeOrHide("delete", AccessObjects.organizationMember(found), noMember)
          ),
          () =>
            Effect.gen(function* () {
              const before = yield* Effect.mapError(Effect.flatten(repository.byId(id, found.user_id)), () => noMember)
              yield* requireRelease(id, before.roles)
              if (!(yield* repository.delete(id, found.user_id))) return yield* noMember
              return { value: undefined, before }
            })
        )
      )
    }),

    replaceRoles: Traced.fn("Members.replaceRoles")(function* (reference: string, user: string, names: ReadonlyArray<string>) {
      const { id } = yield* organizations.get(reference)
      const found = yield* find(id, user)
      return yield* Audit.audited(
        subjectOf("write", found),
        changing(
          id,
          Effect.zipRight(
            refuseSelf(found, "You cannot change your own roles."),
            Access.authorize("assign", AccessObjects.inOrganization("assign_org_role", id))
          ),
          (organization) =>
            Effect.gen(function* () {
              const { subject } = yield* CurrentActor
              if (found.login_type === "oidc" && sync.isOn("role", yield* sync.settingsOf(sync.definitions.role, organization))) {
                return yield* new Invalid({ message: "The roles of this member follow from the claims of its identity provider." })
              }
              const before = yield* Effect.mapError(Effect.flatten(repository.byId(id, found.user_id)), () => noMember)
              const roles = Array.from(new Set(names))
              if (roles.length > maximumRoles) return yield* Invalid.field("roles", `must be at most ${maximumRoles}`)
              const custom = yield* customRoles.named(
                id,
                roles.filter((name) => !isBuiltIn(name))
              )
              const unknown = roles.find((name) => organizationRole(name) === undefined && !custom.some((role) => role.name === name))
              if (unknown !== undefined) return yield* unknownRole(unknown)
              const refusal = memberRolesRefusal(subject, organization, { before: before.roles, after: roles, custom })
              if (refusal?._tag === "NotPermitted") return yield* new Forbidden()
              if (refusal !== null) return yield* Invalid.field("roles", `you may not give or take ${refusal.roles.join(", ")}`)
              const after: Member = { ...before, roles, updated_at: yield* Timestamp.now }
              if (!(yield* repository.updateRoles(after))) return yield* noMember
              // The entry tells of the roles alone
              return { value: yield* namedOne(after), before, after: { ...before, roles } }
            })
        )
      )
    })
  }
}
