/** With whom templates and workspaces are shared. authorization.md §12.1, §12.2. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import { Uuid } from "@atelier/core/platform"
import { TemplateRole } from "@atelier/core/templates"
import { WorkspaceRole } from "@atelier/core/workspaces"
import { Schema } from "effect"
import { listOfOne } from "../../wire/dialect.js"
import { refusals, Response } from "../../wire/errors.js"
import { Body, map, page, Path, Query, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { Group, ReducedUser } from "../groups/groups.js"
import { GroupsLicensed } from "../licenses.js"
import { User } from "../identity/users.js"

const AclAvailable = Schema.Struct({ users: Schema.Array(ReducedUser), groups: Schema.Array(Group) }).annotations({
  identifier: "ACLAvailable"
})

/** A group that a template is shared with. */
export const TemplateGroup = Schema.Struct({ ...Group.fields, role: TemplateRole }).annotations({ identifier: "TemplateGroup" })

/** With whom a template is shared. */
export const TemplateAcl = Schema.Struct({
  users: Schema.Array(Schema.Struct({ ...User.fields, role: TemplateRole }).annotations({ identifier: "TemplateUser" })),
  group: Schema.Array(TemplateGroup)
}).annotations({ identifier: "TemplateACL" })

const WorkspaceAcl = Schema.Struct({
  users: Schema.Array(
    Schema.Struct({ ...User.pick("id", "username", "name", "avatar_url").fields, role: WorkspaceRole }).annotations({
      identifier: "WorkspaceUser"
    })
  ),
  group: Schema.Array(Schema.Struct({ ...Group.fields, role: WorkspaceRole }).annotations({ identifier: "WorkspaceGroup" }))
}).annotations({ identifier: "WorkspaceACL" })

/** Roles by id; an empty one takes what was given. */
const roles = map(Schema.String)

const template = Path({ template: Uuid.Uuid })
const workspace = Path({ workspace: Uuid.Uuid })

export const templateSharing = HttpApiGroup.make("templateSharing")
  .annotate(OpenApi.Description, "Access lists of templates.")
  .add(
    HttpApiEndpoint.get("listAvailableForTemplate", "/api/v2/templates/:template/acl/available")
      .annotateContext(
        operation("List candidates for sharing a template", "Returns users and groups that a template can be shared with, filtered by `q`.")
      )
      .setPath(template)
      .setUrlParams(Query({ q: text, ...page }))
      .addSuccess(listOfOne(AclAvailable))
      .addError(refusals("NotFound", "Forbidden"))
  )
  .add(
    HttpApiEndpoint.get("getTemplateAcl", "/api/v2/templates/:template/acl")
      .annotateContext(
        operation("Get a template's access list", "Returns the users and groups that a template is shared with, and their roles.")
      )
      .setPath(template)
      .addSuccess(TemplateAcl)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateTemplateAcl", "/api/v2/templates/:template/acl")
      .annotateContext(
        operation("Update a template's access list", "Sets roles of users and groups in a template; an empty role ends the share.")
      )
      .setPath(template)
      .setPayload(Body({ user_perms: roles, group_perms: roles }))
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden"))
      .annotate(TrailingSlash, true)
  )
  // Judged in this order
  .middlewareEndpoints(GroupsLicensed)
  .middlewareEndpoints(Authenticated)

export const workspaceSharing = HttpApiGroup.make("workspaceSharing")
  .annotate(OpenApi.Description, "Access lists of workspaces.")
  .add(
    HttpApiEndpoint.get("getWorkspaceAcl", "/api/v2/workspaces/:workspace/acl")
      .annotateContext(
        operation("Get a workspace's access list", "Returns the users and groups that a workspace is shared with, and their roles.")
      )
      .setPath(workspace)
      .addSuccess(WorkspaceAcl)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.patch("updateWorkspaceAcl", "/api/v2/workspaces/:workspace/acl")
      .annotateContext(
        operation("Update a workspace's access list", "Sets roles of users and groups in a workspace; an empty role ends the share.")
      )
      .setPath(workspace)
      .setPayload(Body({ user_roles: roles, group_roles: roles }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.del("clearWorkspaceAcl", "/api/v2/workspaces/:workspace/acl")
      .annotateContext(operation("Clear a workspace's access list", "Ends all shares of a workspace."))
      .setPath(workspace)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
  )
  .middlewareEndpoints(Authenticated)
