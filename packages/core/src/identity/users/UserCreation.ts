import { Context, Effect, Either, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { roleChangeRefusal } from "../../access/roles/Assignment.js"
import { siteRole } from "../../access/roles/Roles.js"
import { impliedSiteRole } from "../../access/roles/SiteRoles.js"
import * as Audit from "../../audit/Audit.js"
import { userAudit } from "./UserAudit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { requireFeature } from "../../deployment/licenses/Entitlements.js"
import { OrganizationRepository } from "../../organizations/OrganizationRepository.js"
import { OrganizationChangeRepository } from "../../organizations/OrganizationChangeRepository.js"
import { requireAdmission } from "../../organizations/MemberRoles.js"
import { missingOrganization } from "../../organizations/Organization.js"
import { Organizations } from "../../organizations/Organizations.js"
import { RightsRepository } from "../../organizations/RightsRepository.js"
import { withCurrentRights } from "../../organizations/CurrentRights.js"
import { Conflict, Forbidden, Invalid, refuseViolations, type Validation, validationsOf, type NotFound } from "../../platform/Errors.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { nil, type Uuid } from "../../platform/texts/Uuid.js"
import { GitSshKeyPairs } from "../secrets/GitSshKeyPairs.js"
import { type LoginProvider, LoginProviders, providerOf } from "../logins/LoginProvider.js"
import { violation } from "../passwords/Password.js"
import { PasswordHasher } from "../passwords/PasswordHasher.js"
import { AccountNotifications } from "./AccountNotifications.js"
import { type LoginType, profileViolations, newUser, type User, type UserStatus, type UserWithOrganizations } from "./User.js"
import { UserRepository } from "./UserRepository.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Auditing } from "../../audit/Audit.js"

/** The user to create. Texts that are absent on the wire are empty here. */
export interface NewUser extends Pick<User, "email" | "username" | "name"> {
  readonly password: Redacted.Redacted<string>
  /** Absent or empty: `password`, or for a service account `none`. */
  readonly login_type?: LoginType | undefined
  /** Absent: `dormant`. */
  readonly user_status?: UserStatus | undefined
  readonly service_account: boolean
  /** At least one; the nil UUID is the default organization. */
  readonly organization_ids: ReadonlyArray<Uuid>
  /** The field of clients from before users could be in several organizations; counts as one more. */
  readonly organization_id?: Uuid | undefined
  /** Names of site roles. */
  readonly roles: ReadonlyArray<string>
}

/** Every rule of its fields that a request breaks. */
const violationsOf = (request: NewUser): ReadonlyArray<Validation> => {
  const unknown = request.roles.find((name) => siteRole(name) === undefined)
  return [
    ...profileViolations(request).filter(({ field }) => !(field === "email" && request.service_account && request.email === "")),
    ...(unknown === undefined
      ? []
      : [{ field: "roles", detail: `${JSON.stringify(unknown.slice(0, 64))} is not a role of the whole deployment` }])
  ]
}

/** How the user will log in. Only service accounts have no way to log in. */
const loginTypeOf = (
  { email, login_type = "", password, service_account }: NewUser,
  providers: ReadonlyArray<LoginProvider>
): Either.Either<LoginType, Invalid> => {
  const hasPassword = Redacted.value(password) !== ""
  if (service_account) {
    const violations = {
      login_type: login_type === "" || login_type === "none" ? undefined : "must be none for a service account",
      password: hasPassword ? "must not be given for a service account" : undefined,
      email: email === "" ? undefined : "must not be given for a service account"
    }
    const validations = validationsOf(violations)
    return validations.length === 0 ? Either.right("none") : Either.left(new Invalid({ message: "Validation failed.", validations }))
  }
  switch (login_type) {
    case "":
    case "password":
      return Either.right("password")
    case "github":
    case "oidc":
      if (login_type === "oidc" && providerOf(providers, "oidc") === undefined) {
        return Either.left(Invalid.field("login_type", "must not be oidc where no OpenID Connect provider is configured"))
      }
      return hasPassword ? Either.left(Invalid.field("password", "must not be given with another login type")) : Either.right(login_type)
    case "none":
      return Either.left(Invalid.field("login_type", "must not be none, except for a service account"))
    case "token":
      return Either.left(Invalid.field("login_type", "must be password, github or oidc"))
  }
}

const taken = new Conflict({ message: "The username or e-mail address is taken." })

/** The methods of {@link UserCreation}. */
export interface UserCreationService {
  /**
   * Creates a user as a member of organizations. An actor without the permission learns nothing about existing users. Fails with
   * `Invalid`, with `Conflict` for a taken name or address, with `NotFound` for an organization that the actor cannot read, and with
   * `Forbidden` if the actor, the deployment or its license does not allow it. identity.md §8.2.
   */
  readonly create: (
    request: NewUser
  ) => Effect.Effect<UserWithOrganizations, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const organizations = yield* Organizations
  const memberships = yield* OrganizationRepository
  const { lock } = yield* OrganizationChangeRepository
  const rights = yield* RightsRepository
  const hasher = yield* PasswordHasher
  const sshKeys = yield* GitSshKeyPairs
  const providers = yield* LoginProviders
  const notifications = yield* AccountNotifications
  const ids = yield* Ids
  const options = yield* DeploymentOptions

  const requireFree = Effect.fn(function* ({ email, username }: Pick<User, "email" | "username">) {
    if (Option.isSome(yield* users.byUsername(username))) return yield* taken
    if (email !== "" && Option.isSome(yield* users.byEmail(email))) return yield* taken
  })

  /** Fails unless the actor may give the user these roles, and the implied one. */
  const requireAssignable = Effect.fn(function* (roles: ReadonlyArray<string>) {
    const { subject } = yield* CurrentActor
    const refusal = roleChangeRefusal(subject, { before: [], after: [impliedSiteRole, ...roles] })
    if (refusal === null) return
    if (refusal._tag === "NotPermitted") return yield* new Forbidden()
    const detail = `You may not give ${refusal.roles.join(", ")}.`
    return yield* new Forbidden({ message: "You may not give these roles.", detail, validations: [{ field: "roles", detail }] })
  })

  const joinable = Effect.fn(function* (references: ReadonlyArray<Uuid>, userId: Uuid) {
    const found = yield* Effect.forEach(new Set(references), (reference) => organizations.get(reference))
    const wanted = Array.from(new Set(found.map(({ id }) => id)))
    yield* Effect.forEach(wanted, (organization_id) =>
      Access.authorize("create", AccessObjects.organizationMember({ user_id: userId, organization_id }))
    )
    return wanted
  })

  return {
    create: Traced.fn("UserCreation.create")(function* (request: NewUser) {
      yield* refuseViolations(violationsOf(request))
      const login_type = yield* loginTypeOf(request, providers)
      if (request.service_account) yield* requireFeature("service_accounts")
      if (login_type === "password" && options.disablePasswordAuth) {
        return yield* new Forbidden({ message: "Password authentication is disabled." })
      }
      const { organization_id = nil } = request
      const references = organization_id === nil ? request.organization_ids : [...request.organization_ids, organization_id]
      if (references.length === 0) return yield* Invalid.field("organization_ids", "is required")

      const { email, name, password, username } = request
      const id = yield* ids.next
      const subject = { action: "create", resource: userAudit, id, target: username } as const
      const prepared = yield* Effect.gen(function* () {
        yield* Access.authorize("create", AccessObjects.user({ id }))
        yield* requireFree(request)
        const organization_ids = yield* joinable(references, id)
        const weakness = login_type === "password" ? violation(Redacted.value(password)) : undefined
        if (weakness !== undefined) return yield* Invalid.field("password", weakness, "The password is not strong enough.")
        yield* requireAssignable(request.roles)
        return {
          organization_ids,
          hashedPassword: login_type === "password" ? yield* hasher.hash(password) : null,
          storeSshKey: yield* sshKeys.prepare
        }
      })

      const { hashedPassword, organization_ids, storeSshKey } = prepared
      const now = yield* Timestamp.now
      const user = newUser(
        {
          id,
          email,
          username,
          name,
          status: request.user_status ?? "dormant",
          login_type,
          rbac_roles: Array.from(new Set(request.roles)),
          is_service_account: request.service_account
        },
        now
      )
      const created: UserWithOrganizations = { ...user, organization_ids }
      return yield* Audit.audited(
        subject,
        Effect.gen(function* () {
          yield* withCurrentRights(rights)(requireAssignable(request.roles))
          yield* users.insert(user, hashedPassword)
          yield* Effect.forEach(organization_ids.toSorted(), (organization_id) =>
            Effect.gen(function* () {
              const organization = yield* Effect.mapError(Effect.flatten(lock(organization_id)), () => missingOrganization)
              yield* withCurrentRights(rights)(requireAdmission(organization))
              yield* memberships.addMember({ organization_id, user_id: id, roles: [], created_at: now })
            })
          )
          yield* storeSshKey(id, now)
          yield* notifications.created(user)
          return { value: created, after: { ...user, hashed_password: hashedPassword } }
        }).pipe(Effect.catchTag("Duplicate", () => taken))
      )
    })
  }
})

/** New accounts of people and services. */
export class UserCreation extends Context.Tag("@atelier/core/UserCreation")<UserCreation, UserCreationService>() {
  static readonly layer = standingOn(service(UserCreation, make), Organizations.layer, GitSshKeyPairs.layer, AccountNotifications.layer)
}
