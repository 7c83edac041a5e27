import { permissionsOf, siteRole } from "@atelier/core/access"
import {
  Accounts,
  type AssignableRole as StoredRole,
  UserCreation,
  UserOrganizations,
  UserRoles,
  Users,
  type UserWithOrganizations
} from "@atelier/core/identity"
import { Forbidden, Remembered } from "@atelier/core/platform"
import { Effect } from "effect"
import * as contract from "../../contract/identity/users.js"
import type { AssignableRole, User } from "../../contract/identity/users.js"
import { isCrossOrigin } from "../../server/credentials/Csrf.js"
import { CurrentRequest } from "../../server/request/CurrentRequest.js"
import { Settings } from "../../server/request/Settings.js"
import { setupCaller } from "../../server/request/setupCaller.js"
import * as Handlers from "../Handlers.js"

/** No session and no token protects a deployment on the loopback address, which pages of any site can send requests to. */
const ofAnotherSite = new Forbidden({ message: "A page of another site cannot create the first user." })

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
  ...(user.is_service_account ? { is_service_account: true } : {})
})

/** Bytes of views of single users that are kept: most requests for one are the user's own, and the user is mostly as before. */
const keptViews = 2 ** 20

const views = Remembered.make<User>(keptViews)

const singleView = (user: UserWithOrganizations): User => views.get(user.id, [user], () => userView(user))

const roleView = ({ assignable, role }: StoredRole): AssignableRole => ({
  name: role.name,
  display_name: role.display_name,
  ...permissionsOf(role),
  built_in: true,
  assignable
})

export const users = Handlers.group(contract.users, (handlers) =>
  Effect.gen(function* () {
    const users = yield* Users
    const creation = yield* UserCreation
    const organizations = yield* UserOrganizations
    const accounts = yield* Accounts
    const roles = yield* UserRoles
    const settings = yield* Settings
    return handlers
      .handle("hasFirstUser", () => Effect.as(users.requireFirst(), { message: "The first user has been created." }))
      .handle("createFirstUser", ({ payload, request }) =>
        isCrossOrigin(request, settings)
          ? ofAnotherSite
          : Effect.flatMap(CurrentRequest, (info) => users.createFirst(payload, setupCaller(settings, request, info)))
      )
      .handle("listUsers", ({ urlParams: { q, ...page } }) =>
        Effect.map(users.list(q, page), (page) => ({ count: page.count, users: page.users.map(userView) }))
      )
      .handle("createUser", ({ payload }) => Effect.map(creation.create(payload), userView))
      .handle(
        "getUser",
        Handlers.atOnce(
          ({ path }, actor) => {
            const user = actor === undefined ? undefined : users.getNow(path.user, actor)
            return user === undefined ? undefined : singleView(user)
          },
          ({ path }) => Effect.map(users.get(path.user), singleView)
        )
      )
      .handle("updateProfile", ({ path, payload }) => Effect.map(accounts.updateProfile(path.user, payload), userView))
      .handle("suspendUser", ({ path }) => Effect.map(accounts.suspend(path.user), userView))
      .handle("activateUser", ({ path }) => Effect.map(accounts.activate(path.user), userView))
      .handle("listSiteRoles", () => Effect.map(roles.all(), (all) => all.map(roleView)))
      .handle("getUserRoles", ({ path }) =>
        Effect.map(roles.of(path.user), ({ organizations, roles }) => ({
          roles,
          organization_roles: Object.fromEntries(organizations.map(({ organization_id, roles }) => [organization_id, roles]))
        }))
      )
      .handle("updateUserRoles", ({ path, payload }) => Effect.map(roles.replace(path.user, payload.roles), userView))
      .handle("deleteUser", ({ path }) => accounts.delete(path.user))
      .handle("listUserOrganizations", ({ path }) => organizations.list(path.user))
      .handle("getUserOrganization", ({ path }) => organizations.byName(path.user, path.organizationname))
  })
)
