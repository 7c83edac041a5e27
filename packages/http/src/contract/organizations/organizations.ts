/** Organizations. authorization.md §6. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { Organization as StoredOrganization, ShareMode } from "@atelier/core/organizations"
import { Schema } from "effect"
import { refusals, Response } from "../../wire/errors.js"
import { Body, boundedList, orEmpty, Path, required, text } from "../../wire/input.js"
import { operation, TrailingSlash } from "../annotations.js"
import { Authenticated } from "../authentication.js"
import { OrganizationsLicensed } from "../licenses.js"

export const Organization = StoredOrganization.omit("deleted", "shareable_workspace_owners").annotations({ identifier: "Organization" })

const WorkspaceSharingSettings = Schema.Struct({
  sharing_globally_disabled: Schema.Boolean,
  sharing_disabled: Schema.Boolean,
  shareable_workspace_owners: ShareMode
}).annotations({ identifier: "WorkspaceSharingSettings" })

const optionalText = Schema.optional(Schema.String)
const organization = { organization: Schema.String }

export const organizations = HttpApiGroup.make("organizations")
  .annotate(OpenApi.Description, "Organizations and their settings.")
  .add(
    HttpApiEndpoint.get("listOrganizations", "/api/v2/organizations")
      .annotateContext(operation("List organizations", "Returns the organizations that the caller may see."))
      .addSuccess(Schema.Array(Organization))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.get("getOrganization", "/api/v2/organizations/:organization")
      .annotateContext(operation("Get an organization", "Returns an organization by id or name."))
      .setPath(Path(organization))
      .addSuccess(Organization)
      .addError(refusals("NotFound"))
      .annotate(TrailingSlash, true)
  )
  .add(
    HttpApiEndpoint.post("createOrganization", "/api/v2/organizations")
      .annotateContext(operation("Create an organization", "Creates an organization, whose first member and administrator is the caller."))
      .setPayload(Body({ name: required(Schema.String), display_name: text, description: text, icon: text }))
      .addSuccess(Organization, { status: 201 })
      .addError(refusals("Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
      .middleware(Authenticated)
      .middleware(OrganizationsLicensed)
  )
  .add(
    HttpApiEndpoint.patch("updateOrganization", "/api/v2/organizations/:organization")
      .annotateContext(operation("Update an organization", "Changes the given fields of an organization and keeps the others."))
      .setPath(Path(organization))
      .setPayload(
        Body({
          name: optionalText,
          display_name: optionalText,
          description: optionalText,
          icon: optionalText,
          default_org_member_roles: Schema.optional(boundedList(Schema.String))
        })
      )
      .addSuccess(Organization)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
      .middleware(Authenticated)
      .middleware(OrganizationsLicensed)
  )
  .add(
    HttpApiEndpoint.del("deleteOrganization", "/api/v2/organizations/:organization")
      .annotateContext(
        operation("Delete an organization", "Deletes an organization without workspaces. The default organization cannot be deleted.")
      )
      .setPath(Path(organization))
      .addSuccess(Response)
      .addError(refusals("NotFound", "Forbidden", "Conflict"))
      .annotate(TrailingSlash, true)
      .middleware(Authenticated)
      .middleware(OrganizationsLicensed)
  )
  .add(
    HttpApiEndpoint.get("getWorkspaceSharing", "/api/v2/organizations/:organization/settings/workspace-sharing")
      .annotateContext(operation("Get sharing settings", "Returns the owners whose workspaces can be shared within an organization."))
      .setPath(Path(organization))
      .addSuccess(WorkspaceSharingSettings)
      .addError(refusals("NotFound"))
  )
  .add(
    HttpApiEndpoint.patch("updateWorkspaceSharing", "/api/v2/organizations/:organization/settings/workspace-sharing")
      .annotateContext(
        operation(
          "Update sharing settings",
          "Sets the owners whose workspaces can be shared within an organization. Existing shares that are no longer allowed end."
        )
      )
      .setPath(Path(organization))
      .setPayload(
        Body({ sharing_disabled: Schema.optional(Schema.Boolean), shareable_workspace_owners: Schema.optional(orEmpty(ShareMode)) })
      )
      .addSuccess(WorkspaceSharingSettings)
      .addError(refusals("NotFound", "Forbidden"))
  )
  .middlewareEndpoints(Authenticated)
