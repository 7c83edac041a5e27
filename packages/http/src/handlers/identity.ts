import { externalScopes, legacyScope, permissionsOf, siteRole } from "@atelier/core/access"
import {
  type ApiKey as StoredKey,
  ApiKeys,
  type AssignableRole as StoredRole,
  LoginMethods,
  type OfferedLogins,
  Sessions,
  UserCreation,
  UserDeletion,
  UserDirectory,
  UserOrganizations,
  UserPasswords,
  UserProfiles,
  UserRoles,
  Users,
  UserStatuses,
  type UserWithOrganizations
} from "@atelier/core/identity"
import { Duration, Effect, Redacted } from "effect"
import { Contract } from "../contract/Contract.js"
import type { ApiKey, AssignableRole, User } from "../contract/identity.js"
import { callInfo } from "../server/CurrentRequest.js"
import { json } from "../server/respond.js"
import { sessionCookie } from "../server/SessionCookie.js"
import { Settings } from "../server/Settings.js"
import * as Handlers from "./Handlers.js"

/** A user as its readers see it. */
export const userView = (user: UserWithOrganizations): User => ({
  id: user.id,
  username: user.username,
  ...(user.avatar_url === "" ? {} : { avatar_url: user.avatar_url }),
  ...(user.name === "" ? {} : { name: user.name }),
  email: user.email,
  created_at: user.created_at,
  updated_at: user.updated_at,
  last_seen_at: user.last_seen_at,
  status: user.status,
  login_type: user.login_type,
  ...(user.theme_preference === "" ? {} : { theme_preference: user.theme_preference }),
  organization_ids: user.organization_ids,
  roles: user.rbac_roles.map((name) => ({ name, display_name: siteRole(name)?.display_name ?? "" })),
  has_ai_seat: false,
  is_service_account: user.is_service_account
})

const keyView = (key: StoredKey): ApiKey => ({ ...key, scope: legacyScope(key.scopes) })

const roleView = ({ assignable, role }: StoredRole): AssignableRole => ({
  name: role.name,
  display_name: role.display_name,
  ...permissionsOf(role),
  built_in: true,
  assignable
})

/** There is no vendor whose GitHub client could be the default one. */
const loginMethodsView = ({ github, oidc, password, terms_of_service_url }: OfferedLogins) => ({
  ...(terms_of_service_url === "" ? {} : { terms_of_service_url }),
  password: { enabled: password },
  github: { enabled: github !== undefined, default_provider_configured: false },
  oidc: { enabled: oidc !== undefined, signInText: oidc?.sign_in_text ?? "", iconUrl: oidc?.icon_url ?? "" }
})

export const identity = Handlers.group(Contract, "identity", (handlers) =>
  Effect.gen(function* () {
    const users = yield* Users
    const directory = yield* UserDirectory
    const creation = yield* UserCreation
    const deletion = yield* UserDeletion
    const organizations = yield* UserOrganizations
    const sessions = yield* Sessions
    const keys = yield* ApiKeys
    const profiles = yield* UserProfiles
    const passwords = yield* UserPasswords
    const statuses = yield* UserStatuses
    const roles = yield* UserRoles
    const logins = yield* LoginMethods
    const cookie = sessionCookie(yield* Settings)
    return handlers
      .handle("hasFirstUser", () => Effect.as(users.requireFirst(), { message: "The first user has been created." }))
      .handle("createFirstUser", ({ payload }) => users.createFirst(payload))
      .handle("logIn", ({ payload }) =>
        Effect.gen(function* () {
          const token = Redacted.value(yield* sessions.logIn(payload, yield* callInfo))
          return cookie.set(json(201, { session_token: token }), token)
        })
      )
      .handle("logOut", () => Effect.as(sessions.logOut(), cookie.clear(json(200, { message: "Logged out." }))))
      .handle("listScopes", () => Effect.succeed({ external: externalScopes }))
      .handle("listUsers", ({ urlParams: { q, ...page } }) =>
        Effect.map(directory.list(q, page), ({ count, users }) => ({ count, users: users.map(userView) }))
      )
      .handle("createUser", ({ payload }) => Effect.map(creation.create(payload), userView))
      .handle("getUser", ({ path }) => Effect.map(users.get(path.user), userView))
      .handle("updateProfile", ({ path, payload }) => Effect.map(profiles.update(path.user, payload), userView))
      .handle("updatePassword", ({ path, payload }) => passwords.change(path.user, payload))
      .handle("getLoginType", ({ path }) => Effect.map(logins.ofUser(path.user), (login_type) => ({ login_type })))
      .handle("listLoginMethods", () => Effect.map(logins.offered, loginMethodsView))
      .handle("validatePassword", ({ payload }) => passwords.validate(payload.password))
      .handle("suspendUser", ({ path }) => Effect.map(statuses.suspend(path.user), userView))
      .handle("activateUser", ({ path }) => Effect.map(statuses.activate(path.user), userView))
      .handle("listSiteRoles", () => Effect.map(roles.all(), (all) => all.map(roleView)))
      .handle("getUserRoles", ({ path }) =>
        Effect.map(roles.of(path.user), ({ organizations, roles }) => ({
          roles,
          organization_roles: Object.fromEntries(organizations.map(({ organization_id, roles }) => [organization_id, roles]))
        }))
      )
      .handle("updateUserRoles", ({ path, payload }) => Effect.map(roles.replace(path.user, payload.roles), userView))
      .handle("deleteUser", ({ path }) => deletion.delete(path.user))
      .handle("listUserOrganizations", ({ path }) => organizations.list(path.user))
      .handle("getUserOrganization", ({ path }) => organizations.byName(path.user, path.organizationname))
      .handle("createKey", ({ path }) => Effect.map(keys.create(path.user), (key) => ({ key })))
      .handle("createToken", ({ path, payload }) => Effect.map(keys.createToken(path.user, payload), (key) => ({ key })))
      .handle("listTokens", ({ path, urlParams }) =>
        Effect.map(keys.tokens(path.user, urlParams), (tokens) => tokens.map(({ token, username }) => ({ ...keyView(token), username })))
      )
      .handle("getTokenConfig", ({ path }) =>
        Effect.map(keys.maximumLifetime(path.user), (lifetime) => ({ max_token_lifetime: Number(Duration.unsafeToNanos(lifetime)) }))
      )
      .handle("getToken", ({ path }) => Effect.map(keys.byName(path.user, path.keyname), keyView))
      .handle("getKey", ({ path }) => Effect.map(keys.get(path.user, path.keyid), keyView))
      .handle("deleteKey", ({ path }) => keys.delete(path.user, path.keyid))
      .handle("expireKey", ({ path }) => keys.expire(path.user, path.keyid))
  })
)
