/** Groups of organizations. authorization.md §8. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Group as StoredGroup } from "@atelier/core/groups"
import { Numbers, Uuid } from "@atelier/core/platform"
import { Schema } from "effect"
import { refusals } from "../../wire/errors.js"
import { Body, integer, lenientFlag, list, listOf, needed, page, Path, Query, StrictQuery, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { User } from "../identity/users.js"
import { GroupsLicensed } from "../licenses.js"

/** A user without roles and memberships. */
export const ReducedUser = User.omit("organization_ids", "roles", "has_ai_seat").annotations({ identifier: "ReducedUser" })
export interface ReducedUser extends Schema.Schema.Type<typeof ReducedUser> {}

/** A group without its members. */
export const PaginatedGroup = Schema.Struct({
  ...StoredGroup.fields,
  organization_name: Schema.String,
  organization_display_name: Schema.String,
  total_member_count: Numbers.Count
}).annotations({ identifier: "PaginatedGroup" })

/** A group with the members that the caller may read. */
export const Group = Schema.Struct({ ...PaginatedGroup.fields, members: Schema.Array(ReducedUser) }).annotations({ identifier: "Group" })
export interface Group extends Schema.Schema.Type<typeof Group> {}

const GroupMembers = Schema.Struct({ users: Schema.Array(ReducedUser), count: Numbers.Count }).annotations({
  identifier: "GroupMembersResponse"
})
const GroupsPage = Schema.Struct({ groups: Schema.Array(PaginatedGroup), count: Numbers.Count }).annotations({
  identifier: "PaginatedGroupsResponse"
})

const changed = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(Schema.NullOr(schema), { default: () => null })

const byId = Path({ group: Uuid.Uuid })
/** Also a name that denotes one group. */
const byReference = Path({ group: Schema.String })
const inOrganization = { organization: Schema.String }
const byName = Path({ ...inOrganization, groupName: Schema.String })
const shown = Query({ exclude_members: lenientFlag })
const ofMembers = { has_member: text, group_ids: listOf(Uuid.Uuid) }
const search = Query({ q: text, ...page })

/** Without a license these endpoints refuse every request, before authentication. */
export const groups = HttpApiGroup.make("groups")
  .annotate(OpenApi.Description, "Groups, in all organizations.")
  .add(
    HttpApiEndpoint.get("listGroups", "/api/v2/groups")
      .annotateContext(
        operation("List groups", "Returns the groups that the caller may see, of one organization, with one member or by id.")
      )
      .setUrlParams(StrictQuery({ organization: text, ...ofMembers }))
      .addSuccess(Schema.Array(Group))
      .addError(refusals("Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getGroup", "/api/v2/groups/:group")
      .annotateContext(operation("Get a group", "Returns a group and those of its members that the caller may see."))
      .setPath(byId)
      .setUrlParams(shown)
      .addSuccess(Group)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listGroupMembers", "/api/v2/groups/:group/members")
      .annotateContext(
        operation(
          "List a group's members",
          "Returns the members of a group, filtered by `q`, in pages. `count` is the number of all matches."
        )
      )
      .setPath(byId)
      .setUrlParams(search)
      .addSuccess(GroupMembers)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateGroup", "/api/v2/groups/:group")
      .annotateContext(operation("Update a group", "Changes the given fields of a group, and adds and removes members."))
      .setPath(byReference)
      .setPayload(
        Body({
          name: text,
          display_name: changed(Schema.String),
          avatar_url: changed(Schema.String),
          quota_allowance: changed(Schema.Int),
          add_users: list(Schema.String),
          remove_users: list(Schema.String)
        })
      )
      .addSuccess(Group)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("deleteGroup", "/api/v2/groups/:group")
      .annotateContext(operation("Delete a group", "Deletes a group and its shares. Returns the group as it was."))
      .setPath(byReference)
      .addSuccess(Group)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(GroupsLicensed)
  .middlewareEndpoints(Authenticated)

export const organizationGroups = HttpApiGroup.make("organizationGroups")
  .annotate(OpenApi.Description, "Groups of one organization.")
  .add(
    HttpApiEndpoint.get("listOrganizationGroups", "/api/v2/organizations/:organization/groups")
      .annotateContext(operation("List an organization's groups", "Returns the groups of an organization with their members."))
      .setPath(Path(inOrganization))
      .setUrlParams(Query(ofMembers))
      .addSuccess(Schema.Array(Group))
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listGroupsInPages", "/api/v2/organizations/:organization/paginated-groups")
      .annotateContext(
        operation(
          "List an organization's groups in pages",
          "Returns the groups of an organization without their members, filtered by `q`, in pages."
        )
      )
      .setPath(Path(inOrganization))
      .setUrlParams(search)
      .addSuccess(GroupsPage)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.post("createGroup", "/api/v2/organizations/:organization/groups")
      .annotateContext(operation("Create a group", "Creates a group of an organization."))
      .setPath(Path(inOrganization))
      .setPayload(Body({ name: needed(text), display_name: text, avatar_url: text, quota_allowance: integer }))
      .addSuccess(Group, { status: 201 })
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getGroupByName", "/api/v2/organizations/:organization/groups/:groupName")
      .annotateContext(operation("Get a group by name", "Returns a group of an organization by its name."))
      .setPath(byName)
      .setUrlParams(shown)
      .addSuccess(Group)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("listGroupMembersByName", "/api/v2/organizations/:organization/groups/:groupName/members")
      .annotateContext(
        operation(
          "List the members of a named group",
          "Returns the members of a group that is found by its name, filtered by `q`, in pages."
        )
      )
      .setPath(byName)
      .setUrlParams(search)
      .addSuccess(GroupMembers)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
  .middlewareEndpoints(GroupsLicensed)
