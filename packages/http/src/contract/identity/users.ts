/** Users, from the first one, with their roles and their state. identity.md §4, §8. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Permission } from "@atelier/core/access"
import { LoginType, UserStatus } from "@atelier/core/identity"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { dialectal } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { keptText } from "../../wire/keptText.js"
import { Body, flag, list, needed, page, Path, Query, secret, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { Organization } from "../organizations/organizations.js"

/** A role as lists of it show it; one of an organization also names that. */
export const SlimRole = Schema.Struct({
  name: Schema.String,
  display_name: Schema.String,
  organization_id: Schema.optional(Schema.String)
}).annotations({ identifier: "SlimRole" })

/** Empty texts are left out, and `is_service_account` where it is false. identity.md §8.1. */
export const User = Schema.Struct({
  id: Uuid.Uuid,
  username: Schema.String,
  avatar_url: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String),
  email: Schema.String,
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  last_seen_at: Timestamp.Timestamp,
  status: UserStatus,
  login_type: LoginType,
  theme_preference: Schema.optional(Schema.String),
  organization_ids: Schema.Array(Uuid.Uuid),
  roles: Schema.Array(SlimRole),
  has_ai_seat: Schema.Boolean,
  is_service_account: Schema.optional(Schema.Boolean)
}).annotations({ identifier: "User" })
export interface User extends Schema.Schema.Type<typeof User> {}

const Permissions = Schema.Array(Permission)

/** The reference does not know one kind of resource. */
const KnownPermissions = dialectal({
  standard: Permissions,
  reference: Schema.transform(Permissions, Schema.typeSchema(Permissions), {
    strict: true,
    decode: (permissions) => permissions,
    encode: (permissions) => permissions.filter(({ resource_type }) => resource_type !== "mcp_server_config")
  })
})

/** A role, its permissions, and whether the caller may give it. */
export const AssignableRole = Schema.Struct({
  ...SlimRole.fields,
  site_permissions: KnownPermissions,
  user_permissions: KnownPermissions,
  organization_permissions: KnownPermissions,
  organization_member_permissions: KnownPermissions,
  built_in: Schema.Boolean,
  assignable: Schema.Boolean
}).annotations({ identifier: "AssignableRoles" })
export interface AssignableRole extends Schema.Schema.Type<typeof AssignableRole> {}

/** The roles that a user was given, in the deployment and by organization. identity.md §8.6. */
const UserRoles = Schema.Struct({
  roles: Schema.Array(Schema.String),
  organization_roles: Schema.Record({ key: Schema.String, value: Schema.Array(Schema.String) })
}).annotations({ identifier: "UserRoles" })

const UsersPage = Schema.Struct({ users: Schema.Array(User), count: Numbers.Count }).annotations({ identifier: "GetUsersResponse" })

const user = { user: Schema.String }

