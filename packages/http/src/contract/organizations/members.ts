/** Members of organizations, and their roles there. authorization.md §7. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { LoginType, UserStatus } from "@atelier/core/identity"
import { Numbers, Timestamp, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, flag, list, needed, page, Path, Query, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { AssignableRole, SlimRole } from "../identity/users.js"
import { CustomRolesLicensed } from "../licenses.js"

const membership = {
  user_id: Uuid.Uuid,
  organization_id: Uuid.Uuid,
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp,
  /** Those that were given to the user here. */
  roles: Schema.Array(SlimRole)
}

const OrganizationMember = Schema.Struct(membership).annotations({ identifier: "OrganizationMember" })

/** Empty texts are left out, and `is_service_account` where it is false. */
export const MemberWithUserData = Schema.Struct({
  ...membership,
  username: Schema.String,
  avatar_url: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String),
  email: Schema.String,
  /** Those of the deployment. */
  global_roles: Schema.Array(SlimRole),
  has_ai_seat: Schema.Boolean,
  is_service_account: Schema.optional(Schema.Boolean),
  last_seen_at: Timestamp.Timestamp,
  login_type: LoginType,
  status: UserStatus,
  user_created_at: Timestamp.Timestamp,
  user_updated_at: Timestamp.Timestamp
}).annotations({ identifier: "OrganizationMemberWithUserData" })
export interface MemberWithUserData extends Schema.Schema.Type<typeof MemberWithUserData> {}

const { assignable: _, built_in: __, ...roleFields } = AssignableRole.fields

/** A role and what it allows. */
const Role = Schema.Struct(roleFields).annotations({ identifier: "Role" })
export interface Role extends Schema.Schema.Type<typeof Role> {}

/** Of any type and action: what they can be is a rule of the role. */
const requested = list(Body({ negate: flag, resource_type: text, action: text }).annotations({ identifier: "RequestedPermission" }))

const RequestedRole = Body({
  name: needed(text),
  display_name: text,
  site_permissions: requested,
  user_permissions: requested,
  organization_permissions: requested,
  organization_member_permissions: requested
}).annotations({ identifier: "CustomRoleRequest" })

const organization = { organization: Schema.String }
const member = { ...organization, user: Schema.String }
const collection = "/api/v2/organizations/:organization/members"

export const members = HttpApiGroup.make("members")
  .annotate(OpenApi.Description, "Members of organizations and their roles.")
  .add(
    HttpApiEndpoint.get("listMembers", collection)
      .annotateContext(operation("List members", "Returns the members of an organization with their users, filtered by `q`."))
      .setPath(Path(organization))
      .setUrlParams(Query({ q: text }))
      .addSuccess(Schema.Array(MemberWithUserData))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("pageMembers", "/api/v2/organizations/:organization/paginated-members")
      .annotateContext(
        operation(
          "List members in pages",
          "Returns the members of an organization with their users, filtered by `q`, in pages. `count` is the number of all matches."
        )
      )
      .setPath(Path(organization))
      .setUrlParams(Query({ q: text, ...page }))
      .addSuccess(
        Schema.Struct({ members: Schema.Array(MemberWithUserData), count: Numbers.Count }).annotations({
          identifier: "PaginatedMembersResponse"
        })
      )
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.get("listOrganizationRoles", `${collection}/roles`)
      .annotateContext(
        operation(
          "List an organization's roles",
          "Returns the built-in and custom roles of an organization, and whether the caller may assign each."
        )
      )
      .setPath(Path(organization))
      .addSuccess(Schema.Array(AssignableRole))
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createCustomRole", `${collection}/roles`)
      .annotateContext(operation("Create a custom role", "Creates a role of an organization from a name and permissions."))
      .setPath(Path(organization))
      .setPayload(RequestedRole)
      .addSuccess(Role)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
      .middleware(Authenticated)
      .middleware(CustomRolesLicensed)
  )
  .add(
    HttpApiEndpoint.put("updateCustomRole", `${collection}/roles`)
      .annotateContext(operation("Update a custom role", "Replaces the display name and permissions of a custom role."))
      .setPath(Path(organization))
      .setPayload(RequestedRole)
      .addSuccess(Role)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
      .middleware(Authenticated)
      .middleware(CustomRolesLicensed)
  )
  .add(
    HttpApiEndpoint.del("deleteCustomRole", `${collection}/roles/:roleName`)
      .annotateContext(operation("Delete a custom role", "Deletes a custom role, which its holders lose."))
      .setPath(Path({ ...organization, roleName: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .middleware(Authenticated)
      .middleware(CustomRolesLicensed)
  )
  .add(
    HttpApiEndpoint.get("getMember", `${collection}/:user`)
      .annotateContext(operation("Get a member", "Returns a member of an organization with its user."))
      .setPath(Path(member))
      .addSuccess(MemberWithUserData)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("addMember", `${collection}/:user`)
      .annotateContext(operation("Add a member", "Makes a user a member of an organization."))
      .setPath(Path(member))
      .addSuccess(OrganizationMember)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("removeMember", `${collection}/:user`)
      .annotateContext(operation("Remove a member", "Ends a user's membership of an organization, with its roles and groups there."))
      .setPath(Path(member))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.put("updateMemberRoles", `${collection}/:user/roles`)
      .annotateContext(operation("Set a member's roles", "Replaces the roles that a member has in an organization."))
      .setPath(Path(member))
      .setPayload(Body({ roles: list(Schema.String) }))
      .addSuccess(OrganizationMember)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