export const users = HttpApiGroup.make("users")
  .annotate(OpenApi.Description, "Users, their roles and their state.")
  .add(
    HttpApiEndpoint.get("listUsers", "/api/v2/users")
      .annotateContext(
        operation(
          "List users",
          "Returns the users that the caller may see, filtered by `q`, in pages. `count` is the number of all matches."
        )
      )
      .setUrlParams(Query({ q: text, ...page }))
      .addSuccess(UsersPage)
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createUser", "/api/v2/users")
      .annotateContext(
        operation("Create a user", "Creates a user with a way to log in, optionally as a member of organizations and with roles.")
      )
      .setPayload(
        Body({
          email: needed(text),
          username: needed(text),
          name: text,
          password: secret,
          login_type: Schema.optional(LoginType),
          user_status: Schema.optional(UserStatus),
          service_account: flag,
          organization_ids: list(Uuid.Uuid),
          organization_id: Schema.optional(Uuid.Uuid),
          roles: list(Schema.String)
        })
      )
      .addSuccess(User, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getUser", "/api/v2/users/:user")
      .annotateContext(operation("Get a user", "Returns a user by id or name; `me` is the caller."))
      .setPath(Path(user))
      .addSuccess(keptText(User))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("updateProfile", "/api/v2/users/:user/profile")
      .annotateContext(operation("Update a profile", "Changes a user's name, display name and avatar."))
      .setPath(Path(user))
      .setPayload(Body({ username: needed(text), name: text, avatar_url: text }))
      .addSuccess(User)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
  )
  .add(
    HttpApiEndpoint.put("suspendUser", "/api/v2/users/:user/status/suspend")
      .annotateContext(
        operation("Suspend a user", "Suspends a user, who can no longer log in. The user's sessions and tokens stop working.")
      )
      .setPath(Path(user))
      .addSuccess(User)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
  )
  .add(
    HttpApiEndpoint.put("activateUser", "/api/v2/users/:user/status/activate")
      .annotateContext(operation("Activate a user", "Activates a suspended or dormant user."))
      .setPath(Path(user))
      .addSuccess(User)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("listSiteRoles", "/api/v2/users/roles")
      .annotateContext(
        operation(
          "List roles of the deployment",
          "Returns the roles that users can have in the whole deployment, and whether the caller may assign each."
        )
      )
      .addSuccess(Schema.Array(AssignableRole))
      .addError(refusals("Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getUserRoles", "/api/v2/users/:user/roles")
      .annotateContext(operation("Get a user's roles", "Returns the roles that a user has in the deployment and in each organization."))
      .setPath(Path(user))
      .addSuccess(UserRoles)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.put("updateUserRoles", "/api/v2/users/:user/roles")
      .annotateContext(operation("Set a user's roles", "Replaces the roles that a user has in the deployment."))
      .setPath(Path(user))
      .setPayload(Body({ roles: list(Schema.String) }))
      .addSuccess(User)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
  )
  .add(
    HttpApiEndpoint.del("deleteUser", "/api/v2/users/:user")
      .annotateContext(operation("Delete a user", "Deletes a user who has no workspaces. The name and email address become free."))
      .setPath(Path(user))
      .addSuccess(HttpApiSchema.Empty(200))
      .addError(refusals("NotFound", "Forbidden", "InUse", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listUserOrganizations", "/api/v2/users/:user/organizations")
      .annotateContext(operation("List a user's organizations", "Returns the organizations that a user is a member of."))
      .setPath(Path(user))
      .addSuccess(Schema.Array(Organization))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getUserOrganization", "/api/v2/users/:user/organizations/:organizationname")
      .annotateContext(operation("Get a user's organization", "Returns an organization by name if the user is a member of it."))
      .setPath(Path({ ...user, organizationname: Schema.String }))
      .addSuccess(Organization)
      .addError(refusals("NotFound"))
  )
  .middlewareEndpoints(Authenticated)
  .add(
    HttpApiEndpoint.get("hasFirstUser", "/api/v2/users/first")
      .annotateContext(
        operation(
          "Check for the first user",
          "Answers 200 if the deployment has a user, and 404 if it waits for the first one. Needs no credential."
        )
      )
      .addSuccess(Response)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.post("createFirstUser", "/api/v2/users/first")
      .annotateContext(
        operation(
          "Create the first user",
          "Creates the first user of a new deployment, who becomes its owner. Refused once a user exists. Callers of other machines may need the deployment's set-up token, in the header Service-Setup-Token."
        )
      )
      .setPayload(
        Body({
          email: needed(text),
          username: needed(text),
          name: text,
          password: needed(secret),
          trial: flag,
          trial_info: Schema.optional(
            Body({
              first_name: text,
              last_name: text,
              phone_number: text,
              job_title: text,
              company_name: text,
              country: text,
              developers: text
            })
          ),
          onboarding_info: Schema.optional(Body({ newsletter_marketing: flag, newsletter_releases: flag }))
        })
      )
      .addSuccess(
        Schema.Struct({ user_id: Uuid.Uuid, organization_id: Uuid.Uuid }).annotations({ identifier: "CreateFirstUserResponse" }),
        { status: 201 }
      )
      .addError(refusals("Conflict", "Forbidden"))
  )
